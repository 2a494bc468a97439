#include "scheduler/workloads/engine/workload_engine.h"

#include <stdlib.h>
#include <string.h>

#include "api/kueue/kueue.h"
#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/xmalloc.h"
#include "kube/pool.h"
#include "kube/recorder.h"
#include "obs/metric.h"
#include "process/log.h"
#include "scheduler/base/gate_fields.h"
#include "scheduler/workloads/conf/kueue_conf.h"
#include "scheduler/workloads/controller/owner_controller.h"
#include "scheduler/workloads/cycle/admission_apply.h"
#include "scheduler/workloads/engine/cycle_pace.h"
#include "scheduler/workloads/engine/deferred_reasons.h"
#include "scheduler/workloads/engine/pending_events.h"
#include "scheduler/workloads/engine/queue_refresh.h"
#include "scheduler/workloads/engine/reconciler.h"
#include "scheduler/workloads/engine/workload_reread.h"
#include "scheduler/workloads/ingest/workload_cache.h"
#include "scheduler/workloads/metrics/metric_families.h"
#include "scheduler/workloads/metrics/workload_metrics.h"
#include "scheduler/workloads/model/quota_store.h"
#include "scheduler/workloads/pending/pending.h"
#include "scheduler/workloads/writes/finalizers.h"
#include "scheduler/workloads/writes/preemption_cost.h"
#include "scheduler/workloads/writes/status_writer.h"

#define BYPASSED "An equivalent workload could not be admitted"

struct workload_engine {
	struct workload_engine_options opt;
	const struct clock *clock;
	struct workload_cache *cache;
	struct admission_cycle *cycle;
	struct deferred_reasons *deferred;
	struct reconciler *reconciler;
	struct status_writer *writer;
	struct queue_refresh *refresh;
	struct finalizers *finalizers;
	struct workload_reread *reread;
	struct gate_fields *gate_fields;
	struct preemption_cost *costs; /* NULL: not kept */
	struct metric_families *metrics;
	struct pending_events *events;
	struct metric_cell *unanswered;
	struct cycle_pace pace;
	bool dirty;       /* the next cycle may decide differently */
	bool cycle_waits; /* it was put off */
	bool synced[SCHED_RESOURCE_COUNT_];
	bool owners_started; /* owner_controller_synced was called */
	bool leads;
};

static void add_events(void *ctx, const struct workload *w,
		       const struct workload_status_events *events)
{
	struct workload_engine *e = ctx;

	pending_events_add(e->events, workload_cache_model(e->cache), w, events);
}

static void read_workload(void *ctx, struct str key)
{
	struct workload_engine *e = ctx;

	workload_reread_add(e->reread, key);
}

/* --- changes that the cache reports ------------------------------------------------------------*/

/* The parts of an object that are used in the same way for every kind. */
struct parts {
	const struct api_meta *meta;             /* NULL: gone, or of a kind without a use for it */
	const struct api_conditions *conditions; /* NULL: without a status that we write */
};

static struct parts parts_of(enum sched_resource r, const void *object)
{
	const struct api_cluster_queue *cq = object;
	const struct api_local_queue *lq = object;
	const struct api_cohort *cohort = object;
	const struct api_resource_flavor *flavor = object;
	const struct api_admission_check *check = object;

	if (object == NULL) {
		return (struct parts){ NULL, NULL };
	}
	return r == SCHED_CLUSTER_QUEUES     ? (struct parts){ &cq->meta, &cq->status.conditions }
	       : r == SCHED_LOCAL_QUEUES     ? (struct parts){ &lq->meta, &lq->status.conditions }
	       : r == SCHED_COHORTS          ? (struct parts){ &cohort->meta, NULL }
	       : r == SCHED_FLAVORS          ? (struct parts){ &flavor->meta, NULL }
	       : r == SCHED_ADMISSION_CHECKS ? (struct parts){ &check->meta, NULL }
					     : (struct parts){ NULL, NULL };
}

