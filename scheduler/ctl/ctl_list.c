#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kinds.h"
#include "api/kueue/kueue_keys.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "enc/json/json_out.h"
#include "enc/yaml.h"
#include "scheduler/ctl/cli/age.h"
#include "scheduler/ctl/cli/columns.h"
#include "scheduler/ctl/ctl.h"
#include "scheduler/ctl/explain/live_workloads.h"
#include "scheduler/ctl/list/kueue_kinds.h"
#include "scheduler/ctl/list/list_filter.h"
#include "scheduler/ctl/list/list_pods.h"
#include "scheduler/ctl/list/workload_owner.h"
#include "scheduler/ctl/sim/quota_lists.h"
#include "scheduler/workloads/model/quota_store.h"

struct listing {
	const struct cluster_args *args;
	const struct live_workloads *source;
	const struct list_kind *kind;
	const struct list_filter *filter;
	const struct list_pods *pods; /* of Pods */
	struct columns *table;
	struct json_out *json; /* whole objects; NULL: table or names */
	size_t *places;        /* of Workloads by id, from 1; 0: in no queue; NULL: not known */
	size_t rows;
};

/* A kind that can be listed. */
struct list_kind {
	enum sched_resource resource;
	const char *heads[12];
	bool (*wanted)(const struct listing *l, const struct jdoc *object); /* NULL: all are */
	void (*add)(const struct listing *l, const struct jdoc *object);    /* behind the name */
};

static const struct quota_model *model_of(const struct listing *l)
{
	return forest_model(workload_simulation_forest(l->source->world));
}

static const char *or_none(const char *text)
{
	return text == NULL || text[0] == '\0' ? "<none>" : text;
}

/* The condition of this type; NULL: there is none. */
static const struct jdoc *condition(const struct jdoc *object, const char *type)
{
	const struct jdoc *c = jdoc_first(jdoc_path(object, "status.conditions"));

	while (c != NULL && !jdoc_is_str(jdoc_get(c, "type"), type)) {
		c = jdoc_next(c);
	}
	return c;
}

static bool is_true(const struct jdoc *object, const char *type)
{
	return jdoc_is_str(jdoc_get(condition(object, type), "status"), "True");
}

/* False: the member holds no time. */
static bool read_time(const struct jdoc *d, int64_t *ret)
{
	return jdoc_str(d) != NULL && clock_parse_time(str_of(jdoc_str(d)), ret) == 0;
}

static bool is_of_queue(const char *wanted, const char *name)
{
	return wanted == NULL || (name != NULL && str_streq(wanted, name));
}

/* Adds a number of status, where zeros are omitted. A manifest may have no status at all. */
static void add_count(const struct listing *l, const struct jdoc *object, const char *member)
{
	const struct jdoc *status = jdoc_get(object, "status");

	if (status == NULL) {
		columns_add(l->table, "-");
	} else {
		columns_add(l->table, "%" PRId64, jdoc_int(jdoc_get(status, member), 0));
	}
}

/* --- ClusterQueues, LocalQueues, flavors, cohorts ----------------------------------------------*/

static bool cluster_queue_wanted(const struct listing *l, const struct jdoc *object)
{
	return l->args->active == CLUSTER_ARGS_ANY ||
	       is_true(object, "Active") == (l->args->active == CLUSTER_ARGS_ACTIVE);
}

static void add_cluster_queue(const struct listing *l, const struct jdoc *object)
{
	const struct jdoc *active = condition(object, "Active");

	columns_add(l->table, "%s", or_none(jdoc_path_str(object, "spec.cohortName")));
	add_count(l, object, "pendingWorkloads");
	add_count(l, object, "admittedWorkloads");
	columns_add(l->table, "%s",
		    active == NULL ? "-" : jdoc_str_or(jdoc_get(active, "status"), "-"));
	columns_add(l->table, "%s", jdoc_str_or(jdoc_path(object, "spec.stopPolicy"), "None"));
}

static bool local_queue_wanted(const struct listing *l, const struct jdoc *object)
{
	return is_of_queue(l->args->cluster_queue, jdoc_path_str(object, "spec.clusterQueue"));
}

