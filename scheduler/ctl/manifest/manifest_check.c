#include "scheduler/ctl/manifest/manifest_check.h"

#include <stdlib.h>
#include <string.h>

#include "api/kinds.h"
#include "base/attrs.h"
#include "base/nearest.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "collections/vec.h"
#include "enc/json/jdoc.h"
#include "enc/quantity.h"
#include "scheduler/ctl/manifest/core_values.h"
#include "scheduler/ctl/manifest/crd_schemas.h"
#include "scheduler/ctl/manifest/ignored_kinds.h"
#include "scheduler/ctl/manifest/unknown_fields.h"
#include "schema/meta_rules.h"
#include "schema/pod_amounts.h"
#include "schema/rules.h"
#include "schema/schema.h"

/* The label by which Kueue queues objects of many kinds. */
#define QUEUE_LABEL "kueue.x-k8s.io/queue-name"
/* The API server cuts generateName to this length, and appends 5 characters. */
#define GENERATE_NAME_MAX 58

struct left_out {
	char *kind; /* "Deployment (apps)" */
	char *where;
	size_t n, queued; /* queued: those with the label */
};

struct manifest_check {
	struct manifest_check_options opt;
	struct crd_schemas *schemas;
	struct strmap *patterns;
	struct VEC(struct left_out) left_out; /* in the order in which they appear */
	size_t problems, generated;           /* generated: names made from generateName */
};

/* The object that is looked at. */
struct subject {
	struct manifest_check *m;
	const char *where, *kind, *group;
	struct str version;
	const struct jdoc *object;
	bool in_cluster;
};

/* *ret_group is owned by the caller, and as long as the subject is used. */
static struct subject subject_of(struct manifest_check *m, const struct jdoc *object,
				 const char *where, char **ret_group)
{
	const char *uid = jdoc_path_str(object, "metadata.uid");
	struct str rest = str_of(jdoc_str_or(jdoc_get(object, "apiVersion"), ""));
	struct str first = str_next(&rest, '/');

	*ret_group = rest.p == NULL ? xmalloc_dup("") : xmalloc_dup_n(first.p, first.len);
	return (struct subject){
		.m = m,
		.where = where,
		.kind = jdoc_str_or(jdoc_get(object, "kind"), ""),
		.group = *ret_group,
		.version = rest.p == NULL ? first : rest,
		.object = object,
		.in_cluster = uid != NULL && uid[0] != '\0',
	};
}

struct manifest_check *manifest_check_create(const struct manifest_check_options *opt)
{
	struct manifest_check *m = xmalloc_zero(1, sizeof(*m));

	m->opt = *opt;
	m->schemas = crd_schemas_create();
	m->patterns = schema_patterns_create();
	return m;
}

void manifest_check_destroyp(struct manifest_check **pm)
{
	struct manifest_check *m = *pm;

	if (m == NULL) {
		return;
	}
	for (size_t i = 0; i < m->left_out.n; i++) {
		free(m->left_out.v[i].kind);
		free(m->left_out.v[i].where);
	}
	vec_finish(&m->left_out);
	crd_schemas_destroy(m->schemas);
	strmap_destroy(m->patterns);
	free(m);
	*pm = NULL;
}

/* --- reports -----------------------------------------------------------------------------------*/

void manifest_check_problem(struct manifest_check *m, const char *text)
{
	m->problems++;
	m->opt.problem(m->opt.ctx, text);
}

size_t manifest_check_problems(const struct manifest_check *m)
{
	return m->problems;
}

/* "f.yaml: document 2: Pod team/p: " */
static void add_head(const struct subject *s, struct strbuf *out)
{
	const char *name = jdoc_path_str(s->object, "metadata.name");
	const char *space = jdoc_path_str(s->object, "metadata.namespace");

	strbuf_printf(out, "%s: %s", s->where, s->kind);
	if (name != NULL) {
		strbuf_printf(out, " %s%s%s", space == NULL ? "" : space, space == NULL ? "" : "/",
			      name);
	}
	strbuf_add_c(out, ": ");
}

static void problem(const struct subject *s, const char *text)
{
	CLEANUP(strbuf_finish) struct strbuf line = STRBUF_INIT;

	add_head(s, &line);
	strbuf_add_c(&line, text);
	manifest_check_problem(s->m, line.p);
}

