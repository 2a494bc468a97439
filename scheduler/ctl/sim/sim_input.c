#include "scheduler/ctl/sim/sim_input.h"

#include <stdlib.h>
#include <string.h>

#include "api/kinds.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "collections/vec.h"
#include "enc/json/cut.h"
#include "enc/json/jdoc.h"
#include "enc/json/scan.h"
#include "enc/yaml.h"

struct sim_input {
	struct strmap *objects; /* "Kind namespace/name" -> struct sim_object */
	struct strmap *warned;  /* kinds already warned about */
	struct VEC(struct sim_object *) sorted;
	sim_input_warn_fn warn;
	void *ctx;
	sim_input_check_fn check; /* NULL: objects are taken as they are */
	void *check_ctx;
	int64_t youngest;
};

/* The origin of an object. */
struct place {
	const char *file;
	size_t document; /* not from a file */
};

/* The kind that is simulated with that name, in that group (NULL: any). */
static bool find_kind(const char *kind, const struct str *group, enum sched_resource *ret)
{
	for (int r = 0; r < SCHED_RESOURCE_COUNT_; r++) {
		const struct kinds_row *k = sched_kinds_names((enum sched_resource)r);

		if (sched_kinds_get((enum sched_resource)r)->read_order > 0 &&
		    str_streq(k->kind, kind) && (group == NULL || str_eq_c(*group, k->group))) {
			*ret = (enum sched_resource)r;
			return true;
		}
	}
	return false;
}

bool sim_input_kind(const char *kind, enum sched_resource *ret)
{
	return find_kind(kind, NULL, ret);
}

const char *sim_input_kind_name(enum sched_resource kind)
{
	return sched_kinds_names(kind)->kind;
}

static void free_object(void *value)
{
	struct sim_object *o = value;

	free(o->key);
	free(o->where);
	jdoc_destroy(o->json);
	free(o);
}

struct sim_input *sim_input_create(sim_input_warn_fn warn, void *ctx)
{
	struct sim_input *in = xmalloc_zero(1, sizeof(*in));

	in->objects = strmap_create(free_object);
	in->warned = strmap_create(NULL);
	in->warn = warn;
	in->ctx = ctx;
	return in;
}

void sim_input_destroyp(struct sim_input **pi)
{
	struct sim_input *in = *pi;

	if (in != NULL) {
		strmap_destroy(in->objects);
		strmap_destroy(in->warned);
		vec_finish(&in->sorted);
		free(in);
	}
	*pi = NULL;
}

void sim_input_set_check(struct sim_input *in, sim_input_check_fn check, void *check_ctx,
			 sim_input_warn_fn warn, void *warn_ctx)
{
	in->check = check;
	in->check_ctx = check_ctx;
	in->warn = warn;
	in->ctx = warn_ctx;
}

/* The part of apiVersion before the slash; "" for the core group. */
static struct str group_of(const char *api_version)
{
	struct str rest = str_of(api_version), first = str_next(&rest, '/');

	return rest.p == NULL ? STR_LIT("") : first;
}

static const char *name_of(const struct jdoc *object)
{
	const char *name = jdoc_path_str(object, "metadata.name");

	return name == NULL ? "" : name;
}

static void warn_ignored(struct sim_input *in, const char *kind, const struct place *at)
{
	CLEANUP(xmalloc_freep) char *text = NULL;

	if (in->warn == NULL || strmap_has(in->warned, str_of(kind))) {
		return;
	}
	strmap_set(in->warned, str_of(kind), in);
	text = xmalloc_printf("%s: document %zu: objects of kind %s are ignored", at->file,
			      at->document, kind);
	in->warn(in->ctx, text);
}

static bool names_a_time(const char *key)
{
	return key != NULL &&
	       (str_has_suffix(str_of(key), "Time") || str_has_suffix(str_of(key), "Timestamp"));
}

/* The current time of a run, unless it is given: nothing in the manifests is later. Depth is
 * limited by the parser. */
static void find_youngest(const struct jdoc *d, int64_t *youngest)
{
	int64_t at;

	for (const struct jdoc *c = jdoc_first(d); c != NULL; c = jdoc_next(c)) {
		if (jdoc_str(c) == NULL) {
			find_youngest(c, youngest);
		} else if (names_a_time(jdoc_key(c)) &&
			   clock_parse_time(str_of(jdoc_str(c)), &at) == 0 && at > *youngest) {
			/* A mistyped year must not overflow what is computed from the current
			 * time. */
			*youngest = clock_earlier(at, CLOCK_LATEST_NOW);
		}
	}
}

