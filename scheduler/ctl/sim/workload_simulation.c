#include "scheduler/ctl/sim/workload_simulation.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "enc/jdoc.h"
#include "scheduler/ctl/sim/workload_load.h"
#include "scheduler/workloads/conf/kueue_conf.h"
#include "scheduler/workloads/conf/kueue_conf_fields.h"
#include "scheduler/workloads/cycle/admission_apply.h"
#include "scheduler/workloads/ingest/from_kueue.h"
#include "scheduler/workloads/model/quota_store.h"
#include "scheduler/workloads/pending/pending.h"

struct workload_simulation {
	struct quota *q;
	struct forest *forest;
	struct admission_cycle *cycle;
	struct kueue_conf *conf;
	struct from_kueue_rules *rules;
	struct arena *arena; /* texts */
	int64_t now;
	unsigned cycles;
	struct VEC(struct workload_step) steps;
	struct VEC(struct workload_simulation_event) events;
	struct VEC(struct workload_load_status *) statuses; /* by workload id */
	struct VEC(uint32_t) flushes; /* nodes whose trees are looked at again in the next cycle */
};

static void keep_status(struct workload_simulation *s, const struct workload *w,
			struct workload_load_status *status)
{
	while (s->statuses.n <= w->id) {
		vec_push(&s->statuses, NULL);
	}
	s->statuses.v[w->id] = status;
}

static int load_object(struct workload_simulation *s, const struct sim_object *o, struct err *err)
{
	struct workload_load l = { s->q, s->rules, s->conf };
	struct workload_load_status *status = NULL;
	struct workload *w = NULL;
	int r;

	if (o->kind != SCHED_WORKLOADS) {
		r = workload_load_object(&l, o, err);
	} else {
		r = workload_load_workload(&l, o, &w, &status, err);
	}
	/* It is reported, and what it holds is not given to others. */
	if (r < 0 && o->kind == SCHED_WORKLOADS) {
		(void)workload_load_workload_keep(&l, o, &w, &status);
	}
	if (w != NULL) {
		keep_status(s, w, status);
	}
	return r < 0 ? err_wrap(err, "%s", o->where) : 0;
}

/* Who holds quota does so; the others wait. One that was admitted by a ClusterQueue that is gone
 * takes nothing from anybody, and does not wait either. */
static void place_workload(struct workload_simulation *s, struct workload *w)
{
	const char *queue = s->statuses.v[w->id]->queue;
	const struct quota_node *n;

	if (queue == NULL) {
		pending_update(s->q, w, true, s->now);
		return;
	}
	n = quota_queue_find(s->q, str_of(queue));
	if (n != NULL && n->exists) {
		forest_hold(s->forest, w, n->id);
	}
}

static void place_workloads(struct workload_simulation *s)
{
	quota_nodes_changed(s->q);
	forest_sync(s->forest);
	for (size_t i = 0; i < s->q->workloads.n; i++) {
		if (s->q->workloads.v[i] != NULL) {
			place_workload(s, s->q->workloads.v[i]);
		}
	}
	cluster_queue_check_all(s->q);
}

static int load_objects(struct workload_simulation *s, struct sim_input *in,
			const struct workload_simulation_options *opt, struct err *err)
{
	size_t n;
	struct sim_object *const *objects = sim_input_objects(in, &n);
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		struct err one = ERR_INIT;

		r = load_object(s, objects[i], &one);
		if (r < 0 && opt->lenient) {
			if (opt->warn != NULL) {
				opt->warn(opt->ctx, one.text);
			}
			r = 0;
		} else if (r < 0 && err != NULL) {
			*err = one;
		}
	}
	if (r == 0) {
		place_workloads(s);
	}
	return r;
}

/* A field that Kueue does not have is an error for the scheduler. */
static int read_config(const struct workload_simulation_options *opt, struct kueue_conf **ret,
		       struct err *err)
{
	struct err odd = ERR_INIT;

	if (opt->warn != NULL && kueue_conf_fields_check(opt->config, &odd) < 0) {
		err_wrap(&odd, "%s", opt->config_path);
		opt->warn(opt->ctx, odd.text);
	}
	if (kueue_conf_read(opt->config, opt->warn, opt->ctx, ret, err) < 0) {
		return err_wrap(err, "%s", opt->config_path);
	}
	return 0;
}

int workload_simulation_create(struct sim_input *in, const struct workload_simulation_options *opt,
			       struct workload_simulation **ret, struct err *err)
{
	CLEANUP(workload_simulation_destroyp)
	struct workload_simulation *s = xmalloc_zero(1, sizeof(*s));
	int r;