/* An API that is newer may know it. */
static void doubt(const struct subject *s, const char *text)
{
	CLEANUP(strbuf_finish) struct strbuf line = STRBUF_INIT;

	add_head(s, &line);
	strbuf_add_c(&line, text);
	if (s->in_cluster) {
		s->m->opt.warn(s->m->opt.ctx, line.p);
	} else {
		manifest_check_problem(s->m, line.p);
	}
}

static void on_unknown(void *ctx, const char *path, const char *near)
{
	const struct subject *s = ctx;
	CLEANUP(strbuf_finish) struct strbuf line = STRBUF_INIT;

	strbuf_printf(&line, "unknown field \"%s\"", path);
	if (near != NULL) {
		strbuf_printf(&line, " (did you mean %s?)", near);
	}
	doubt(s, line.p);
}

/* Removes the causes that fn accepts. */
static void drop_causes(struct jdoc *causes, bool (*fn)(const struct jdoc *cause))
{
	/* From the end, since a removal moves those behind it. */
	for (size_t i = jdoc_count(causes); i-- > 0;) {
		if (fn(jdoc_at(causes, i))) {
			(void)jdoc_remove_at(causes, i);
		}
	}
}

/* A status is not written with its object: in a manifest it says in which state the object is, and
 * may say only what matters. */
static bool is_absent_in_status(const struct jdoc *cause)
{
	return jdoc_is_str(jdoc_get(cause, "reason"), "FieldValueRequired") &&
	       str_has_prefix(str_of(jdoc_str_or(jdoc_get(cause, "field"), "")), "status.");
}

/* Pod templates of a Workload are not validated as pods are; amounts below zero are no quota. */
static bool is_about_pods(const struct jdoc *cause)
{
	return strstr(jdoc_str_or(jdoc_get(cause, "message"), ""), "greater than or equal to 0") ==
	       NULL;
}

/* prefix: of the fields; "" or "spec.template." */
static void report_causes(const struct subject *s, const char *prefix, const struct jdoc *causes,
			  void (*report)(const struct subject *s, const char *text))
{
	for (const struct jdoc *c = jdoc_first(causes); c != NULL; c = jdoc_next(c)) {
		CLEANUP(xmalloc_freep)
		char *text =
			xmalloc_printf("%s%s: %s", prefix, jdoc_str_or(jdoc_get(c, "field"), ""),
				       jdoc_str_or(jdoc_get(c, "message"), ""));

		report(s, text);
	}
}

/* --- kinds that play no part -------------------------------------------------------------------*/

static void leave_out(const struct subject *s)
{
	CLEANUP(xmalloc_freep)
	char *kind = s->group[0] == '\0' ? xmalloc_dup(s->kind)
					 : xmalloc_printf("%s (%s)", s->kind, s->group);
	const struct jdoc *labels = jdoc_path(s->object, "metadata.labels");
	struct left_out *found = NULL;

	for (size_t i = 0; i < s->m->left_out.n; i++) {
		if (str_streq(s->m->left_out.v[i].kind, kind)) {
			found = &s->m->left_out.v[i];
		}
	}
	if (found == NULL) {
		struct left_out new = { .kind = xmalloc_dup(kind), .where = xmalloc_dup(s->where) };

		vec_push(&s->m->left_out, new);
		found = &s->m->left_out.v[s->m->left_out.n - 1];
	}
	found->n++;
	/* In Kueue it would queue: the warning says that it does not here. */
	found->queued += jdoc_get(labels, QUEUE_LABEL) != NULL;
}

void manifest_check_leave_out(struct manifest_check *m, const struct jdoc *object,
			      const char *where)
{
	CLEANUP(xmalloc_freep) char *group = NULL;
	struct subject s = subject_of(m, object, where, &group);

	leave_out(&s);
}

void manifest_check_warn_ignored(struct manifest_check *m)
{
	for (size_t i = 0; i < m->left_out.n; i++) {
		const struct left_out *l = &m->left_out.v[i];
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

		strbuf_printf(&text, "%s: %s: %zu object%s of this kind %s no part in scheduling",
			      l->where, l->kind, l->n, l->n == 1 ? "" : "s",
			      l->n == 1 ? "plays" : "play");
		if (l->queued > 0) {
			strbuf_printf(&text,
				      "; %zu with the label " QUEUE_LABEL
				      ", which has an effect on Jobs and pods only",
				      l->queued);
		}
		strbuf_printf(&text, " (--ignore %.*s omits this warning)",
			      (int)strcspn(l->kind, " "), l->kind);
		m->opt.warn(m->opt.ctx, text.p);
	}
}