static void add_local_queue(const struct listing *l, const struct jdoc *object)
{
	columns_add(l->table, "%s", or_none(jdoc_path_str(object, "spec.clusterQueue")));
	add_count(l, object, "pendingWorkloads");
	add_count(l, object, "admittedWorkloads");
	columns_add(l->table, "%s", jdoc_str_or(jdoc_path(object, "spec.stopPolicy"), "None"));
}

static void add_flavor(const struct listing *l, const struct jdoc *object)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	const struct jdoc *labels = jdoc_path(object, "spec.nodeLabels");

	for (const struct jdoc *d = jdoc_first(labels); d != NULL; d = jdoc_next(d)) {
		strbuf_printf(&text, "%s%s=%s", text.len == 0 ? "" : ", ", jdoc_key(d),
			      jdoc_str_or(d, ""));
	}
	columns_add(l->table, "%s", or_none(text.p));
}

static void add_cohort(const struct listing *l, const struct jdoc *object)
{
	columns_add(l->table, "%s", or_none(jdoc_path_str(object, "spec.parentName")));
}

/* --- Workloads ---------------------------------------------------------------------------------*/

/* owner: KIND[.GROUP]/NAME */
static bool is_owned_by(const struct jdoc *object, const char *owner)
{
	const char *slash = strchr(owner, '/');
	CLEANUP(xmalloc_freep) char *type = xmalloc_dup_n(owner, (size_t)(slash - owner));

	return workload_owner_is(object, type, slash + 1);
}

/* The queue that has admitted it, since its LocalQueue may name another one by now. */
static const char *cluster_queue_of(const struct listing *l, const struct jdoc *object)
{
	const char *queue = jdoc_path_str(object, "status.admission.clusterQueue");
	CLEANUP(xmalloc_freep)
	char *key =
		xmalloc_printf("%s/%s", jdoc_str_or(jdoc_path(object, "metadata.namespace"), ""),
			       jdoc_str_or(jdoc_path(object, "spec.queueName"), ""));
	const struct local_queue *local = quota_local_find(model_of(l), str_of(key));

	return queue != NULL ? queue : local == NULL ? NULL : local->queue;
}

static bool workload_wanted(const struct listing *l, const struct jdoc *object)
{
	unsigned status = is_true(object, KUEUE_FINISHED)         ? CLUSTER_ARGS_FINISHED
			  : is_true(object, KUEUE_ADMITTED)       ? CLUSTER_ARGS_ADMITTED
			  : is_true(object, KUEUE_QUOTA_RESERVED) ? CLUSTER_ARGS_RESERVED
								  : CLUSTER_ARGS_PENDING;

	return (l->args->statuses == 0 || (l->args->statuses & status) != 0) &&
	       is_of_queue(l->args->local_queue, jdoc_path_str(object, "spec.queueName")) &&
	       is_of_queue(l->args->cluster_queue, cluster_queue_of(l, object)) &&
	       (l->args->owner == NULL || is_owned_by(object, l->args->owner));
}

static const char *status_of(const struct jdoc *object)
{
	return is_true(object, KUEUE_FINISHED)         ? "FINISHED"
	       : is_true(object, KUEUE_ADMITTED)       ? "ADMITTED"
	       : is_true(object, KUEUE_QUOTA_RESERVED) ? "QUOTARESERVED"
						       : "PENDING";
}

static size_t place_of(const struct listing *l, const struct jdoc *object)
{
	CLEANUP(xmalloc_freep)
	char *key = xmalloc_printf("%s/%s", jdoc_path_str(object, "metadata.namespace"),
				   jdoc_path_str(object, "metadata.name"));
	const struct workload *w = quota_workload_find(model_of(l), str_of(key));

	return w == NULL || l->places == NULL ? 0 : l->places[w->id];
}

/* For all queues at once, since each has to be sorted only once. */
static size_t *find_places(const struct quota_model *q)
{
	size_t *places = xmalloc_zero(q->workloads.n + 1, sizeof(*places));

	for (size_t i = 0; i < q->nodes.n; i++) {
		const struct workload **v;
		size_t n;

		if (q->nodes.v[i] == NULL || !q->nodes.v[i]->is_queue) {
			continue;
		}
		v = quota_lists_pending(q, q->nodes.v[i]->queue, &n);
		for (size_t k = 0; k < n; k++) {
			places[v[k]->id] = k + 1;
		}
		free(v);
	}
	return places;
}

