#include "scheduler/ctl/sim/workload_simulation.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "enc/json/jdoc.h"
#include "scheduler/base/message_decode.h"
#include "scheduler/ctl/sim/simulated_api.h"
#include "scheduler/workloads/conf/kueue_conf.h"
#include "scheduler/workloads/cycle/admission_apply.h"
#include "scheduler/workloads/ingest/workload_cache.h"
#include "scheduler/workloads/model/quota_store.h"
#include "scheduler/workloads/writes/status_writer.h"

struct workload_simulation {
	struct workload_cache *cache;
	struct simulated_api *api; /* NULL: no updates */
	struct admission_cycle *cycle;
	struct kueue_conf *conf;
	struct arena *arena; /* texts */
	int64_t now;
	unsigned cycles;
	struct VEC(struct workload_step) steps;
	struct VEC(struct workload_simulation_event) events;
	struct strmap
		*admissions;  /* by key of the Workload: the status.admission of its manifest */
	struct strmap *tried; /* keys of the Workloads that a cycle has looked at */
	bool looked_at_new;
	struct err bad; /* of the object being read */
};

static struct quota_model *model_of(const struct workload_simulation *s)
{
	return workload_cache_model(s->cache);
}

/* --- objects -----------------------------------------------------------------------------------*/

/* The text names the object itself. */
static void on_bad_object(void *ctx, enum sched_resource r UNUSED, struct str key UNUSED,
			  const char *text)
{
	struct workload_simulation *s = ctx;

	(void)err_set(&s->bad, ERR_INVALID, "%s", text);
}

static void apply(struct workload_simulation *s, struct sched_msg *m)
{
	workload_cache_apply(s->cache, m, s->now);
	message_free(m);
}

static void deliver_synced(struct workload_simulation *s, enum sched_resource r)
{
	struct sched_msg *m = message_new(SCHED_MSG_SYNCED);

	m->resource = r;
	apply(s, m);
}

/* The admission of a manifest may have members that the model does not keep (topologies): the
 * report repeats it as it was written. */
static void keep_admission(struct workload_simulation *s, const struct sim_object *o)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	const struct jdoc *admission = jdoc_path(o->json, "status.admission");

	if (jdoc_kind(admission) == JDOC_OBJECT) {
		jdoc_format(admission, &text);
		strmap_set(s->admissions, str_of(o->key), arena_dup(s->arena, text.p));
	}
}

/* As an event of a watch delivers it. */
static void deliver(struct workload_simulation *s, enum sched_resource kind, const char *key,
		    const struct jdoc *object, int64_t version)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct sched_msg *m;

	jdoc_format(object, &text);
	m = message_decode(kind, str_of(key), strbuf_str(&text), version);
	if (m->kind == SCHED_MSG_BAD_OBJECT) {
		(void)err_set(&s->bad, ERR_INVALID, "%s %s: %s", sim_input_kind_name(kind), key,
			      m->text);
	}
	apply(s, m);
}

static int load_object(struct workload_simulation *s, const struct sim_object *o, struct err *err)
{
	s->bad = (struct err)ERR_INIT;
	/* Later updates change parts of a status, so the whole is kept from the beginning. */
	if (s->api != NULL && o->kind == SCHED_WORKLOADS) {
		int64_t version = simulated_api_put(s->api, str_of(o->key), o->json);

		deliver(s, o->kind, o->key, simulated_api_get(s->api, str_of(o->key)), version);
	} else {
		deliver(s, o->kind, o->key, o->json, 0);
	}
	if (o->kind == SCHED_WORKLOADS) {
		keep_admission(s, o);
	}
	return s->bad.code == ERR_NONE ? 0
				       : err_set(err, ERR_INVALID, "%s: %s", o->where, s->bad.text);
}

static int load_one(struct workload_simulation *s, const struct sim_object *o,
		    const struct workload_simulation_options *opt, struct err *err)
{
	struct err bad = ERR_INIT;
	int r = load_object(s, o, &bad);

	if (r < 0 && opt->lenient) {
		if (opt->warn != NULL) {
			opt->warn(opt->ctx, bad.text);
		}
		return 0;
	}
	if (r < 0 && err != NULL) {
		*err = bad;
	}
	return r;
}

/* 1. Kind by kind, those to which others refer first: Workloads are read last, when all other
 *    objects are known, so that an error can name the object.
 * 2. After each kind the cache learns that its list is complete, as from the first list of a
 *    watch.
 * 3. At the end the trees of cohorts are built, and each Workload gets its place in a queue. */
static int load_objects(struct workload_simulation *s, struct sim_input *in,
			const struct workload_simulation_options *opt, struct err *err)
{
	enum sched_resource kind = SCHED_RESOURCE_COUNT_;
	size_t n;
	struct sim_object *const *objects = sim_input_objects(in, &n);
	int r = 0;

	while (r == 0 && sched_kinds_next(SCHED_WING_WORKLOADS, &kind)) {
		for (size_t i = 0; i < n && r == 0; i++) {
			if (objects[i]->kind == kind) {
				r = load_one(s, objects[i], opt, err);
			}
		}
		deliver_synced(s, kind);
	}
	(void)workload_cache_settle(s->cache, s->now);
	return r;
}