static void on_object(void *ctx, struct sched_msg *m)
{
	struct workload_engine *e = ctx;
	enum sched_resource r = m->resource;
	struct parts p = parts_of(r, m->object);
	const struct api_condition *active =
		p.conditions == NULL ? NULL : meta_condition(p.conditions, KUEUE_ACTIVE);

	owner_controller_object(reconciler_owners(e->reconciler), m);
	finalizers_seen(e->finalizers, r, m->key, p.meta);
	metric_families_seen(e->metrics, r, m->key, p.meta);
	if (r == SCHED_CLUSTER_QUEUES && e->costs != NULL) {
		preemption_cost_queue(e->costs, m->key, m->object);
	}
	if (m->object == NULL) {
		queue_refresh_gone(e->refresh, r, m->key);
	} else {
		queue_refresh_seen(e->refresh, r, p.meta, active);
	}
}

static void cost_seen(struct workload_engine *e, struct str key, const struct api_workload *w)
{
	const struct quota_model *q = workload_cache_model(e->cache);

	if (e->costs != NULL && w == NULL) {
		preemption_cost_gone(e->costs, key);
	} else if (e->costs != NULL) {
		preemption_cost_seen(e->costs, quota_workload_find(q, key), meta_version(&w->meta));
	}
}

/* A Workload that waits because an equivalent one could not be admitted, so that no cycle has
 * looked at it. */
static void explain_bypassed(struct workload_engine *e, const struct workload *w)
{
	const struct admission_decision d = { .kind = QUOTA_DECIDE_PENDING,
					      .workload = w->id,
					      .by = MODEL_NONE,
					      .node = w->pending.queue,
					      .reason = QUOTA_WAITING_FOR_QUOTA,
					      .message = BYPASSED };

	if (w->pending.where == QUOTA_INADMISSIBLE &&
	    w->pending.evaluated_generation != w->object.generation &&
	    pending_backoff_is_over(w, clock_wall(e->clock))) {
		deferred_reasons_put(e->deferred, &d, clock_mono(e->clock));
	}
}

static void on_workload(void *ctx, uint32_t id, struct str key, struct sched_msg *m)
{
	struct workload_engine *e = ctx;
	const struct api_workload *w = m == NULL ? NULL : m->object;

	metric_families_workload(e->metrics, key, w == NULL ? NULL : &w->meta);
	if (w == NULL) {
		/* Its id and its key may be given to another Workload from here on: nothing may be
		 * kept under them. */
		pending_events_settle(e->events, key, false);
		deferred_reasons_drop(e->deferred, id);
	} else {
		explain_bypassed(e, quota_workload_find(workload_cache_model(e->cache), key));
	}
	cost_seen(e, key, w);
	reconciler_workload(e->reconciler, key, m);
	/* The fields are asked for only where gates are in use. */
	if (w != NULL && w->spec.preemption_gates.n > 0) {
		gate_fields_ask(e->gate_fields);
	}
}

static void on_written(void *ctx, const struct workload *w, enum sched_outcome outcome,
		       const char *text)
{
	struct workload_engine *e = ctx;
	bool ok = outcome == SCHED_DONE;
	int64_t again = workload_cache_retry_at(w);

	cycle_pace_answer(&e->pace, outcome, clock_mono(e->clock));
	/* The other failures are ordinary (a conflict, a deletion, a lost lease), and end by
	 * themselves. */
	if (outcome == SCHED_REJECTED) {
		log_warn("status of a Workload not written", LOG_STR("workload", w->key),
			 LOG_STR("error", text));
		pending_events_refused(e->events, w, text);
	}
	/* No message says that the pause after a refusal is over. */
	if (again != MODEL_TIME_NONE) {
		reconciler_put_off(e->reconciler, str_of(w->key), again);
	}
	pending_events_settle(e->events, str_of(w->key), ok);
}

/* Every replica sees the same changes; only the leader counts them. */
static void on_status(void *ctx, const struct workload *w, const struct workload_status *before,
		      const struct workload_status *after)
{
	struct workload_engine *e = ctx;

	if (e->leads) {
		workload_metrics_status(e->metrics, workload_cache_forest(e->cache), w, before,
					after);
	}
}

