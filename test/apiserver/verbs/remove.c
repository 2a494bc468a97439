#include "apiserver/verbs/remove.h"

#include <stdlib.h>

#include "apiserver/kstatus.h"
#include "apiserver/kubectl/table.h"
#include "apiserver/options.h"
#include "apiserver/rules/admission.h"
#include "apiserver/server.h"
#include "apiserver/store/commit.h"
#include "apiserver/store/object.h"
#include "apiserver/store/selector.h"
#include "apiserver/verbs/body.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "collections/vec.h"
#include "enc/json/jdoc.h"

static int check_preconditions(struct call *c, const struct object *o, const struct jdoc *options)
{
	const char *uid = jdoc_path_str(options, "preconditions.uid");
	const char *rv = jdoc_path_str(options, "preconditions.resourceVersion");
	struct resource by_kind = *c->res; /* these messages say the kind */
	int64_t n;

	by_kind.plural = c->res->kind;
	if (uid != NULL && !str_eq_c(o->uid, uid)) {
		return kstatus_conflict(c->resp, &by_kind, NULL, o->name,
					"the UID in the precondition (%s) does not match the UID "
					"in record (" STR_FMT "). The object might have been "
					"deleted and then recreated",
					uid, STR_ARG(o->uid));
	}
	if (rv != NULL && (!str_to_i64(str_of(rv), &n) || n != o->rv)) {
		return kstatus_conflict(c->resp, &by_kind, NULL, o->name,
					"the ResourceVersion in the precondition (%s) does not "
					"match the ResourceVersion in record (%lld). The object "
					"might have been modified",
					rv, (long long)o->rv);
	}
	return 0;
}

/* Namespaces that the server itself lives in. */
static int check_protected(struct call *c, const struct object *o)
{
	static const char *const names[] = { "default", "kube-system", "kube-public" };

	if (c->res->is_custom || !str_streq(c->res->kind, "Namespace")) {
		return 0;
	}
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (str_eq_c(o->name, names[i])) {
			return kstatus_forbidden(c->resp, c->res, o->name,
						 "this namespace may not be deleted");
		}
	}
	return 0;
}

/* Seconds a pod may still run: only a bound, unfinished one has a kubelet to wait for. */
static int64_t pod_grace(const struct call *c, const struct jdoc *doc, const struct jdoc *options)
{
	const char *node = jdoc_path_str(doc, "spec.nodeName");
	const char *phase = jdoc_str_or(jdoc_path(doc, "status.phase"), "");
	int64_t grace;

	if ((c->res->flags & RESOURCE_POD) == 0 || node == NULL || node[0] == '\0' ||
	    str_streq(phase, "Succeeded") || str_streq(phase, "Failed")) {
		return 0;
	}
	grace = jdoc_int(jdoc_get(options, "gracePeriodSeconds"), -1);
	if (grace < 0) {
		grace = jdoc_int(jdoc_path(doc, "spec.terminationGracePeriodSeconds"), 30);
	}
	return grace < 0 ? 0 : grace;
}

/* Marks doc as terminating; false: it was, with the same or a shorter grace period. */
static bool mark(struct call *c, struct jdoc *doc, int64_t grace)
{
	struct jdoc *meta = jdoc_get_mut(doc, "metadata");
	const struct jdoc *old = jdoc_get(meta, "deletionGracePeriodSeconds");
	char at[CLOCK_RFC3339_MAX];
	int64_t wait = grace < 86400 * 365 ? grace : 86400 * 365;

	if (jdoc_get(meta, "deletionTimestamp") != NULL && jdoc_int(old, 0) <= grace) {
		return false;
	}
	clock_format_time(c->now + wait * CLOCK_NS_PER_S, at);
	jdoc_set_str(meta, "deletionTimestamp", at);
	jdoc_set_int(meta, "deletionGracePeriodSeconds", grace);
	if ((c->res->flags & RESOURCE_GENERATION) != 0) {
		jdoc_set_int(meta, "generation", jdoc_int(jdoc_get(meta, "generation"), 0) + 1);
	}
	return true;
}

static void answer_gone(struct call *c, struct object *o, struct jdoc *doc)
{
	if ((c->res->flags & RESOURCE_POD) != 0) {
		(void)mark(c, doc, 0);
		c->resp->status = 200;
		jdoc_format(doc, &c->resp->body);
		return;
	}
	kstatus_success(c->resp, 200, c->res, o->name, o->uid.p);
}

