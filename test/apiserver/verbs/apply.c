#include "apiserver/verbs/apply.h"

#include "apiserver/kstatus.h"
#include "apiserver/server.h"
#include "apiserver/store/commit.h"
#include "apiserver/verbs/body.h"
#include "apiserver/verbs/create.h"
#include "apiserver/verbs/fieldset.h"
#include "apiserver/verbs/update.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "schema/causes.h"
#include "schema/schema.h"

static struct fieldset_type root_type(const struct call *c)
{
	return fieldset_type_root(c->res->is_custom, c->res->schema);
}

static bool is_entry(const struct call *c, const struct jdoc *e, const char *manager,
		     const char *operation)
{
	const char *sub = jdoc_str_or(jdoc_get(e, "subresource"), "");

	return jdoc_is_str(jdoc_get(e, "manager"), manager) &&
	       jdoc_is_str(jdoc_get(e, "operation"), operation) && str_eq_c(c->info.sub, sub);
}

/* Index of the entry in managed, -1: none. */
static long find_entry(const struct call *c, const struct jdoc *managed, const char *manager,
		       const char *operation)
{
	long i = 0;

	for (const struct jdoc *e = jdoc_first(managed); e != NULL; e = jdoc_next(e), i++) {
		if (is_entry(c, e, manager, operation)) {
			return i;
		}
	}
	return -1;
}

static struct jdoc *new_entry(const struct call *c, const char *manager, const char *operation,
			      struct jdoc *set_take)
{
	struct jdoc *e = jdoc_new_object();
	char at[CLOCK_RFC3339_MAX];

	clock_format_time(c->now, at);
	jdoc_set_str(e, "manager", manager);
	jdoc_set_str(e, "operation", operation);
	jdoc_set_str(e, "apiVersion", c->res->api_version);
	jdoc_set_str(e, "time", at);
	jdoc_set_str(e, "fieldsType", "FieldsV1");
	jdoc_set_take(e, "fieldsV1", set_take);
	if (c->info.sub.len > 0) {
		jdoc_set_take(e, "subresource", jdoc_new_str_n(c->info.sub));
	}
	return e;
}

/* Replaces an entry's set, keeping its time when nothing changed. An empty set drops it. */
static void put_entry(const struct call *c, struct jdoc *managed, const char *manager,
		      const char *operation, struct jdoc *set_take)
{
	long i = find_entry(c, managed, manager, operation);

	if (i >= 0 && jdoc_equal(jdoc_get(jdoc_at(managed, (size_t)i), "fieldsV1"), set_take)) {
		jdoc_destroy(set_take);
		return;
	}
	if (i >= 0) {
		jdoc_remove_at(managed, (size_t)i);
	}
	if (fieldset_is_empty(set_take)) {
		jdoc_destroy(set_take);
		return;
	}
	jdoc_append_take(managed, new_entry(c, manager, operation, set_take));
}

static void subtract_from_others(struct jdoc *managed, long self, const struct jdoc *set)
{
	for (size_t i = jdoc_count(managed); i-- > 0;) {
		struct jdoc *fields = jdoc_get_mut(jdoc_at_mut(managed, i), "fieldsV1");

		if ((long)i == self || fields == NULL) {
			continue;
		}
		fieldset_subtract(fields, set);
	}
}

static void drop_empty(struct jdoc *managed)
{
	for (size_t i = jdoc_count(managed); i-- > 0;) {
		if (fieldset_is_empty(jdoc_get(jdoc_at(managed, i), "fieldsV1"))) {
			jdoc_remove_at(managed, i);
		}
	}
}

/* "name", and for managers that do not apply also the version that they wrote in. */
static char *manager_text(const struct jdoc *entry)
{
	const char *manager = jdoc_str_or(jdoc_get(entry, "manager"), "");
	const char *sub = jdoc_str(jdoc_get(entry, "subresource"));
	bool applies = jdoc_is_str(jdoc_get(entry, "operation"), "Apply");

	return xmalloc_printf("\"%s\"%s%s%s%s%s", manager,
			      sub == NULL ? "" : " with subresource \"", sub == NULL ? "" : sub,
			      sub == NULL ? "" : "\"", applies ? "" : " using ",
			      applies ? "" : jdoc_str_or(jdoc_get(entry, "apiVersion"), ""));
}

/* In order of the paths. */
static void add_conflicts(const struct jdoc *entry, const struct jdoc *disputed,
			  struct jdoc *causes)
{
	CLEANUP(jdoc_destroyp) struct jdoc *paths = jdoc_new_array();
	CLEANUP(xmalloc_freep) char *manager = manager_text(entry);