/* A field that Kueue does not have is an error for the scheduler, here a warning. */
static int read_config(const struct workload_simulation_options *opt, struct kueue_conf **ret,
		       struct err *err)
{
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
	const struct workload_cache_listener listener = { .on_bad_object = on_bad_object,
							  .ctx = s };
	int r;

	s->now = opt->now;
	s->arena = arena_create(0);
	s->admissions = strmap_create(NULL);
	s->api = opt->updates ? simulated_api_create() : NULL;
	s->tried = strmap_create(NULL);
	r = read_config(opt, &s->conf, err);
	if (r == 0) {
		s->cache = workload_cache_create(s->conf, &listener);
		workload_cache_keep_finished(s->cache);
		s->cycle = admission_cycle_create(workload_cache_forest(s->cache));
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
		admission_cycle_destroy(s->cycle);
		workload_cache_destroy(s->cache);
		kueue_conf_destroy(s->conf);
		strmap_destroy(s->admissions);
		simulated_api_destroy(s->api);
		strmap_destroy(s->tried);
		vec_finish(&s->steps);
		vec_finish(&s->events);
		arena_destroy(s->arena);
		free(s);
	}
	*ps = NULL;
}

/* --- cycles ------------------------------------------------------------------------------------*/

/* Returns the resourceVersion after the write; 0: updates are not simulated. */
static int64_t write_status(struct workload_simulation *s, const struct workload_cache_write *w)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *applied = NULL;

	if (s->api == NULL) {
		return 0;
	}
	status_writer_format(model_of(s), w->workload, w->status, 0, &text);
	(void)jdoc_parse(strbuf_str(&text), &applied, NULL);
	return simulated_api_write(s->api, str_of(w->workload->key), applied);
}

/* The decisions of the last cycle have reached the API; a watch delivers what was written. */
static void acknowledge(struct workload_simulation *s)
{
	struct workload_cache_write w;

	while (workload_cache_next_write(s->cache, &w)) {
		/* The answer of the write comes first, then the event of the watch with the same
		 * version. */
		struct sched_msg *m = message_new(SCHED_MSG_REQUEST_DONE);
		CLEANUP(xmalloc_freep) char *key = xmalloc_dup(w.workload->key);

		m->request = SCHED_REQ_WORKLOAD;
		m->key = arena_str(m->arena, str_of(key));
		m->uid = arena_dup(m->arena, w.workload->object.uid);
		m->version = w.version;
		m->resource_version = write_status(s, &w);
		m->outcome = SCHED_DONE;
		if (s->api != NULL) {
			int64_t version = m->resource_version;

			apply(s, m);
			deliver(s, SCHED_WORKLOADS, key, simulated_api_get(s->api, str_of(key)),
				version);
		} else {
			apply(s, m);
		}
	}
}