	s->now = opt->now;
	s->arena = arena_create(0);
	s->q = quota_create();
	s->forest = forest_create(s->q);
	s->cycle = admission_cycle_create(s->forest);
	r = read_config(opt, &s->conf, err);
	if (r == 0) {
		s->q->options = s->conf->options;
		s->rules = from_kueue_rules_create(&s->conf->resources);
		r = load_objects(s, in, opt, err);
	}
	if (r < 0) {
		return r;
	}
	*ret = take_ptr(&s);
	return 0;
}

void workload_simulation_destroyp(struct workload_simulation **ps)
{
	struct workload_simulation *s = *ps;

	if (s != NULL) {
		for (size_t i = 0; i < s->statuses.n; i++) {
			workload_load_status_destroy(s->statuses.v[i]);
		}
		admission_cycle_destroy(s->cycle);
		forest_destroy(s->forest);
		quota_destroy(s->q);
		from_kueue_rules_destroy(s->rules);
		kueue_conf_destroy(s->conf);
		vec_finish(&s->steps);
		vec_finish(&s->events);
		vec_finish(&s->statuses);
		vec_finish(&s->flushes);
		arena_destroy(s->arena);
		free(s);
	}
	*ps = NULL;
}

static void take_events(struct workload_simulation *s, const struct conditions_events *events)
{
	for (size_t i = 0; i < events->n; i++) {
		const struct workload *w = s->q->workloads.v[events->v[i].workload];
		struct workload_simulation_event e = {
			.cycle = s->cycles,
			.warning = events->v[i].warning,
			.workload = arena_dup(s->arena, w->key),
			.reason = arena_dup(s->arena, events->v[i].reason),
			.message = arena_dup(s->arena, events->v[i].message)
		};

		vec_push(&s->events, e);
	}
}

/* True when it is news: a victim that is on its way out already is not. */
static bool take_decision(struct workload_simulation *s, const struct admission_decision *d)
{
	struct workload_step step = workload_step_make(s->q, d, s->cycles, s->arena);
	struct conditions_events events = { NULL, 0, 0 };
	struct workload_load_status *status = s->statuses.v[d->workload];

	vec_push(&s->steps, step);
	conditions_decide(&status->conditions, s->q, d, s->now, &events);
	if (d->kind == QUOTA_DECIDE_ADMIT) {
		status->admission = NULL; /* there is a newer one */
	}
	take_events(s, &events);
	vec_finish(&events);
	return d->kind == QUOTA_DECIDE_ADMIT || (d->kind == QUOTA_DECIDE_PREEMPT && !d->ongoing);
}

bool workload_simulation_run_cycle(struct workload_simulation *s)
{
	const struct admission_decisions *d;
	bool any = false;

	for (size_t i = 0; i < s->flushes.n; i++) {
		pending_flush(s->q, s->forest, s->flushes.v[i], s->now);
	}
	vec_clear(&s->flushes);
	s->cycles++;
	d = admission_cycle_run(s->cycle, s->now);
	for (size_t i = 0; i < d->n; i++) {
		any |= take_decision(s, &d->v[i]);
	}
	for (size_t i = 0; i < d->n; i++) {
		admission_apply(s->forest, &d->v[i], s->now);
	}
	return any;
}

bool workload_simulation_stop_victims(struct workload_simulation *s)
{
	bool any = false;

	for (size_t i = 0; i < s->q->workloads.n; i++) {
		struct workload *w = s->q->workloads.v[i];

		if (w == NULL || w->holds == MODEL_NONE || !w->evicted) {
			continue;
		}
		any = true;
		vec_push(&s->flushes, w->holds);
		forest_release(s->forest, w);
		(void)conditions_release(&s->statuses.v[i]->conditions, "its job has stopped",
					 s->now);
		s->statuses.v[i]->admission = NULL;
		pending_update(s->q, w, true, s->now);
	}
	return any;
}

/* --- removal -----------------------------------------------------------------------------------*/

static bool delete_workload(struct workload_simulation *s, struct str key)
{
	struct workload *w = quota_workload_find(s->q, key);

	if (w == NULL) {
		return false;
	}
	if (w->where != QUOTA_NOWHERE) {
		vec_push(&s->flushes, w->queue);
		pending_remove(s->q, w);
	}
	if (w->holds != MODEL_NONE) {
		vec_push(&s->flushes, w->holds);
		forest_release(s->forest, w);
	}
	workload_load_status_destroy(s->statuses.v[w->id]);
	s->statuses.v[w->id] = NULL;
	quota_workload_remove(s->q, w);
	return true;
}