/* --- which kind --------------------------------------------------------------------------------*/

static bool is_simulated(enum sched_resource r)
{
	return sched_kinds_get(r)->read_order > 0 || r == SCHED_JOBS;
}

/* The kind with that name, in that group (NULL: any). */
static bool find_kind(const char *kind, const char *group, enum sched_resource *ret)
{
	for (int r = 0; r < SCHED_RESOURCE_COUNT_; r++) {
		const struct kinds_row *k = sched_kinds_names((enum sched_resource)r);

		if (is_simulated((enum sched_resource)r) && str_streq(k->kind, kind) &&
		    (group == NULL || str_streq(group, k->group))) {
			*ret = (enum sched_resource)r;
			return true;
		}
	}
	return false;
}

/* True: it has the version; the schema of a kind of ours in *ret. */
static bool check_version(const struct subject *s, enum sched_resource kind,
			  const struct jdoc **ret)
{
	const struct jdoc *crd = crd_schemas_find(s->m->schemas, s->group, s->kind);
	const struct kinds_row *names = sched_kinds_names(kind);
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	*ret = crd == NULL ? NULL : crd_schemas_version(crd, s->version);
	if (*ret != NULL || (crd == NULL && str_eq_c(s->version, names->version))) {
		return true;
	}
	strbuf_printf(&text, "apiVersion: unknown version %s%s" STR_FMT "; there is ", s->group,
		      s->group[0] == '\0' ? "" : "/", STR_ARG(s->version));
	if (crd == NULL) {
		strbuf_add_c(&text, names->version);
	} else {
		crd_schemas_versions(crd, &text);
	}
	problem(s, text.p);
	return false;
}

/* Known kinds with the name of one that is simulated: of Volcano, of Kubernetes (since 1.35) and of
 * the coscheduling plugin. Clusters may have both. */
static bool is_namesake(const struct subject *s)
{
	static const struct {
		const char *group, *kind;
	} rows[] = {
		{ "batch.volcano.sh", "Job" },
		{ "scheduling.k8s.io", "PodGroup" },
		{ "scheduling.k8s.io", "Workload" },
		{ "scheduling.x-k8s.io", "PodGroup" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (str_streq(s->group, rows[i].group) && str_streq(s->kind, rows[i].kind)) {
			return true;
		}
	}
	return false;
}

/* The simulated kind of the same group that was probably meant: at most a third of the letters
 * differ; NULL: none. */
static const char *kind_meant(const struct subject *s)
{
	size_t least = strlen(s->kind) / 3 + 1;
	const char *meant = NULL;

	for (int r = 0; r < SCHED_RESOURCE_COUNT_; r++) {
		const struct kinds_row *k = sched_kinds_names((enum sched_resource)r);
		size_t d = nearest_distance(str_of(s->kind), str_of(k->kind));

		if (is_simulated((enum sched_resource)r) && str_streq(s->group, k->group) &&
		    d < least) {
			least = d;
			meant = k->kind;
		}
	}
	return meant;
}

/* A kind with pods that may play a part. */
static bool is_controller(const struct subject *s)
{
	return s->m->opt.controller != NULL && !s->in_cluster && str_streq(s->group, "apps") &&
	       (str_streq(s->kind, "Deployment") || str_streq(s->kind, "ReplicaSet") ||
		str_streq(s->kind, "StatefulSet")) &&
	       !ignored_kinds_has(s->m->opt.ignored, s->kind, s->group);
}

/* A kind that is not simulated: 1, and a problem if its name is that of one that is. */
static int refuse_kind(const struct subject *s)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	const char *meant = kind_meant(s);
	char version[KINDS_API_VERSION_MAX];
	enum sched_resource known;

	/* First, so that --ignore also silences the problem below. */
	if (ignored_kinds_has(s->m->opt.ignored, s->kind, s->group)) {
		return 1;
	}
	if (meant != NULL) {
		strbuf_printf(&text,
			      "kind: not known; did you mean %s? (--ignore %s leaves this one out)",
			      meant, s->kind);
		problem(s, text.p);
		return 1;
	}
	if (!find_kind(s->kind, NULL, &known) || is_namesake(s)) {
		leave_out(s);
		return 1;
	}
	strbuf_printf(&text,
		      "apiVersion: group \"%s\" is another API; the %s that is scheduled is of %s "
		      "(--ignore %s leaves this one out)",
		      s->group, s->kind, kinds_api_version(sched_kinds_names(known), version),
		      s->kind);
	problem(s, text.p);
	return 1;
}