static void on_bad_object(void *ctx, enum sched_resource r, struct str key, const char *text)
{
	struct workload_engine *e = ctx;

	e->opt.on_bad_object(e->opt.ctx, r, key, text);
}

struct workload_engine *workload_engine_create(const struct workload_engine_options *opt)
{
	struct workload_engine *e = xmalloc_zero(1, sizeof(*e));
	struct workload_cache_listener listener = { .on_object = on_object,
						    .on_workload = on_workload,
						    .on_status = on_status,
						    .on_written = on_written,
						    .on_bad_object = on_bad_object,
						    .ctx = e };

	struct reconciler_options lo = { .conf = opt->conf,
					 .base = opt->base,
					 .recorder = opt->recorder,
					 .on_events = add_events,
					 .read = read_workload,
					 .ctx = e };

	e->opt = *opt;
	e->opt.base = NULL;
	e->clock = opt->base->clock;
	e->cache = workload_cache_create(opt->conf, &listener);
	e->metrics = metric_families_create(opt->counters, &opt->conf->metrics, opt->role);
	lo.cache = e->cache;
	lo.metrics = e->metrics;
	e->reconciler = reconciler_create(&lo);
	e->cycle = admission_cycle_create(workload_cache_forest(e->cache));
	e->deferred = deferred_reasons_create();
	e->events = pending_events_create(opt->recorder);
	e->writer = status_writer_create(opt->base, opt->post);
	e->refresh = queue_refresh_create(opt->base, opt->post, e->cache, e->metrics);
	e->finalizers = finalizers_create(opt->base, opt->post);
	e->reread = workload_reread_create(opt->base, opt->post);
	e->gate_fields = gate_fields_create(opt->base, NULL, opt->post);
	if (opt->costs) {
		e->costs = preemption_cost_create(opt->base, opt->recorder, opt->post);
	}
	e->unanswered = metric_cell(
		metric_register(opt->counters, "headgate_workload_writes_unanswered",
				"Writes of Workload statuses that wait or are in flight",
				METRIC_GAUGE, NULL),
		NULL);
	return e;
}

void workload_engine_destroy(struct workload_engine *e)
{
	if (e == NULL) {
		return;
	}
	/* Borrowers go first: the cycle has the forest of the cache, others the cache and the
	 * metrics. */
	reconciler_destroy(e->reconciler);
	status_writer_destroy(e->writer);
	queue_refresh_destroy(e->refresh);
	finalizers_destroy(e->finalizers);
	workload_reread_destroy(e->reread);
	gate_fields_destroy(e->gate_fields);
	preemption_cost_destroy(e->costs);
	admission_cycle_destroy(e->cycle);
	deferred_reasons_destroy(e->deferred);
	workload_cache_destroy(e->cache);
	metric_families_destroy(e->metrics);
	pending_events_destroy(e->events);
	free(e);
}

/* Outcomes of statuses of Workloads are the cache's, which is given every message. */
static void handle_done(struct workload_engine *e, const struct sched_msg *m)
{
	if (m->request == SCHED_REQ_QUOTA_FINALIZER) {
		finalizers_done(e->finalizers, m);
	} else if (m->request == SCHED_REQ_PREEMPTION_COST && e->costs != NULL) {
		preemption_cost_done(e->costs, m, clock_mono(e->clock));
	} else if (m->request == SCHED_REQ_QUOTA_STATUS) {
		queue_refresh_done(e->refresh, m);
	}
}

/* Removes the gauges when leadership is lost: they would contradict those of the next leader. */
static void handle_lease(struct workload_engine *e, bool leads)
{
	if (e->leads && !leads) {
		metric_families_begin(e->metrics);
		metric_families_end(e->metrics);
	}
	e->leads = leads;
	/* A new leader sets gauges and statuses although nothing has changed for it. */
	queue_refresh_changed(e->refresh);
}