static void add_exec_time(const struct listing *l, const struct jdoc *object)
{
	int64_t from, to = l->source->now;
	char text[AGE_MAX];

	if (!is_true(object, KUEUE_ADMITTED) ||
	    !read_time(jdoc_get(condition(object, KUEUE_ADMITTED), "lastTransitionTime"), &from)) {
		columns_add(l->table, "-");
		return;
	}
	if (is_true(object, KUEUE_FINISHED)) {
		(void)read_time(jdoc_get(condition(object, KUEUE_FINISHED), "lastTransitionTime"),
				&to);
	}
	columns_add(l->table, "%s", age_format(to - from, text));
}

static void add_workload(const struct listing *l, const struct jdoc *object)
{
	const struct jdoc *owner = workload_owner_of(object);
	struct str group = str_of(jdoc_str_or(jdoc_get(owner, "apiVersion"), ""));
	struct str first = str_next(&group, '/');
	size_t place = place_of(l, object);

	if (owner == NULL) {
		columns_add(l->table, "<none>");
	} else {
		CLEANUP(xmalloc_freep)
		char *kind = xmalloc_dup(jdoc_str_or(jdoc_get(owner, "kind"), ""));

		for (char *p = kind; *p != '\0'; p++) {
			*p = (char)(*p >= 'A' && *p <= 'Z' ? *p - 'A' + 'a' : *p);
		}
		columns_add(l->table, "%s%s" STR_FMT, kind, group.p == NULL ? "" : ".",
			    STR_ARG(group.p == NULL ? STR_LIT("") : first));
	}
	columns_add(l->table, "%s", or_none(jdoc_str(jdoc_get(owner, "name"))));
	columns_add(l->table, "%s", or_none(jdoc_path_str(object, "spec.queueName")));
	columns_add(l->table, "%s", or_none(cluster_queue_of(l, object)));
	columns_add(l->table, "%s", status_of(object));
	if (place == 0) {
		columns_add(l->table, "-");
	} else {
		columns_add(l->table, "%zu", place);
	}
	add_exec_time(l, object);
}

static bool pod_wanted(const struct listing *l, const struct jdoc *object)
{
	return list_pods_wanted(l->pods, object);
}

static void add_pod(const struct listing *l, const struct jdoc *object)
{
	list_pods_add(l->table, object);
}

/* --- the verb ----------------------------------------------------------------------------------*/

static const struct list_kind kinds[] = {
	{ SCHED_CLUSTER_QUEUES,
	  { "NAME", "COHORT", "PENDING WORKLOADS", "ADMITTED WORKLOADS", "ACTIVE", "STOP POLICY",
	    "AGE", NULL },
	  cluster_queue_wanted,
	  add_cluster_queue },
	{ SCHED_LOCAL_QUEUES,
	  { "NAMESPACE", "NAME", "CLUSTERQUEUE", "PENDING WORKLOADS", "ADMITTED WORKLOADS",
	    "STOP POLICY", "AGE", NULL },
	  local_queue_wanted,
	  add_local_queue },
	{ SCHED_WORKLOADS,
	  { "NAMESPACE", "NAME", "JOB TYPE", "JOB NAME", "LOCALQUEUE", "CLUSTERQUEUE", "STATUS",
	    "POSITION IN QUEUE", "EXEC TIME", "AGE", NULL },
	  workload_wanted,
	  add_workload },
	{ SCHED_FLAVORS, { "NAME", "NODE LABELS", "AGE", NULL }, NULL, add_flavor },
	{ SCHED_COHORTS, { "NAME", "PARENT", "AGE", NULL }, NULL, add_cohort },
	{ SCHED_PODS,
	  { "NAMESPACE", "NAME", "READY", "STATUS", "RESTARTS", "AGE", NULL },
	  pod_wanted,
	  add_pod },
};

static bool is_namespaced(const struct list_kind *kind)
{
	return sched_kinds_names(kind->resource)->namespaced;
}