/* --- what the API checks -----------------------------------------------------------------------*/

/* Amounts may be written as numbers; the API stores text. */
static void amounts_to_text(struct jdoc *list)
{
	for (const struct jdoc *m = jdoc_first(list); m != NULL;) {
		const struct jdoc *next = jdoc_next(m);
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

		if (jdoc_kind(m) == JDOC_NUMBER) {
			jdoc_format(m, &text);
			jdoc_set_str(list, jdoc_key(m), text.p);
		}
		m = next;
	}
}

/* pod: with a spec. Values that are no amounts are found by the decoder, which names them. */
static void check_pod(const struct subject *s, const struct jdoc *pod, const char *prefix)
{
	static const char *const lists[] = { "containers", "initContainers" };
	CLEANUP(jdoc_destroyp) struct jdoc *causes = jdoc_new_array();
	CLEANUP(jdoc_destroyp) struct jdoc *copy = jdoc_new_object();
	struct jdoc *spec;

	if (jdoc_kind(jdoc_get(pod, "spec")) != JDOC_OBJECT) {
		return;
	}
	/* On a copy: amounts become text for the check, and the object stays as it was written. */
	spec = jdoc_set_take(copy, "spec", jdoc_copy(jdoc_get(pod, "spec")));
	for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
		struct jdoc *list = jdoc_get_mut(spec, lists[k]);

		for (size_t i = 0; i < jdoc_count(list); i++) {
			struct jdoc *res = jdoc_get_mut(jdoc_at_mut(list, i), "resources");

			amounts_to_text(jdoc_get_mut(res, "requests"));
			amounts_to_text(jdoc_get_mut(res, "limits"));
		}
	}
	pod_amounts_check(copy, causes);
	if (str_streq(s->kind, "Workload")) {
		drop_causes(causes, is_about_pods);
	}
	report_causes(s, prefix, causes, problem);
}

static void check_pods(const struct subject *s, enum sched_resource kind)
{
	const struct jdoc *sets = jdoc_path(s->object, "spec.podSets");
	size_t i = 0;

	if (kind == SCHED_PODS) {
		check_pod(s, s->object, "");
	} else if (kind == SCHED_JOBS) {
		check_pod(s, jdoc_path(s->object, "spec.template"), "spec.template.");
	}
	for (const struct jdoc *p = kind == SCHED_WORKLOADS ? jdoc_first(sets) : NULL; p != NULL;
	     p = jdoc_next(p), i++) {
		CLEANUP(xmalloc_freep)
		char *prefix = xmalloc_printf("spec.podSets[%zu].template.", i);

		check_pod(s, jdoc_get(p, "template"), prefix);
	}
}

/* Unknown fields are looked for before defaults are set; defaults come before validation, which
 * demands the fields that have them. Rules read what a schema guarantees: they are checked only
 * when the schema holds. */
static void check_schema(const struct subject *s, const struct jdoc *schema, struct jdoc *object)
{
	CLEANUP(jdoc_destroyp) struct jdoc *causes = jdoc_new_array();

	unknown_fields_of_schema(schema, object, on_unknown, (void *)(uintptr_t)s);
	unknown_fields_of_kind(s->kind, object, on_unknown, (void *)(uintptr_t)s);
	schema_default(schema, object);
	schema_validate(schema, s->m->patterns, object, causes);
	drop_causes(causes, is_absent_in_status);
	if (jdoc_first(causes) == NULL) {
		rules_check(schema, object, causes);
	}
	report_causes(s, "", causes, problem);
}

static void check_core(const struct subject *s, const struct jdoc *object)
{
	CLEANUP(jdoc_destroyp) struct jdoc *causes = jdoc_new_array();

	unknown_fields_of_kind(s->kind, object, on_unknown, (void *)(uintptr_t)s);
	core_values_check(s->kind, object, causes);
	report_causes(s, "", causes, doubt);
}