/* Gates that were read before are written again, with the fields that the API server has. */
static void handle_gate_fields(struct workload_engine *e, unsigned served)
{
	const struct quota_model *q = workload_cache_model(e->cache);

	if (served == 0) {
		gate_fields_unknown(e->gate_fields);
		return;
	}
	workload_cache_serve_gates(e->cache, served);
	for (size_t i = 0; i < q->workloads.n; i++) {
		if (q->workloads.v[i] != NULL && q->workloads.v[i]->object.gates != NULL) {
			reconciler_touch(e->reconciler, str_of(q->workloads.v[i]->key));
		}
	}
}

void workload_engine_handle(struct workload_engine *e, struct sched_msg *m)
{
	if (m->kind == SCHED_MSG_REQUEST_DONE) {
		handle_done(e, m);
	} else if (m->kind == SCHED_MSG_LEASE) {
		handle_lease(e, m->flag);
	} else if (m->kind == SCHED_MSG_GATE_FIELDS) {
		handle_gate_fields(e, m->gate_fields);
	}
	if (m->kind == SCHED_MSG_SYNCED) {
		e->synced[m->resource] = true;
	} else if ((m->resource == SCHED_PRIORITY_CLASSES || m->resource == SCHED_PODS) &&
		   (m->kind == SCHED_MSG_UPSERT || m->kind == SCHED_MSG_DELETE)) {
		/* The cache takes neither kind, so on_object is not called for them. */
		owner_controller_object(reconciler_owners(e->reconciler), m);
	}
	workload_cache_apply(e->cache, m, clock_wall(e->clock));
}

/* --- cycles ------------------------------------------------------------------------------------*/

static void write_decision(struct workload_engine *e, const struct admission_decision *d,
			   int64_t now)
{
	const struct quota_model *q = workload_cache_model(e->cache);
	const struct workload *w = q->workloads.v[d->workload];
	struct workload_status_events events = { NULL, 0, 0 };

	workload_status_decide(workload_cache_edit(e->cache, w), q, d, now, &events);
	pending_events_add(e->events, q, w, &events);
	(void)workload_cache_commit(e->cache, w);
	vec_finish(&events);
}

/* Defers the reason for which a Workload waits, unless a client is to act upon it. */
static void write_or_defer(struct workload_engine *e, const struct admission_decision *d,
			   int64_t now)
{
	const struct workload *w = workload_cache_model(e->cache)->workloads.v[d->workload];

	if (d->kind == QUOTA_DECIDE_PENDING && d->status != ENTRY_GATED) {
		deferred_reasons_put(e->deferred, d, clock_mono(e->clock));
		return;
	}
	if (d->kind == QUOTA_DECIDE_ADMIT) {
		/* Kept, an old reason could be written after an eviction, when the Workload waits
		 * again. */
		deferred_reasons_drop(e->deferred, d->workload);
	}
	write_decision(e, d, now);
	if (d->kind == QUOTA_DECIDE_ADMIT || (d->kind == QUOTA_DECIDE_PREEMPT && !d->ongoing)) {
		/* More goes with the same write: after an admission that its job is not ready,
		 * after a preemption the reservation, where no job has to stop. */
		reconciler_touch(e->reconciler, str_of(w->key));
	}
}

static bool waits(const struct workload_engine *e, const struct workload *w)
{
	return w->pending.queue != MODEL_NONE && pending_is_admissible(w) &&
	       pending_is_active(workload_cache_forest(e->cache),
				 workload_cache_model(e->cache)->nodes.v[w->pending.queue]);
}

/* Writes deferred reasons. Returns the monotonic time at which the next one may be written. */
static int64_t explain(struct workload_engine *e, int64_t mono, int64_t wall)
{
	bool busy = pool_waiting(status_writer_pool(e->writer)) > 0;
	const struct quota_model *q = workload_cache_model(e->cache);
	struct admission_decision d;

	while (deferred_reasons_next(e->deferred, busy, mono, &d)) {
		if (waits(e, q->workloads.v[d.workload])) {
			write_decision(e, &d, wall);
		}
	}
	return deferred_reasons_due(e->deferred, busy);
}

/* Only one in the heap is tried again by itself: the position of an inadmissible one is kept for
 * the time when something changes. */