static bool is_wanted(const struct listing *l, const struct jdoc *object)
{
	const char *space = jdoc_path_str(object, "metadata.namespace");

	return (space == NULL || l->args->all_namespaces ||
		str_streq(space, l->args->namespace_)) &&
	       list_filter_matches(l->filter, object) &&
	       (l->kind->wanted == NULL || l->kind->wanted(l, object));
}

/* As kubectl does: clusterqueue.kueue.x-k8s.io/NAME, pod/NAME. */
static void print_name(const struct list_kind *kind, const struct jdoc *object)
{
	const struct kinds_row *row = sched_kinds_names(kind->resource);

	printf("%s%s%s/%s\n", row->singular, row->group[0] == '\0' ? "" : ".", row->group,
	       jdoc_path_str(object, "metadata.name"));
}

static void add_object(struct listing *l, const struct jdoc *object)
{
	const char *space = jdoc_path_str(object, "metadata.namespace");
	char age[AGE_MAX];
	int64_t created;

	l->rows++;
	if (l->json != NULL) {
		const struct kinds_row *row = sched_kinds_names(l->kind->resource);
		CLEANUP(jdoc_destroyp) struct jdoc *whole = jdoc_copy(object);
		char version[KINDS_API_VERSION_MAX];

		jdoc_set_str(whole, "apiVersion", kinds_api_version(row, version));
		jdoc_set_str(whole, "kind", row->kind);
		json_out_doc(l->json, whole);
		return;
	}
	if (l->args->output == VERB_NAME) {
		print_name(l->kind, object);
		return;
	}
	if (space != NULL) {
		columns_add(l->table, "%s", space);
	}
	columns_add(l->table, "%s", jdoc_path_str(object, "metadata.name"));
	l->kind->add(l, object);
	columns_add(l->table, "%s",
		    read_time(jdoc_path(object, "metadata.creationTimestamp"), &created)
			    ? age_format(l->source->now - created, age)
			    : "<unknown>");
}

static void list_objects(struct listing *l)
{
	size_t n;
	struct sim_object *const *v = sim_input_objects(l->source->in, &n);

	for (size_t i = 0; i < n; i++) {
		if (v[i]->kind == l->kind->resource && is_wanted(l, v[i]->json)) {
			add_object(l, v[i]->json);
		}
	}
}

static void print_yaml(struct str json)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;

	if (jdoc_parse(json, &d, NULL) == 0) {
		yaml_format(d, &text);
	}
	fputs(text.p, stdout);
}

static void print_list(struct listing *l)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct json_out o;

	json_out_init(&o, &text);
	json_out_object(&o);
	json_out_kv(&o, "apiVersion", "v1");
	json_out_kv(&o, "kind", "List");
	json_out_key(&o, "items");
	json_out_array(&o);
	l->json = &o;
	list_objects(l);
	json_out_array_end(&o);
	json_out_object_end(&o);
	l->json = NULL;
	if (l->args->output == VERB_YAML) {
		print_yaml(strbuf_str(&text));
	} else {
		printf("%s\n", text.p);
	}
}

static void print_rows(struct listing *l)
{
	list_objects(l);
	if (l->rows > 0) {
		if (l->args->output == VERB_TABLE) {
			columns_print(l->table, stdout);
		}
	} else if (is_namespaced(l->kind) && !l->args->all_namespaces) {
		fprintf(stderr, "No resources found in namespace %s.\n", l->args->namespace_);
	} else {
		fprintf(stderr, "No resources found.\n");
	}
}

/* Objects of one namespace, unless a asks for all. Positions in queues need all objects; without
 * the right to read them, *ret_places is false. */
static int read_objects(const struct cluster_args *a, const struct list_kind *kind,
			struct list_pods *pods, struct live_workloads *ret, bool *ret_places,
			struct err *err)
{
	const char *space = a->all_namespaces ? NULL : a->namespace_;
	struct err why = ERR_INIT;
	int r;