static int run(struct call *c, struct object *o, struct jdoc *doc, const struct jdoc *options)
{
	int64_t grace = pod_grace(c, doc, options);

	if (c->info.dry_run) {
		answer_gone(c, o, doc);
		return 0;
	}
	if (!o->has_finalizers && grace == 0) {
		commit_remove(c->s, c->res, o->key);
		answer_gone(c, o, doc);
		return 0;
	}
	if (mark(c, doc, grace)) {
		struct jdoc *copy = jdoc_copy(doc);

		o = commit_put(c->s, c->res, &copy, c->now);
		jdoc_destroy(copy);
	}
	c->resp->status = 200;
	table_format_one(c, o, &c->resp->body);
	return 0;
}

int remove_with_options(struct call *c, const struct jdoc *options)
{
	CLEANUP(object_unrefp)
	struct object *o = object_ref(commit_find(c->res, c->info.ns, c->info.name));
	CLEANUP(jdoc_destroyp) struct jdoc *doc = NULL;
	const struct jdoc *dry_run = jdoc_get(options, "dryRun");
	int r;

	if (o == NULL) {
		return kstatus_not_found(c->resp, c->res, c->info.name);
	}
	c->info.dry_run = c->info.dry_run || jdoc_first(dry_run) != NULL;
	r = options_check_delete(c, options);
	r = r < 0 ? r : check_protected(c, o);
	r = r < 0 ? r : check_preconditions(c, o, options);
	if (r < 0) {
		return r;
	}
	doc = object_parse(o);
	if (!c->trusted) {
		r = admission_mutate(c, ADMISSION_DELETE, doc, NULL);
		r = r < 0 ? r : admission_validate(c, ADMISSION_DELETE, doc, NULL);
	}
	if (r < 0) {
		return r;
	}
	if (commit_find(c->res, c->info.ns, c->info.name) != o) {
		return kstatus_conflict(c->resp, c->res, NULL, o->name,
					"the object has been modified during admission");
	}
	return run(c, o, doc, options);
}

int remove_one(struct call *c)
{
	CLEANUP(jdoc_destroyp) struct jdoc *options = NULL;
	int r = body_parse_options(c, &options);

	return r < 0 ? r : remove_with_options(c, options);
}

/* Deletes what matches now, one after the other; answers with the list of them. */
int remove_collection(struct call *c)
{
	CLEANUP(jdoc_destroyp) struct jdoc *options = NULL;
	CLEANUP(strbuf_finish) struct strbuf prefix = STRBUF_INIT;
	struct VEC(struct object *) found = VEC_INIT;
	struct selector *sel = NULL;
	struct err err = ERR_INIT;
	struct sorted_pos pos;
	struct object *o;
	struct str ns = c->info.ns;
	int r = body_parse_options(c, &options);

	if (r < 0) {
		return r;
	}
	if (selector_parse(strbuf_str(&c->info.label_selector), strbuf_str(&c->info.field_selector),
			   c->res, &sel, &err) < 0) {
		return kstatus_bad_request(c->resp, "%s", err.text);
	}
	if (ns.len > 0) {
		strbuf_printf(&prefix, STR_FMT "/", STR_ARG(ns));
	}
	pos = sorted_seek(&c->res->bucket.objects, strbuf_str(&prefix), false);
	while ((o = sorted_next(&c->res->bucket.objects, &pos)) != NULL &&
	       str_has_prefix(o->key, prefix.p)) {
		if (selector_matches(sel, o)) {
			vec_push(&found, object_ref(o));
		}
	}
	for (size_t i = 0; i < found.n; i++) {
		if (r == 0) {
			c->info.name = found.v[i]->name;
			c->info.ns = found.v[i]->ns;
			r = remove_with_options(c, options);
			r = r == -ERR_NOT_FOUND ? 0 : r;
		}
	}
	if (r == 0) {
		apiserver_response_reset(c->resp);
		c->resp->status = 200;
		table_format_list(c, found.v, found.n, &(struct table_list){ .rv = c->s->rv },
				  &c->resp->body);
	}
	for (size_t i = 0; i < found.n; i++) {
		object_unref(found.v[i]);
	}
	vec_finish(&found);
	selector_destroy(sel);
	return r;
}