static bool has_untried(const struct admission_decision *d, const struct workload *w)
{
	for (size_t i = 0; i < w->pending.tried.n && d->where == QUOTA_HEAP; i++) {
		if (w->pending.tried.v[i].flavor >= 0) {
			return true;
		}
	}
	return false;
}

/* Whether another cycle would decide anything else although nothing changes meanwhile: quota was
 * given or taken, a head made room for the next one, or has flavors to look at. */
static bool is_progress(const struct quota_model *q, const struct admission_decision *d)
{
	switch (d->kind) {
	case QUOTA_DECIDE_ADMIT:
		return true;
	case QUOTA_DECIDE_PREEMPT:
		return !d->ongoing;
	case QUOTA_DECIDE_PENDING:
		return d->where != QUOTA_HEAP || has_untried(d, q->workloads.v[d->workload]);
	}
	return false;
}

static bool has_heads(const struct workload_engine *e)
{
	const struct quota_model *q = workload_cache_model(e->cache);

	for (size_t i = 0; i < q->nodes.n; i++) {
		const struct quota_node *n = q->nodes.v[i];

		if (n != NULL && n->is_queue && n->queue->heap.n > 0 &&
		    pending_is_active(workload_cache_forest(e->cache), n)) {
			return true;
		}
	}
	return false;
}

/* When the next cycle may begin; not later than mono: now. */
static int64_t cycle_at(struct workload_engine *e, int64_t mono)
{
	size_t unanswered = pool_unanswered(status_writer_pool(e->writer));
	int64_t at = cycle_pace_next(&e->pace, unanswered);

	metric_cell_set(e->unanswered, (double)unanswered);
	if (at > mono && !e->cycle_waits) {
		log_v(4, "next cycle waits", LOG_INT("writes", (int64_t)unanswered));
	}
	e->cycle_waits = at > mono;
	return at;
}

/* 1. The cycle decides. It changes the pending side of the model alone.
 * 2. Each decision becomes a status, or a reason to be written later. workload_cache_commit carries
 *    the status over to the flags of the Workload.
 * 3. Then quota follows: admission_apply needs those flags.
 * 4. A cycle without progress would be repeated with the same result: it is not, until something
 *    changes. */
static void run_cycle(struct workload_engine *e, int64_t now)
{
	struct forest *f = workload_cache_forest(e->cache);
	const struct quota_model *q = forest_model(f);
	int64_t from = clock_mono(e->clock);
	const struct admission_decisions *d = admission_cycle_run(e->cycle, now);
	bool progress = false;

	workload_metrics_cycle(e->metrics, q, d,
			       (double)(clock_mono(e->clock) - from) / (double)CLOCK_NS_PER_S);
	if (e->opt.on_admission != NULL) {
		e->opt.on_admission(e->opt.ctx, f, d);
	}
	for (size_t i = 0; i < d->n; i++) {
		write_or_defer(e, &d->v[i], now);
		progress |= is_progress(q, &d->v[i]);
	}
	for (size_t i = 0; i < d->n; i++) {
		admission_apply(f, &d->v[i]);
	}
	cycle_pace_cycle(&e->pace, from);
	e->dirty = progress;
	/* The cycle moved Workloads between heaps, which the cache does not count as a change. */
	queue_refresh_changed(e->refresh);
}

static void send_writes(struct workload_engine *e)
{
	struct workload_cache_write w;

	while (workload_cache_next_write(e->cache, &w)) {
		status_writer_send(e->writer, workload_cache_model(e->cache),
				   &(struct status_writer_request){
					   .workload = w.workload,
					   .status = w.status,
					   .before = w.before,
					   .resource_version = w.resource_version,
					   .version = w.version,
					   .refused = w.refused,
				   });
	}
}

static void read_again(struct workload_engine *e)
{
	const struct workload *w;

	while (workload_cache_next_unread(e->cache, &w)) {
		workload_reread_add(e->reread, str_of(w->key));
	}
}