/* Sets the defaults that the API server sets. An absent uid becomes "", which takes part in ties
 * like any other. */
static char *complete(struct jdoc *meta, bool namespaced)
{
	const char *name = jdoc_str(jdoc_get(meta, "name"));
	const char *space = jdoc_str(jdoc_get(meta, "namespace"));

	if (jdoc_kind(jdoc_get(meta, "uid")) == JDOC_NULL) {
		jdoc_set_str(meta, "uid", "");
	}
	if (!namespaced) {
		jdoc_remove(meta, "namespace");
		return xmalloc_dup(name);
	}
	if (space == NULL || space[0] == '\0') {
		space = jdoc_str(jdoc_set_str(meta, "namespace", "default"));
	}
	return xmalloc_printf("%s/%s", space, name);
}

static bool is_text_or_absent(const struct jdoc *d)
{
	return jdoc_kind(d) == JDOC_NULL || jdoc_kind(d) == JDOC_STRING;
}

static char *full_key(enum sched_resource kind, const char *key)
{
	return xmalloc_printf("%s %s", sim_input_kind_name(kind), key);
}

static char *describe(const struct place *at)
{
	return at->document == 0 ? xmalloc_dup(at->file)
				 : xmalloc_printf("%s: document %zu", at->file, at->document);
}

static void warn_twice(struct sim_input *in, const struct sim_object *o, const char *full)
{
	CLEANUP(xmalloc_freep) char *text = NULL;

	if (in->check != NULL && in->warn != NULL && strmap_has(in->objects, str_of(full))) {
		text = xmalloc_printf("%s: %s: given again: this one counts", o->where, full);
		in->warn(in->ctx, text);
	}
}

static int take_known(struct sim_input *in, enum sched_resource kind, struct jdoc *object,
		      const struct place *at, struct err *err)
{
	const struct kinds_row *names = sched_kinds_names(kind);
	CLEANUP(jdoc_destroyp) struct jdoc *own = object;
	CLEANUP(xmalloc_freep) char *full = NULL;
	struct jdoc *meta = jdoc_get_mut(own, "metadata");
	struct sim_object *o;

	if (!is_text_or_absent(jdoc_get(meta, "name"))) {
		return err_set(err, ERR_INVALID, "%s: metadata.name: not a string", names->kind);
	}
	if (name_of(own)[0] == '\0') {
		return err_set(err, ERR_INVALID, "%s: metadata.name: missing", names->kind);
	}
	if (!is_text_or_absent(jdoc_get(meta, "namespace"))) {
		return err_set(err, ERR_INVALID, "%s: metadata.namespace: not a string",
			       names->kind);
	}
	find_youngest(own, &in->youngest);
	o = xmalloc_zero(1, sizeof(*o));
	o->kind = kind;
	o->key = complete(meta, names->namespaced);
	o->where = describe(at);
	o->json = take_ptr(&own);
	full = full_key(o->kind, o->key);
	warn_twice(in, o, full);
	strmap_set(in->objects, str_of(full), o);
	return 0;
}

int sim_input_take(struct sim_input *in, enum sched_resource kind, struct jdoc *object,
		   const char *where, struct err *err)
{
	const struct place at = { where, 0 };

	return take_known(in, kind, object, &at, err);
}

void sim_input_add_copy(struct sim_input *in, const struct sim_object *o)
{
	CLEANUP(xmalloc_freep) char *full = full_key(o->kind, o->key);
	struct sim_object *copy = xmalloc_zero(1, sizeof(*copy));

	copy->kind = o->kind;
	copy->key = xmalloc_dup(o->key);
	copy->where = xmalloc_dup(o->where);
	copy->json = jdoc_copy(o->json);
	find_youngest(copy->json, &in->youngest);
	strmap_set(in->objects, str_of(full), copy);
}

/* An object of both is a change of the former one. One of the base alone is part of the cluster
 * that the changes meet: it is copied, since either input is freed by itself. */
void sim_input_set_base(struct sim_input *in, struct sim_input *base)
{
	size_t n;
	struct sim_object *const *objects = sim_input_objects(base, &n);

	for (size_t i = 0; i < n; i++) {
		CLEANUP(xmalloc_freep) char *full = full_key(objects[i]->kind, objects[i]->key);
		struct sim_object *o = strmap_get(in->objects, str_of(full));

		if (o != NULL) {
			o->old = objects[i]->json;
			continue;
		}
		sim_input_add_copy(in, objects[i]);
		o = strmap_get(in->objects, str_of(full));
		o->before = true;
	}
}