/* The API server appends random characters to generateName; a number is the same in each run. */
static void generate_name(struct manifest_check *m, struct jdoc *meta)
{
	const struct jdoc *name = jdoc_get(meta, "name");
	const char *base = jdoc_str_or(jdoc_get(meta, "generateName"), "");
	CLEANUP(xmalloc_freep) char *made = NULL;

	if (base[0] == '\0' || (jdoc_kind(name) != JDOC_NULL && !jdoc_is_str(name, ""))) {
		return;
	}
	m->generated++;
	made = xmalloc_printf("%.*s%05zu", GENERATE_NAME_MAX, base, m->generated);
	jdoc_set_str(meta, "name", made);
}

/* False: it has no name. A name that is not a string is refused where it is read. The namespace of
 * a kind that has none is dropped by the API server, whatever it is. */
static bool check_meta(const struct subject *s, bool is_custom, bool namespaced)
{
	const struct meta_rules_kind kind = { s->group, s->kind, is_custom };
	const struct jdoc *name = jdoc_path(s->object, "metadata.name");
	const char *space = jdoc_path_str(s->object, "metadata.namespace");
	CLEANUP(jdoc_destroyp) struct jdoc *causes = jdoc_new_array();

	if (jdoc_kind(name) == JDOC_NULL || jdoc_kind(name) == JDOC_STRING) {
		meta_rules_check(&kind, s->object, NULL, causes);
	}
	if (namespaced && space != NULL && space[0] != '\0') {
		meta_rules_check_label_name("metadata.namespace", space, causes);
	}
	report_causes(s, "", causes, problem);
	return jdoc_kind(name) != JDOC_NULL && !jdoc_is_str(name, "");
}

/* In the order of the API server:
 * 1. The version, without which there is no schema.
 * 2. A name is made of generateName, so that everything that follows can name the object.
 * 3. The schema, or what is known of Kubernetes' kinds.
 * 4. Metadata, and the amounts of pods.
 * All problems are reported, not only the first. Without a name the object is left out, since it
 * could not be kept. */
static int check_known(struct subject *s, enum sched_resource kind, struct jdoc *object)
{
	const struct jdoc *schema = NULL;
	bool has_name;

	if (!check_version(s, kind, &schema)) {
		return 1;
	}
	generate_name(s->m, jdoc_get_mut(object, "metadata"));
	if (schema != NULL) {
		check_schema(s, schema, object);
	} else {
		check_core(s, object);
	}
	has_name = check_meta(s, schema != NULL || s->group[0] != '\0',
			      sched_kinds_names(kind)->namespaced);
	check_pods(s, kind);
	return has_name ? 0 : 1;
}

bool manifest_check_controller(struct manifest_check *m, struct jdoc *object, const char *where)
{
	CLEANUP(xmalloc_freep) char *group = NULL;
	struct subject s = subject_of(m, object, where, &group);
	size_t before = m->problems;

	if (!str_eq_c(s.version, "v1")) {
		problem(&s, "apiVersion: unknown version; there is apps/v1");
		return false;
	}
	generate_name(m, jdoc_ensure_object(object, "metadata"));
	check_core(&s, object);
	check_pod(&s, jdoc_path(object, "spec.template"), "spec.template.");
	return check_meta(&s, true, true) && m->problems == before;
}

int manifest_check_object(void *ctx, struct jdoc *object, const char *where,
			  enum sched_resource *ret_kind)
{
	const char *version = jdoc_str(jdoc_get(object, "apiVersion"));
	CLEANUP(xmalloc_freep) char *group = NULL;
	struct subject s = subject_of(ctx, object, where, &group);

	if (version == NULL && jdoc_kind(jdoc_get(object, "apiVersion")) != JDOC_NULL) {
		problem(&s, "apiVersion: not a string");
		return 1;
	}
	if (version == NULL || version[0] == '\0') {
		char known_version[KINDS_API_VERSION_MAX];
		CLEANUP(xmalloc_freep) char *text = NULL;

		if (str_streq(s.kind, "Scenario")) {
			return 1; /* the first document of a scenario file is for tests only */
		}
		text = find_kind(s.kind, NULL, ret_kind)
			       ? xmalloc_printf("apiVersion: missing; it is %s",
						kinds_api_version(sched_kinds_names(*ret_kind),
								  known_version))
			       : xmalloc_dup("apiVersion: missing");
		problem(&s, text);
		return 1;
	}
	if (!find_kind(s.kind, s.group, ret_kind)) {
		if (is_controller(&s)) {
			s.m->opt.controller(s.m->opt.ctx, object, where);
			return 1;
		}
		return refuse_kind(&s);
	}
	return check_known(&s, *ret_kind, object);
}