/* Those who wait follow their LocalQueues and ClusterQueues. */
static void update_pending(struct workload_simulation *s)
{
	for (size_t i = 0; i < s->q->workloads.n; i++) {
		struct workload *w = s->q->workloads.v[i];

		if (w != NULL && w->where != QUOTA_NOWHERE) {
			pending_update(s->q, w, false, s->now);
		}
	}
}

static void flush_all(struct workload_simulation *s)
{
	for (uint32_t i = 0; i < s->q->nodes.n; i++) {
		if (s->q->nodes.v[i] != NULL && s->q->nodes.v[i]->is_queue) {
			vec_push(&s->flushes, i);
		}
	}
}

static bool delete_node(struct quota_node *n)
{
	if (n == NULL || !n->exists) {
		return false;
	}
	quota_node_clear(n);
	return true;
}

static bool delete_flavor(struct workload_simulation *s, struct str key)
{
	struct flavor *f = quota_flavor_find(s->q, key);

	if (f == NULL || !f->exists) {
		return false;
	}
	quota_flavor_clear(f);
	return true;
}

static bool delete_local(struct workload_simulation *s, struct str key)
{
	struct local_queue *l = quota_local_find(s->q, key);

	if (l == NULL) {
		return false;
	}
	quota_local_remove(s->q, l);
	return true;
}

static bool delete_namespace(struct workload_simulation *s, struct str key)
{
	if (quota_namespace_find(s->q, key) == NULL) {
		return false;
	}
	quota_namespace_remove(s->q, key);
	return true;
}

static bool delete_check(struct workload_simulation *s, struct str key)
{
	if (quota_check_find(s->q, key) == NULL) {
		return false;
	}
	quota_check_remove(s->q, key);
	return true;
}

static bool delete_other(struct workload_simulation *s, enum sched_resource kind, struct str key)
{
	switch (kind) {
	case SCHED_NAMESPACES:
		return delete_namespace(s, key);
	case SCHED_FLAVORS:
		return delete_flavor(s, key);
	case SCHED_ADMISSION_CHECKS:
		return delete_check(s, key);
	case SCHED_COHORTS:
		return delete_node(quota_cohort_find(s->q, key));
	case SCHED_CLUSTER_QUEUES:
		return delete_node(quota_queue_find(s->q, key));
	case SCHED_LOCAL_QUEUES:
		return delete_local(s, key);
	case SCHED_TOPOLOGIES:
		quota_topology_set(s->q, key, false);
		return true;
	case SCHED_WORKLOADS:
	case SCHED_PRIORITY_CLASSES:
	case SCHED_QUEUES:
	case SCHED_PODGROUPS:
	case SCHED_NODES:
	case SCHED_PODS:
	case SCHED_LIMIT_RANGES:
	case SCHED_RUNTIME_CLASSES:
	case SCHED_WORKLOAD_PRIORITY_CLASSES:
	case SCHED_JOBS:
	case SCHED_RESOURCE_COUNT_:
		break;
	}
	return false;
}

bool workload_simulation_delete(struct workload_simulation *s, enum sched_resource kind,
				struct str key)
{
	if (kind == SCHED_WORKLOADS) {
		return delete_workload(s, key);
	}
	if (!delete_other(s, kind, key)) {
		return false;
	}
	update_pending(s);
	quota_nodes_changed(s->q);
	forest_sync(s->forest);
	flush_all(s);
	return true;
}

/* --- reading -----------------------------------------------------------------------------------*/

unsigned workload_simulation_cycles(const struct workload_simulation *s)
{
	return s->cycles;
}

const struct workload_step *workload_simulation_steps(const struct workload_simulation *s,
						      size_t *ret_n)
{
	*ret_n = s->steps.n;
	return s->steps.v;
}

const struct workload_simulation_event *
workload_simulation_events(const struct workload_simulation *s, size_t *ret_n)
{
	*ret_n = s->events.n;
	return s->events.v;
}

const struct forest *workload_simulation_forest(const struct workload_simulation *s)
{
	return s->forest;
}

struct forest *workload_simulation_forest_to_try(struct workload_simulation *s)
{
	return s->forest;
}

const struct conditions *workload_simulation_status(const struct workload_simulation *s,
						    const struct workload *w)
{
	return &s->statuses.v[w->id]->conditions;
}

const char *workload_simulation_admission(const struct workload_simulation *s,
					  const struct workload *w)
{
	return s->statuses.v[w->id]->admission;
}