/* A copy: the check completes the object, which is a part of the tree of its document. */
static int add_checked(struct sim_input *in, const struct jdoc *object, const struct place *at,
		       struct err *err)
{
	CLEANUP(jdoc_destroyp) struct jdoc *copy = jdoc_copy(object);
	CLEANUP(xmalloc_freep) char *where = describe(at);
	enum sched_resource kind;

	if (in->check(in->check_ctx, copy, where, &kind) != 0) {
		return 0;
	}
	return take_known(in, kind, take_ptr(&copy), at, err);
}

static int add_object(struct sim_input *in, const struct jdoc *object, const struct place *at,
		      struct err *err)
{
	const char *kind = jdoc_str(jdoc_get(object, "kind"));
	const char *api_version = jdoc_str(jdoc_get(object, "apiVersion"));
	struct str group = group_of(api_version == NULL ? "" : api_version);
	enum sched_resource known;

	if (in->check != NULL) {
		return add_checked(in, object, at, err);
	}
	if (find_kind(kind, &group, &known)) {
		return take_known(in, known, jdoc_copy(object), at, err);
	}
	/* The first document of a scenario file is for tests only. */
	if (api_version != NULL || !str_streq(kind, "Scenario")) {
		warn_ignored(in, kind, at);
	}
	return 0;
}

static int add_document(struct sim_input *in, const struct jdoc *d, const struct place *at,
			struct err *err);

/* The API server omits the kind in the items of a PodList: it follows from the kind of the list. */
static int add_item(struct sim_input *in, const struct jdoc *list, const struct jdoc *item,
		    const struct place *at, struct err *err)
{
	const char *kind = jdoc_str(jdoc_get(list, "kind"));
	const char *api_version = jdoc_str(jdoc_get(list, "apiVersion"));
	CLEANUP(jdoc_destroyp) struct jdoc *whole = NULL;
	CLEANUP(xmalloc_freep) char *of_item = NULL;

	if (str_streq(kind, "List") || jdoc_kind(item) != JDOC_OBJECT ||
	    jdoc_kind(jdoc_get(item, "kind")) != JDOC_NULL) {
		return add_document(in, item, at, err);
	}
	of_item = xmalloc_dup(kind);
	of_item[strlen(kind) - strlen("List")] = '\0';
	whole = jdoc_copy(item);
	jdoc_set_str(whole, "kind", of_item);
	jdoc_set_str(whole, "apiVersion", api_version == NULL ? "" : api_version);
	return add_object(in, whole, at, err);
}

static int add_document(struct sim_input *in, const struct jdoc *d, const struct place *at,
			struct err *err)
{
	const char *kind = jdoc_str(jdoc_get(d, "kind"));
	const struct jdoc *items = jdoc_get(d, "items");
	int r = 0;

	if (jdoc_kind(d) == JDOC_NULL) {
		return 0;
	}
	if (jdoc_kind(jdoc_get(d, "kind")) != JDOC_NULL && kind == NULL) {
		return err_set(err, ERR_INVALID, "kind: not a string");
	}
	if (jdoc_kind(d) != JDOC_OBJECT || kind == NULL) {
		return err_set(err, ERR_INVALID, "not a Kubernetes object: it has no kind");
	}
	/* Clients write an empty list also as null. */
	if (!str_has_suffix(str_of(kind), "List") || items == NULL ||
	    (jdoc_kind(items) != JDOC_ARRAY && jdoc_kind(items) != JDOC_NULL)) {
		return add_object(in, d, at, err);
	}
	/* Items may be lists again. */
	for (const struct jdoc *i = jdoc_first(items); i != NULL && r == 0; i = jdoc_next(i)) {
		r = add_item(in, d, i, at, err);
	}
	return r;
}

/* Objects of JSON in a row, as jq prints them, are not YAML, but kubectl reads them. True: text
 * consists of such, which are added to documents. In any doubt the text is left to the YAML
 * parser, which names the place of a mistake. */
static bool read_json_objects(struct str text, struct jdoc *documents)
{
	const char *end = text.p + text.len, *p = text.len == 0 ? end : scan_blank(text.p, end);

	while (p < end && *p == '{') {
		struct scan_error e;
		const char *behind = scan_value(p, end, JDOC_MAX_DEPTH, &e);
		struct jdoc *one;

		if (behind == NULL ||
		    yaml_parse((struct str){ p, (size_t)(behind - p) }, &one, NULL) < 0) {
			return false;
		}
		jdoc_append_take(documents, one);
		p = scan_blank(behind, end);
	}
	return p == end;
}