	fieldset_paths(disputed, "", paths);
	while (jdoc_first(paths) != NULL) {
		size_t least = 0, i = 0;

		for (const struct jdoc *p = jdoc_first(paths); p != NULL; p = jdoc_next(p), i++) {
			if (strcmp(jdoc_str(p), jdoc_str(jdoc_at(paths, least))) < 0) {
				least = i;
			}
		}
		causes_add(causes, "FieldManagerConflict", jdoc_str(jdoc_at(paths, least)),
			   "conflict with %s", manager);
		jdoc_remove_at(paths, least);
	}
}

/* 409 naming every disputed field and its owner; with force the others lose them. */
static int settle(struct call *c, struct jdoc *managed, long self, const struct jdoc *set,
		  const struct jdoc *config, const struct jdoc *live)
{
	CLEANUP(jdoc_destroyp) struct jdoc *causes = jdoc_new_array();
	size_t i = 0;

	for (const struct jdoc *e = jdoc_first(managed); e != NULL; e = jdoc_next(e), i++) {
		CLEANUP(jdoc_destroyp) struct jdoc *disputed = NULL;

		if ((long)i == self) {
			continue;
		}
		disputed = fieldset_disputed(set, jdoc_get(e, "fieldsV1"), config, live);
		if (c->info.force) {
			fieldset_subtract(jdoc_get_mut(jdoc_at_mut(managed, i), "fieldsV1"),
					  disputed);
			continue;
		}
		add_conflicts(e, disputed, causes);
	}
	return jdoc_first(causes) == NULL ? 0 : kstatus_apply_conflict(c->resp, causes);
}

/* Removes the fields that this manager applied before, does not apply any more, and that no other
 * manager owns. */
static void remove_abandoned(struct jdoc *new, const struct jdoc *managed, long self,
			     const struct jdoc *set)
{
	CLEANUP(jdoc_destroyp) struct jdoc *gone = NULL;
	size_t i = 0;

	if (self < 0) {
		return;
	}
	gone = jdoc_copy(jdoc_get(jdoc_at(managed, (size_t)self), "fieldsV1"));
	fieldset_subtract(gone, set);
	for (const struct jdoc *e = jdoc_first(managed); e != NULL; e = jdoc_next(e), i++) {
		if ((long)i != self) {
			fieldset_subtract(gone, jdoc_get(e, "fieldsV1"));
		}
	}
	fieldset_remove(gone, new);
}

static int merge(struct call *c, const struct jdoc *live, const struct jdoc *config,
		 struct jdoc *new)
{
	const char *manager = c->info.field_manager.p;
	struct jdoc *meta = jdoc_ensure_object(new, "metadata");
	struct jdoc *managed = jdoc_ensure_array(meta, "managedFields");
	struct jdoc *set = fieldset_of(config, root_type(c));
	const char *rv = jdoc_path_str(config, "metadata.resourceVersion");
	const char *uid = jdoc_path_str(config, "metadata.uid");
	long self;
	int r;

	if (jdoc_first(managed) == NULL) {
		jdoc_append_take(managed, new_entry(c, "before-first-apply", "Update",
						    fieldset_of(live, root_type(c))));
	}
	self = find_entry(c, managed, manager, "Apply");
	r = settle(c, managed, self, set, config, live);
	if (r < 0) {
		jdoc_destroy(set);
		return r;
	}
	remove_abandoned(new, managed, self, set);
	fieldset_copy(set, config, new);
	put_entry(c, managed, manager, "Apply", set);
	drop_empty(managed);
	if (rv != NULL) {
		jdoc_set_str(meta, "resourceVersion", rv);
	}
	if (uid != NULL) {
		jdoc_set_str(meta, "uid", uid);
	}
	return 0;
}

static int check_declared(struct call *c, const struct jdoc *config)
{
	CLEANUP(jdoc_destroyp) struct jdoc *unknown = jdoc_new_array();
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	bool many;

	if (c->res->schema == NULL) {
		return 0;
	}
	schema_unknown(c->res->schema, config, unknown);
	many = jdoc_count(unknown) > 1;
	for (const struct jdoc *u = jdoc_first(unknown); u != NULL; u = jdoc_next(u)) {
		strbuf_printf(&text, "%s.%s: field not declared in schema", many ? "\n  " : "",
			      jdoc_str(u));
	}
	if (text.len == 0) {
		return 0;
	}
	return kstatus_fail(c->resp, 500, "",
			    "failed to create typed patch object (" STR_FMT "/" STR_FMT
			    "; %s, Kind=%s): %s%s",
			    STR_ARG(c->info.ns), STR_ARG(c->info.name), c->res->api_version,
			    c->res->kind, many ? "errors:" : "", text.p);
}