/* Owners are managed when all objects that may own a Workload are known. */
static void start_owners(struct workload_engine *e)
{
	if (!e->owners_started && e->synced[SCHED_JOBS] && e->synced[SCHED_PODS] &&
	    e->synced[SCHED_PRIORITY_CLASSES]) {
		e->owners_started = true;
		owner_controller_synced(reconciler_owners(e->reconciler));
		owner_controller_hold_recheck(reconciler_owners(e->reconciler), e->opt.on_unheld,
					      e->opt.ctx);
	}
}

/* Returns the wall time at which something is due.
 * 1. Trees, queues and ends of backoffs are brought up to date, which all that follows reads.
 * 2. Workloads are reconciled before the cycle, which must know of evictions that are decided here.
 * 3. The cycle runs if something changed, a Workload waits, and the pace allows it. If the pace
 *    does not, `dirty` stays.
 * 4. Workloads that the cycle touched are reconciled in the same step, so that both go into one
 *    write. */
static int64_t decide(struct workload_engine *e, int64_t mono, int64_t wall)
{
	int64_t at = workload_cache_settle(e->cache, wall);
	int64_t next = reconciler_step(e->reconciler, wall);

	at = clock_earlier(at, workload_cache_sample(e->cache, wall));
	e->dirty |= workload_cache_take_dirty(e->cache);
	if (e->dirty && cycle_at(e, mono) <= mono) {
		if (has_heads(e)) {
			run_cycle(e, wall);
			next = reconciler_step(e->reconciler, wall);
		} else {
			e->dirty = false;
		}
	}
	return clock_earlier(at, next);
}

/* 1. Nothing is decided before everything is listed: the quota of a Workload that is not known yet
 *    would be given away.
 * 2. decide() changes statuses; after it, reasons that are old enough are put into statuses, too.
 * 3. Only then are writes handed out: a Workload that was changed several times has one write.
 * 4. Finalizers, statuses of queues and costs come last: no Workload waits for them. */
int64_t workload_engine_step(struct workload_engine *e)
{
	int64_t mono = clock_mono(e->clock), wall = clock_wall(e->clock), due = CLOCK_NEVER, at;

	if (!workload_cache_is_synced(e->cache)) {
		return CLOCK_NEVER;
	}
	start_owners(e);
	at = decide(e, mono, wall);
	/* Times in objects are wall times, the caller waits by the monotonic clock. */
	if (at != INT64_MAX) {
		due = mono + (at > wall ? at - wall : 0);
	}
	due = clock_earlier(due, explain(e, mono, wall));
	send_writes(e);
	read_again(e);
	finalizers_run(e->finalizers, workload_cache_model(e->cache));
	due = clock_earlier(due, queue_refresh_step(e->refresh));
	if (e->costs != NULL) {
		due = clock_earlier(due,
				    preemption_cost_run(e->costs, workload_cache_model(e->cache),
							workload_cache_specs(e->cache), mono));
	}
	if (e->dirty) {
		at = cycle_at(e, mono);
		due = clock_earlier(due, clock_later(at, mono));
	}
	return due;
}

bool workload_engine_holds(struct workload_engine *e, const struct api_pod *pod)
{
	return owner_controller_hold(reconciler_owners(e->reconciler), pod);
}

size_t workload_engine_pools(struct workload_engine *e, struct pool **out, size_t max)
{
	size_t n = 0;

	if (n < max) {
		out[n++] = status_writer_pool(e->writer);
	}
	if (n < max) {
		out[n++] = queue_refresh_pool(e->refresh);
	}
	if (n < max) {
		out[n++] = finalizers_pool(e->finalizers);
	}
	if (n < max) {
		out[n++] = workload_reread_pool(e->reread);
	}
	if (e->costs != NULL && n < max) {
		out[n++] = preemption_cost_pool(e->costs);
	}
	n += reconciler_pools(e->reconciler, out + n, max - n);
	if (n < max) {
		out[n++] = gate_fields_pool(e->gate_fields);
	}
	return n;
}

const struct owner_controller *workload_engine_owners(const struct workload_engine *e)
{
	return reconciler_owners(e->reconciler);
}

struct workload_cache *workload_engine_cache(struct workload_engine *e)
{
	return e->cache;
}