static int parse(struct str text, struct jdoc **ret, struct err *err)
{
	CLEANUP(jdoc_destroyp) struct jdoc *objects = jdoc_new_array();

	if (text.len <= YAML_MAX_BYTES && read_json_objects(text, objects)) {
		*ret = take_ptr(&objects);
		return 0;
	}
	return yaml_parse_all(text, ret, err);
}

int sim_input_add(struct sim_input *in, const char *file, struct str text, struct err *err)
{
	CLEANUP(jdoc_destroyp) struct jdoc *documents = NULL;
	struct place at = { file, 0 };

	if (parse(text, &documents, err) < 0) {
		return err_wrap(err, "%s", file);
	}
	for (const struct jdoc *d = jdoc_first(documents); d != NULL; d = jdoc_next(d)) {
		at.document++;
		if (add_document(in, d, &at, err) < 0) {
			return err_wrap(err, "%s: document %zu", file, at.document);
		}
	}
	return 0;
}

static int add_items(struct sim_input *in, struct str items, struct place *at, struct err *err)
{
	struct cut c;
	struct str item;

	cut_init(&c, items);
	if (!cut_open(&c, '[')) {
		return err_set(err, ERR_INVALID, "items: not a list");
	}
	for (at->document = 1; cut_item(&c, &item); at->document++) {
		CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;

		if (jdoc_parse(item, &d, err) < 0 || add_document(in, d, at, err) < 0) {
			return err_wrap(err, "item %zu", at->document);
		}
	}
	return c.failed ? err_set(err, ERR_INVALID, "items: not JSON") : 0;
}

/* Item by item, without a tree of the whole: the dump of a large cluster may be a List of a
 * gigabyte. The kind may stand behind the items, so that it is checked at the end. */
int sim_input_add_list(struct sim_input *in, const char *file, struct str text, struct err *err)
{
	struct place at = { file, 0 };
	struct str key, value, kind = { NULL, 0 };
	struct cut c;
	int r = 0;

	cut_init(&c, text);
	(void)cut_open(&c, '{');
	while (r == 0 && cut_member(&c, &key, &value)) {
		if (str_eq_c(key, "kind")) {
			kind = cut_string(value);
		} else if (str_eq_c(key, "items")) {
			r = add_items(in, value, &at, err);
		}
	}
	if (r == 0 && (c.failed || !cut_at_end(&c) || !str_eq_c(kind, "List"))) {
		r = err_set(err, ERR_INVALID,
			    text.len > YAML_MAX_BYTES
				    ? "not a List in JSON; other input may have %u bytes"
				    : "not a List in JSON",
			    YAML_MAX_BYTES);
	}
	return r < 0 ? err_wrap(err, "%s", file) : 0;
}

static bool collect(struct str key UNUSED, void *value, void *ctx)
{
	struct sim_input *in = ctx;

	vec_push(&in->sorted, (struct sim_object *)value);
	return true;
}

/* A total order, so that decisions do not depend on the order of files, nor on that of a hash
 * table. */
static int by_kind_and_key(const void *a, const void *b)
{
	const struct sim_object *const *x = a, *const *y = b;

	return (*x)->kind != (*y)->kind ? sched_kinds_get((*x)->kind)->read_order -
						  sched_kinds_get((*y)->kind)->read_order
					: strcmp((*x)->key, (*y)->key);
}

struct sim_object *const *sim_input_objects(struct sim_input *in, size_t *ret_n)
{
	vec_clear(&in->sorted);
	/* Callers and qsort get a list that is not NULL. */
	vec_reserve(&in->sorted, 1);
	strmap_each(in->objects, collect, in);
	qsort(in->sorted.v, in->sorted.n, sizeof(in->sorted.v[0]), by_kind_and_key);
	*ret_n = in->sorted.n;
	return in->sorted.v;
}

const struct sim_object *sim_input_find(const struct sim_input *in, enum sched_resource kind,
					const char *key)
{
	CLEANUP(xmalloc_freep) char *full = full_key(kind, key);

	return strmap_get(in->objects, str_of(full));
}

bool sim_input_is_new(const struct sim_object *o)
{
	const char *uid = jdoc_path_str(o->json, "metadata.uid");
	const char *phase = jdoc_path_str(o->json, "status.phase");

	return !o->before && (uid == NULL || uid[0] == '\0') &&
	       (o->kind != SCHED_PODS || phase == NULL || str_streq(phase, "Pending"));
}

int64_t sim_input_youngest(const struct sim_input *in)
{
	return in->youngest;
}