	*ret_places = false;
	if (kind->resource == SCHED_PODS) {
		return list_pods_read(a, pods, ret, err);
	}
	if (kind->resource != SCHED_WORKLOADS) {
		return live_workloads_read(a, 1u << kind->resource, space, ret, err);
	}
	r = live_workloads_load(a, ret, &why);
	*ret_places = r == 0;
	/* Only positions need the whole cluster: the rest of the list is there without it. */
	if (r == -ERR_FORBIDDEN && space != NULL) {
		return live_workloads_load_namespace(a, space, &why,
						     "positions in queues are not known", ret, err);
	}
	return r < 0 ? err_set(err, why.code, "%s", why.text) : 0;
}

static int list(const struct cluster_args *a, const struct list_kind *kind,
		const struct list_filter *filter, struct err *err)
{
	CLEANUP(live_workloads_finish) struct live_workloads source = { 0 };
	CLEANUP(columns_destroyp) struct columns *table = columns_create(kind->heads);
	CLEANUP(list_pods_finish) struct list_pods pods = { 0 };
	struct listing l = { .args = a,
			     .source = &source,
			     .kind = kind,
			     .filter = filter,
			     .pods = &pods,
			     .table = table };
	bool has_places = false;
	int r = read_objects(a, kind, &pods, &source, &has_places, err);

	if (r < 0) {
		return r;
	}
	if (has_places) {
		l.places = find_places(model_of(&l));
	}
	if (a->output == VERB_JSON || a->output == VERB_YAML) {
		print_list(&l);
	} else {
		print_rows(&l);
	}
	free(l.places);
	return 0;
}

static const struct list_kind *find_kind(const char *alias)
{
	const char *names[ARRAY_LEN(kinds) + 1] = { NULL };
	const struct kinds_row *row;

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		names[i] = sched_kinds_names(kinds[i].resource)->kind;
	}
	row = kueue_kinds_need("list", alias, names);
	for (size_t i = 0; row != NULL && i < ARRAY_LEN(kinds); i++) {
		if (sched_kinds_names(kinds[i].resource) == row) {
			return &kinds[i];
		}
	}
	return NULL;
}

static int run_verb(int argc, char **argv)
{
	CLEANUP(list_filter_finish) struct list_filter filter = { 0 };
	const struct list_kind *kind;
	struct cluster_args a;
	struct err err = ERR_INIT;
	int code;

	if (!cluster_args_parse(&ctl_list_verb, argc, argv, &a, &code)) {
		return code;
	}
	kind = find_kind(a.nrest == 0 ? NULL : a.rest[0]);
	if (kind == NULL) {
		return VERB_USAGE;
	}
	if (a.nrest > 1) {
		fprintf(stderr, "headgatectl: unexpected argument \"%s\"\n", a.rest[1]);
		return VERB_USAGE;
	}
	if (kind->resource == SCHED_PODS && a.owner == NULL) {
		fprintf(stderr, "headgatectl: list pods requires --for TYPE/NAME\n");
		return VERB_USAGE;
	}
	if (list_filter_parse(a.labels, a.fields, is_namespaced(kind), &filter, &err) < 0) {
		(void)verb_fail(&err);
		return VERB_USAGE;
	}
	return list(&a, kind, &filter, &err) < 0 ? cluster_args_fail(&a, &err) : VERB_OK;
}

static const struct flags_row *const tables[] = {
	cluster_args_reach,
	cluster_args_files,
	cluster_args_config,
	cluster_args_namespace,
	cluster_args_all,
	cluster_args_queues,
	cluster_args_jobs,
	cluster_args_selectors,
	cluster_args_objects,
	flags_help,
	NULL,
};

const struct verb ctl_list_verb = {
	VERB("list"),
	.help = "list ClusterQueues, LocalQueues, Workloads, ResourceFlavors, Cohorts, pods",
	.flags.args =
		"clusterqueues|localqueues|workloads|resourceflavors|cohorts\npods --for TYPE/NAME",
	.flags.doc =
		"List objects of the quota engine. --clusterqueue selects LocalQueues and "
		"Workloads; --localqueue, --status and --for select Workloads; --active selects "
		"ClusterQueues. `list pods` lists the pods of the Job, or of the group of the pod, "
		"given by --for.",
	.flags.tables = tables,
	.run = run_verb,
};