static void take_events(struct workload_simulation *s, const struct workload_status_events *events)
{
	for (size_t i = 0; i < events->n; i++) {
		const struct workload *w = model_of(s)->workloads.v[events->v[i].workload];
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

/* Records the decision. True: it is new; false: the victim is already being evicted. */
static bool take_decision(struct workload_simulation *s, const struct admission_decision *d)
{
	const struct workload *w = model_of(s)->workloads.v[d->workload];
	struct workload_step step = workload_step_make(model_of(s), d, s->cycles, s->arena);
	struct workload_status_events events = { NULL, 0, 0 };

	vec_push(&s->steps, step);
	/* Counted by the first time only: heads that are tried again and again are no progress. */
	s->looked_at_new |=
		d->kind == QUOTA_DECIDE_PENDING && !strmap_has(s->tried, str_of(w->key));
	strmap_set(s->tried, str_of(w->key), s);
	workload_status_decide(workload_cache_edit(s->cache, w), model_of(s), d, s->now, &events);
	(void)workload_cache_commit(s->cache, w);
	if (d->kind == QUOTA_DECIDE_ADMIT) {
		/* The manifest's admission is outdated. */
		(void)strmap_remove(s->admissions, str_of(w->key));
	}
	take_events(s, &events);
	vec_finish(&events);
	return d->kind == QUOTA_DECIDE_ADMIT || (d->kind == QUOTA_DECIDE_PREEMPT && !d->ongoing);
}

/* 1. The writes of the cycle before are acknowledged.
 * 2. The queues are settled at once: the daemon gathers what comes free for a tenth of a second,
 *    and the clock stands still here.
 * 3. The cycle decides.
 * 4. All decisions are recorded and written into the statuses, and only then applied to the
 *    quota: as in the daemon, where a status comes before the charge that follows from it. */
bool workload_simulation_run_cycle(struct workload_simulation *s)
{
	const struct admission_decisions *d;
	bool any = false;

	acknowledge(s);
	workload_cache_settle_at_once(s->cache, s->now);
	s->cycles++;
	s->looked_at_new = false;
	d = admission_cycle_run(s->cycle, s->now);
	for (size_t i = 0; i < d->n; i++) {
		any |= take_decision(s, &d->v[i]);
	}
	for (size_t i = 0; i < d->n; i++) {
		admission_apply(workload_cache_forest(s->cache), &d->v[i]);
	}
	return any;
}

bool workload_simulation_looked_at_new(const struct workload_simulation *s)
{
	return s->looked_at_new;
}

/* Acknowledged first: a victim stops after its eviction has been written. */
bool workload_simulation_stop_victims(struct workload_simulation *s)
{
	const struct quota_model *q = model_of(s);
	bool any = false;

	acknowledge(s);
	for (size_t i = 0; i < q->workloads.n; i++) {
		const struct workload *w = q->workloads.v[i];

		if (w == NULL || w->holding.node == MODEL_NONE || !w->flags.evicted) {
			continue;
		}
		any = true;
		(void)workload_status_release(workload_cache_edit(s->cache, w),
					      "its job has stopped", s->now);
		(void)workload_cache_commit(s->cache, w);
		(void)strmap_remove(s->admissions, str_of(w->key));
		workload_cache_give_back(s->cache, w, s->now);
	}
	return any;
}

/* --- removal -----------------------------------------------------------------------------------*/

static bool is_node(const struct quota_node *n)
{
	return n != NULL && n->exists;
}

/* Whether the object exists, for the kinds that can be removed. */
static bool is_there(const struct quota_model *q, enum sched_resource kind, struct str key)
{
	const struct flavor *f = kind == SCHED_FLAVORS ? quota_flavor_find(q, key) : NULL;

	return (f != NULL && f->exists) ||
	       (kind == SCHED_WORKLOADS && quota_workload_find(q, key) != NULL) ||
	       (kind == SCHED_NAMESPACES && quota_namespace_find(q, key) != NULL) ||
	       (kind == SCHED_ADMISSION_CHECKS && quota_check_find(q, key) != NULL) ||
	       (kind == SCHED_COHORTS && is_node(quota_cohort_find(q, key))) ||
	       (kind == SCHED_CLUSTER_QUEUES && is_node(quota_queue_find(q, key))) ||
	       (kind == SCHED_LOCAL_QUEUES && quota_local_find(q, key) != NULL) ||
	       (kind == SCHED_TOPOLOGIES && strmap_has(q->topology_of, key));
}

bool workload_simulation_delete(struct workload_simulation *s, enum sched_resource kind,
				struct str key)
{
	struct sched_msg *m;

	if (!is_there(model_of(s), kind, key)) {
		return false;
	}
	if (kind == SCHED_WORKLOADS) {
		(void)strmap_remove(s->admissions, key);
	}
	if (kind == SCHED_WORKLOADS && s->api != NULL) {
		simulated_api_remove(s->api, key);
	}
	m = message_new(SCHED_MSG_DELETE);
	m->resource = kind;
	m->key = arena_str(m->arena, key);
	apply(s, m);
	(void)workload_cache_settle(s->cache, s->now);
	return true;
}

/* --- updates -----------------------------------------------------------------------------------*/

int workload_simulation_apply(struct workload_simulation *s, const struct sim_object *o,
			      struct err *err)
{
	int r;

	acknowledge(s);
	r = load_object(s, o, err);
	(void)workload_cache_settle(s->cache, s->now);
	return r;
}

void workload_simulation_advance(struct workload_simulation *s, int64_t ns)
{
	s->now += ns;
	if (ns > 0) {
		(void)workload_cache_sample(s->cache, s->now);
	}
	(void)workload_cache_settle(s->cache, s->now);
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

const struct kueue_conf *workload_simulation_conf(const struct workload_simulation *s)
{
	return s->conf;
}

const struct forest *workload_simulation_forest(const struct workload_simulation *s)
{
	return workload_cache_forest(s->cache);
}

struct forest *workload_simulation_forest_to_try(struct workload_simulation *s)
{
	return workload_cache_forest(s->cache);
}

const struct workload_status *workload_simulation_status(const struct workload_simulation *s,
							 const struct workload *w)
{
	return workload_cache_status(s->cache, w);
}

bool workload_simulation_waits_for_checks(const struct workload_simulation *s,
					  const struct workload *w)
{
	return w != NULL && w->holding.node != MODEL_NONE &&
	       !workload_status_is_true(workload_cache_status(s->cache, w), "Admitted");
}

const char *workload_simulation_admission(const struct workload_simulation *s,
					  const struct workload *w)
{
	return strmap_get(s->admissions, str_of(w->key));
}