static int parse_config(struct call *c, struct jdoc **ret)
{
	CLEANUP(jdoc_destroyp) struct jdoc *config = NULL;
	int r = body_parse(c, &config);

	if (r == 0 && jdoc_get(config, "kind") == NULL) {
		return kstatus_bad_request(c->resp, "invalid object type: /, Kind=");
	}
	r = r < 0 ? r : body_check_object(c, config);
	r = r < 0 ? r : check_declared(c, config);
	if (r < 0) {
		return r;
	}
	if (jdoc_first(jdoc_path(config, "metadata.managedFields")) != NULL) {
		return kstatus_bad_request(c->resp, "metadata.managedFields must be nil");
	}
	jdoc_remove(jdoc_get_mut(config, "metadata"), "managedFields");
	*ret = take_ptr(&config);
	return 0;
}

static int make(struct call *c, const struct jdoc *old, struct jdoc **ret)
{
	CLEANUP(jdoc_destroyp) struct jdoc *config = NULL;
	CLEANUP(jdoc_destroyp) struct jdoc *new = jdoc_copy(old);
	int r = parse_config(c, &config);

	r = r < 0 ? r : merge(c, old, config, new);
	if (r < 0) {
		return r;
	}
	*ret = take_ptr(&new);
	return 0;
}

static int create(struct call *c)
{
	struct jdoc *config = NULL;
	struct jdoc *managed;
	const char *uid;
	int r = parse_config(c, &config);

	if (r < 0) {
		return r;
	}
	uid = jdoc_path_str(config, "metadata.uid");
	if (uid != NULL && uid[0] != '\0') {
		r = kstatus_conflict(c->resp, c->res, NULL, c->info.name,
				     "uid mismatch: the provided object specified uid %s, and no "
				     "existing object was found",
				     uid);
		jdoc_destroy(config);
		return r;
	}
	jdoc_remove(jdoc_get_mut(config, "metadata"), "resourceVersion");
	managed = jdoc_ensure_array(jdoc_get_mut(config, "metadata"), "managedFields");
	put_entry(c, managed, c->info.field_manager.p, "Apply", fieldset_of(config, root_type(c)));
	return create_object(c, config);
}

int apply_run(struct call *c)
{
	c->applying = true;
	if (commit_find(c->res, c->info.ns, c->info.name) == NULL && c->info.sub.len == 0) {
		return create(c);
	}
	return update_run(c, make, false);
}

/* fieldManager, or the first word of the user agent as Kubernetes does. */
static char *manager_of(const struct call *c)
{
	struct str agent = c->req->user_agent;

	if (c->info.field_manager.len > 0) {
		return xmalloc_dup(c->info.field_manager.p);
	}
	if (agent.len == 0) {
		return xmalloc_dup("unknown");
	}
	agent = str_next(&agent, '/');
	return xmalloc_dup_n(agent.p, agent.len);
}

/* A client resets ownership with a list of one empty entry. */
static bool is_cleared(const struct jdoc *managed)
{
	const struct jdoc *first = jdoc_first(managed);

	return first != NULL && jdoc_next(first) == NULL && jdoc_kind(first) == JDOC_OBJECT &&
	       jdoc_first(first) == NULL;
}

void apply_note_update(struct call *c, const struct jdoc *old, struct jdoc *new)
{
	const struct jdoc *before = jdoc_path(old, "metadata.managedFields");
	struct jdoc *meta = jdoc_get_mut(new, "metadata");
	CLEANUP(xmalloc_freep) char *manager = NULL;
	CLEANUP(jdoc_destroyp) struct jdoc *changed = NULL;
	CLEANUP(jdoc_destroyp) struct jdoc *gone = NULL;
	struct jdoc *managed, *set;
	bool cleared;
	long self;

	if (c->applying) {
		return;
	}
	cleared = is_cleared(jdoc_get(meta, "managedFields"));
	jdoc_remove(meta, "managedFields");
	if (cleared || jdoc_first(before) == NULL) {
		return;
	}
	managed = jdoc_set_take(meta, "managedFields", jdoc_copy(before));
	changed = fieldset_changed(old, new, root_type(c));
	gone = fieldset_of(old, root_type(c));
	set = fieldset_of(new, root_type(c));
	fieldset_subtract(gone, set);
	jdoc_destroy(set);
	manager = manager_of(c);
	self = find_entry(c, managed, manager, "Update");
	subtract_from_others(managed, self, changed);
	subtract_from_others(managed, -1, gone);
	set = self < 0 ? jdoc_new_object()
		       : jdoc_copy(jdoc_get(jdoc_at(managed, (size_t)self), "fieldsV1"));
	fieldset_add(set, changed);
	put_entry(c, managed, manager, "Update", set);
	drop_empty(managed);
}
