#include "scheduler/ctl/manifest/manifest_admit.h"

#include <stdlib.h>

#include "api/core/namespace.h"
#include "api/kinds.h"
#include "api/volcano/gate.h"
#include "api/volcano/keys.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/decode.h"
#include "enc/json/jdoc.h"
#include "enc/json/patch_apply.h"
#include "scheduler/ctl/manifest/manifest_check.h"
#include "scheduler/ctl/sim/sim_input.h"
#include "scheduler/workloads/conf/kueue_conf_owners.h"
#include "webhook/admit/jobs/job_mutate.h"
#include "webhook/admit/jobs/job_validate.h"
#include "webhook/admit/jobs/plainpod_mutate.h"
#include "webhook/admit/jobs/plainpod_validate.h"
#include "webhook/admit/kueue/clusterqueue_mutate.h"
#include "webhook/admit/kueue/clusterqueue_validate.h"
#include "webhook/admit/kueue/cohort_validate.h"
#include "webhook/admit/kueue/localqueue_validate.h"
#include "webhook/admit/kueue/resourceflavor_mutate.h"
#include "webhook/admit/kueue/resourceflavor_validate.h"
#include "webhook/admit/kueue/workload_mutate.h"
#include "webhook/admit/kueue/workload_validate.h"
#include "webhook/admit/kueue/workloadpriorityclass_validate.h"
#include "webhook/admit/volcano/pod_mutate.h"
#include "webhook/admit/volcano/podgroup_mutate.h"
#include "webhook/admit/volcano/podgroup_validate.h"
#include "webhook/admit/volcano/queue_mutate.h"
#include "webhook/admit/volcano/queue_validate.h"

#define MAX_QUEUE_DEPTH 5 /* the default of headgate-webhook */
#define ROOT_QUEUE "root" /* the scheduler makes it, and the default queue */

/* The handlers that are called when an object is created. Those of the quota kinds that validate
 * are called when it changes as well. pod_validate is left out, because it looks at changes of
 * pods alone, which are not simulated; so is the gate for Workloads that a registration selects
 * by labels, which are set up in the chart. */
static const struct {
	admit_fn fn;
	enum sched_resource kind;
	bool validates;
	bool pods; /* with the integration of pods alone */
} handlers[] = {
	{ queue_mutate, SCHED_QUEUES, false, false },
	{ podgroup_mutate, SCHED_PODGROUPS, false, false },
	{ pod_mutate, SCHED_PODS, false, false },
	{ plainpod_mutate, SCHED_PODS, false, true },
	{ job_mutate, SCHED_JOBS, false, false },
	{ clusterqueue_mutate, SCHED_CLUSTER_QUEUES, false, false },
	{ resourceflavor_mutate, SCHED_FLAVORS, false, false },
	{ workload_mutate, SCHED_WORKLOADS, false, false },
	{ queue_validate, SCHED_QUEUES, true, false },
	{ podgroup_validate, SCHED_PODGROUPS, true, false },
	{ plainpod_validate, SCHED_PODS, true, true },
	{ job_validate, SCHED_JOBS, true, false },
	{ clusterqueue_validate, SCHED_CLUSTER_QUEUES, true, false },
	{ cohort_validate, SCHED_COHORTS, true, false },
	{ localqueue_validate, SCHED_LOCAL_QUEUES, true, false },
	{ resourceflavor_validate, SCHED_FLAVORS, true, false },
	{ workload_validate, SCHED_WORKLOADS, true, false },
	{ workloadpriorityclass_validate, SCHED_WORKLOAD_PRIORITY_CLASSES, true, false },
};

struct admitting {
	struct manifest_check *check;
	const struct kueue_conf_owners *owners;
	void (*warn)(void *ctx, const char *text);
	void *ctx;
	struct admit_options options;
	struct sim_object **objects;
	size_t n;
	bool *denied; /* of each object: the API server asks no further handler about it */
};

/* --- the cluster as the handlers see it --------------------------------------------------------*/

static int by_name(const void *a, const void *b)
{
	const struct api_queue *const *x = a, *const *y = b;

	return strcmp((*x)->meta.name, (*y)->meta.name);
}

static int by_namespace(const void *a, const void *b)
{
	const struct admit_namespace *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool has_object(const struct admitting *a, enum sched_resource kind, const char *key)
{
	for (size_t i = 0; i < a->n; i++) {
		if (a->objects[i]->kind == kind && str_streq(a->objects[i]->key, key)) {
			return true;
		}
	}
	return false;
}

static const struct api_queue *own_queue(const char *name, struct arena *arena)
{
	struct api_queue *q = arena_zero(arena, 1, sizeof(*q));

	decode_init(&scheduling_queue_fields, q);
	q->meta.name = name;
	return q;
}

/* Queues that do not decode are reported by the simulation. */
static void view_queues(const struct admitting *a, struct arena *arena, struct admit_view *v)
{
	static const char *const own[] = { ROOT_QUEUE, KEYS_DEFAULT_QUEUE };
	const struct api_queue **list = arena_zero(arena, a->n + ARRAY_LEN(own), sizeof(*list));

	for (size_t i = 0; i < ARRAY_LEN(own); i++) {
		/* The scheduler would have made it, and manifests rely on that. */
		if (!has_object(a, SCHED_QUEUES, own[i])) {
			list[v->queue_count++] = own_queue(own[i], arena);
		}
	}
	for (size_t i = 0; i < a->n; i++) {
		struct api_queue *q = arena_zero(arena, 1, sizeof(*q));

		if (a->objects[i]->kind == SCHED_QUEUES &&
		    decode_jdoc(&scheduling_queue_fields, a->objects[i]->json, q, arena, NULL) ==
			    0) {
			list[v->queue_count++] = q;
		}
	}
	qsort(list, v->queue_count, sizeof(list[0]), by_name);
	v->queues = list;
	v->queues_known = true;
}

static const struct admit_namespace *view_namespace(const struct jdoc *json, struct arena *arena)
{
	struct admit_namespace *out = arena_zero(arena, 1, sizeof(*out));
	struct api_namespace ns;

	if (decode_jdoc(&namespace_fields, json, &ns, arena, NULL) < 0) {
		return NULL;
	}
	out->name = ns.meta.name;
	out->gate = gate_opt_in(&ns.meta.labels);
	out->queue = field_map_get(&ns.meta.annotations, KEYS_QUEUE_NAME);
	out->labels = ns.meta.labels;
	return out;
}

static void view_rest(const struct admitting *a, struct arena *arena, struct admit_view *v)
{
	const struct admit_namespace **namespaces =
		arena_zero(arena, a->n + 1, sizeof(*namespaces));
	const char **defaults = arena_zero(arena, a->n + 1, sizeof(*defaults));

	for (size_t i = 0; i < a->n; i++) {
		const struct sim_object *o = a->objects[i];
		struct str name = str_of(o->key), space = str_next(&name, '/');
		const struct admit_namespace *ns = NULL;

		if (o->kind == SCHED_NAMESPACES) {
			ns = view_namespace(o->json, arena);
		} else if (o->kind == SCHED_LOCAL_QUEUES && str_eq_c(name, "default")) {
			defaults[v->default_queue_count++] = arena_str(arena, space).p;
		} else if (o->kind == SCHED_WORKLOAD_PRIORITY_CLASSES) {
			v->has_default_class |= str_streq(o->key, "default");
		}
		if (ns != NULL) {
			namespaces[v->namespace_count++] = ns;
		}
	}
	qsort(namespaces, v->namespace_count, sizeof(namespaces[0]), by_namespace);
	qsort(defaults, v->default_queue_count, sizeof(defaults[0]), by_text);
	v->namespaces = namespaces;
	v->default_queues = defaults;
}

/* --- one review --------------------------------------------------------------------------------*/

static void report(const struct admitting *a, const struct sim_object *o, const char *text,
		   bool denied)
{
	CLEANUP(xmalloc_freep)
	char *line =
		xmalloc_printf("%s: %s %s: %s%s", o->where, sim_input_kind_name(o->kind), o->key,
			       denied ? "the admission webhook denies it: " : "", text);

	if (denied) {
		manifest_check_problem(a->check, line);
	} else {
		a->warn(a->ctx, line);
	}
}

/* False: the patch does not apply. */
static bool patch(const struct admitting *a, struct sim_object *o, struct str text)
{
	CLEANUP(jdoc_destroyp) struct jdoc *operations = NULL;
	struct err err = ERR_INIT;

	if (jdoc_parse(text, &operations, &err) < 0 ||
	    patch_apply_json(&o->json, operations, &err) < 0) {
		report(a, o, err.text, true);
		return false;
	}
	return true;
}

/* True: the object is admitted. */
static bool review(const struct admitting *a, const struct admit_view *view, admit_fn fn,
		   struct sim_object *o)
{
	CLEANUP(admit_answer_finish) struct admit_answer answer;
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT, old = STRBUF_INIT;
	struct arena *arena = arena_create(0);
	const struct kinds_row *names = sched_kinds_names(o->kind);
	struct api_admission_request request = {
		.uid = o->key,
		.name = jdoc_path_str(o->json, "metadata.name"),
		.namespace_ = jdoc_path_str(o->json, "metadata.namespace"),
		.operation = o->old == NULL ? "CREATE" : "UPDATE",
		.kind = { names->group, names->version, names->kind },
		.resource = { names->group, names->version, names->plural },
		.user = { "" },
	};
	const struct admit_request q = {
		.options = &a->options, .view = view, .review = &request, .arena = arena
	};
	struct err err = ERR_INIT;
	bool admitted = false;

	jdoc_format(o->json, &text);
	request.object = strbuf_str(&text);
	if (o->old != NULL) {
		jdoc_format(o->old, &old);
		request.old_object = strbuf_str(&old);
	}
	admit_answer_init(&answer);
	if (fn(&q, &answer, &err) < 0) {
		report(a, o, err.text, true);
	} else if (!answer.allowed) {
		report(a, o, answer.message, true);
	} else {
		admitted = answer.patch.len == 0 || patch(a, o, strbuf_str(&answer.patch));
	}
	for (size_t i = 0; i < answer.warning_count; i++) {
		report(a, o, answer.warnings[i], false);
	}
	arena_destroy(arena);
	return admitted;
}

/* All objects that change, then all that validate, each with a view of its own: those that
 * validate see what the others have become. All queues and namespaces are in the view from the
 * beginning, as if they had been applied before the pods and PodGroups that name them. */
static void run(const struct admitting *a, bool validating)
{
	struct arena *arena = arena_create(0);
	struct admit_view view = { 0 };

	view_queues(a, arena, &view);
	view_rest(a, arena, &view);
	for (size_t i = 0; i < a->n; i++) {
		struct sim_object *o = a->objects[i];

		/* The webhooks that change objects are registered for CREATE alone. */
		if (!sim_input_is_new(o) || (!validating && o->old != NULL)) {
			continue;
		}
		for (size_t k = 0; !a->denied[i] && k < ARRAY_LEN(handlers); k++) {
			if (handlers[k].kind == o->kind && handlers[k].validates == validating &&
			    (!handlers[k].pods || a->owners->pods)) {
				a->denied[i] = !review(a, &view, handlers[k].fn, o);
			}
		}
	}
	arena_destroy(arena);
}

void manifest_admit(struct sim_input *in, struct manifest_check *check,
		    const struct kueue_conf_owners *owners, const char *const *gate_schedulers,
		    void (*warn)(void *ctx, const char *text), void *ctx)
{
	static const char *const names[] = { KEYS_DEFAULT_SCHEDULER };
	struct admitting a = {
		.check = check,
		.owners = owners,
		.warn = warn,
		.ctx = ctx,
		.options = { .scheduler_names = names,
			     .scheduler_count = ARRAY_LEN(names),
			     .gate_schedulers = gate_schedulers,
			     .gate_feature = true,
			     .gate_sticky = true,
			     .max_queue_depth = MAX_QUEUE_DEPTH,
			     .root_queue_protection = true,
			     .manage_jobs_without_queue = owners->without_queue_name },
	};

	while (gate_schedulers != NULL && gate_schedulers[a.options.gate_scheduler_count] != NULL) {
		a.options.gate_scheduler_count++;
	}
	/* Patches change the objects in place; the list stays valid, since none is added. */
	a.objects = (struct sim_object **)(uintptr_t)sim_input_objects(in, &a.n);
	a.denied = xmalloc_zero(a.n + 1, sizeof(*a.denied));
	run(&a, false);
	run(&a, true);
	free(a.denied);
}
