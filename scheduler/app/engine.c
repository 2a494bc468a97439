#include "scheduler/app/engine.h"

#include <stdlib.h>

#include "api/core/pod.h"
#include "api/kinds.h"
#include "api/volcano/keys.h"
#include "api/volcano/scheduling.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/intern.h"
#include "kube/pool.h"
#include "kube/recorder.h"
#include "process/log.h"
#include "scheduler/pods/conf/conf.h"
#include "scheduler/pods/cycle/cycle.h"
#include "scheduler/pods/dump/dump.h"
#include "scheduler/pods/engine/foreign.h"
#include "scheduler/pods/engine/orphans.h"
#include "scheduler/pods/engine/sched_metrics.h"
#include "scheduler/pods/engine/write_event.h"
#include "scheduler/pods/ingest/cache.h"
#include "scheduler/pods/ledger/totals.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/writes/exec.h"
#include "scheduler/pods/writes/podgroup_controller.h"
#include "scheduler/pods/writes/queue_controller.h"
#include "scheduler/workloads/dump/manifest_dump.h"
#include "scheduler/workloads/engine/workload_engine.h"

#define CONTROLLERS_INTERVAL_NS CLOCK_NS_PER_S
#define EXEC_SEEDS 100 /* more than exec has pools: each has a seed of its own */

struct engine {
	struct engine_options opt;
	struct sched_conf *conf;
	struct cache *cache;
	const struct cluster *
		cluster; /* the cache's cluster; topology may be stale while a message is applied */
	struct cycle *cycle;
	struct exec *exec;
	struct queue_controller *queues;       /* NULL: controller off */
	struct podgroup_controller *podgroups; /* NULL: controller off */
	struct workload_engine *quota;         /* NULL: it does not run */
	struct sched_metrics *metrics;
	struct foreign *foreign;
	struct orphans *orphans;
	struct VEC(struct queue_totals) totals;
	struct engine_state state;
	bool leading, rebuilt, changed; /* changed: since the controllers last ran */
	int64_t writes_from;            /* monotonic ns */
	int64_t next_cycle_at, next_period_at, next_timer_at, next_controllers_at; /* likewise */
	int64_t began_wall;  /* wall time at monotonic time 0, as it was when the process began */
	int64_t phase_since; /* of the trace */
};

/* The time of the model: runs as steadily as the monotonic clock, and is near the wall time for
 * readers of messages. */
static struct cache_time time_of(const struct engine *e)
{
	return (struct cache_time){ .now = e->began_wall + clock_mono(e->opt.clock),
				    .wall = clock_wall(e->opt.clock) };
}

/* Also a pod that was created on its node: without a PodGroup it would be charged to no queue. */
static bool needs_podgroup(const struct task *t)
{
	return (t->flags & TASK_OURS) != 0 && t->podgroup == MODEL_NONE &&
	       t->status != TASK_SUCCEEDED && t->status != TASK_FAILED &&
	       t->status != TASK_RELEASING;
}

static void on_pod(void *ctx, const struct task *t, const void *object)
{
	struct engine *e = ctx;
	const struct api_pod *pod = object;
	const struct api_owner *owner;
	struct podgroup_controller_pod seen;

	orphans_pod_upserted(e->orphans, e->cluster, t, clock_mono(e->opt.clock));
	/* A standby writes nothing. Its engine gets all pods when it begins to lead. */
	if (e->podgroups == NULL || !e->leading || !needs_podgroup(t)) {
		return;
	}
	owner = meta_controller(&pod->meta);
	seen = (struct podgroup_controller_pod){
		.queue = field_map_get(&pod->meta.annotations, KEYS_QUEUE_NAME),
		.min_member = field_map_get(&pod->meta.annotations, KEYS_GROUP_MIN_MEMBER),
		.priority_class = pod->spec.priority_class_name,
		.owner_api_version = owner == NULL ? NULL : owner->api_version,
		.owner_kind = owner == NULL ? NULL : owner->kind,
		.owner_name = owner == NULL ? NULL : owner->name,
		.owner_uid = owner == NULL ? NULL : owner->uid,
	};
	podgroup_controller_pod(e->podgroups, cache_cluster(e->cache), t, &seen);
}

static void on_pod_gone(void *ctx, const struct task *t)
{
	struct engine *e = ctx;

	orphans_pod_deleted(e->orphans, t);
}

static const char *name_of(const struct cluster *c, uint32_t id)
{
	return id == MODEL_NONE ? NULL : intern_str(c->names, id).p;
}

/* Its pods do not name it, so that nothing but their UID says which PodGroup they need; no change
 * of theirs would bring them here. */
static void replace_podgroup(struct engine *e, const struct podgroup *g)
{
	const struct cluster *c = cache_cluster(e->cache);
	const struct podgroup_controller_pod seen = {
		.queue = name_of(c, g->queue_name),
		.priority_class = name_of(c, g->priority_class),
	};

	for (size_t i = 0; e->podgroups != NULL && e->leading && i < g->tasks.n; i++) {
		const struct task *t = c->tasks.v[g->tasks.v[i]];

		if ((t->flags & TASK_ADOPTED) != 0 && t->status == TASK_PENDING) {
			podgroup_controller_pod(e->podgroups, c, t, &seen);
		}
	}
}

/* The process that wrote the condition of an adopted pod may have ended before it wrote the
 * annotation (annotate_adopted), and an equal condition is not decided again. */
static void annotate_waiting(struct engine *e, const struct podgroup *g)
{
	const struct cluster *c = cache_cluster(e->cache);

	for (size_t i = 0; e->podgroups != NULL && e->leading && i < g->tasks.n; i++) {
		const struct task *t = c->tasks.v[g->tasks.v[i]];

		if ((t->flags & TASK_ADOPTED) != 0 && t->status == TASK_PENDING &&
		    t->cond != POD_COND_NONE) {
			podgroup_controller_annotate(e->podgroups, t, g->name);
		}
	}
}

static void on_podgroup(void *ctx, const struct podgroup *g, const void *object)
{
	struct engine *e = ctx;

	if (object != NULL) {
		annotate_waiting(e, g);
	} else {
		orphans_podgroup_deleted(e->orphans, e->cluster, g, clock_mono(e->opt.clock));
		replace_podgroup(e, g);
	}
}

static void on_queue(void *ctx, const struct queue *q, const void *object)
{
	struct engine *e = ctx;
	const struct api_queue *seen_object = object;
	struct queue_seen seen;

	if (e->queues == NULL) {
		return;
	}
	if (seen_object == NULL) {
		queue_controller_queue_deleted(e->queues, str_of(q->name));
		return;
	}
	seen = (struct queue_seen){
		.version = meta_version(&seen_object->meta),
		.state = seen_object->status.state == NULL ? "" : seen_object->status.state,
		.has_parent = seen_object->spec.parent != NULL,
		.closed_by_parent = str_streq(
			field_map_get(&seen_object->meta.annotations, KEYS_CLOSED_BY_PARENT),
			"true"),
	};
	queue_controller_queue_changed(e->queues, str_of(q->name), &seen);
}

static void on_bad_object(void *ctx, enum sched_resource r, struct str key, const char *text)
{
	struct engine *e = ctx;
	struct str rest = key, first = str_next(&rest, '/');
	bool namespaced = rest.p != NULL;
	CLEANUP(xmalloc_freep) char *space = namespaced ? xmalloc_dup_n(first.p, first.len) : NULL;
	CLEANUP(xmalloc_freep)
	char *name = namespaced ? xmalloc_dup_n(rest.p, rest.len) : xmalloc_dup_n(key.p, key.len);
	const struct kinds_row *names = sched_kinds_names(r);
	char version[KINDS_API_VERSION_MAX];
	struct recorder_object about = { .api_version = kinds_api_version(names, version),
					 .kind = names->kind,
					 .name = name,
					 .namespace_ = space };

	log_warn("object cannot be read", LOG_STR("resource", sched_kinds_label(r)),
		 LOG_SLICE("key", key), LOG_STR("error", text));
	sched_metrics_bad_object(e->metrics, sched_kinds_label(r));
	/* All replicas read the same object: the leader's event is enough. */
	if (e->leading) {
		recorder_event(exec_recorder(e->exec), &about, true, "InvalidObject", text);
	}
}

#define RESOURCES_MANY (RES_NAMES_MAX / 4 * 3)

static void on_resources(void *ctx UNUSED, unsigned counted, size_t left_out)
{
	if (left_out > 0) {
		log_error(
			"nodes and Queues have more resources than are counted: the last ones are "
			"left out, pods that ask for them stay pending",
			LOG_INT("counted", counted), LOG_INT("leftOut", (int64_t)left_out));
	} else if (counted >= RESOURCES_MANY) {
		log_warn("nodes and Queues have almost as many resources as can be counted",
			 LOG_INT("counted", counted), LOG_INT("limit", RES_NAMES_MAX));
	}
}

/* Binds by others are reported only after the first rebuild, and only while leading. */
static void on_foreign_bind(void *ctx, const struct task *t, const char *node)
{
	struct engine *e = ctx;

	if (e->leading && e->rebuilt) {
		foreign_bind(e->foreign, exec_recorder(e->exec), t, node, clock_wall(e->opt.clock));
	}
}

/* If our PodGroup controller is off, other programs create PodGroups. */
static void on_foreign_podgroup(void *ctx, const struct podgroup *g)
{
	struct engine *e = ctx;

	if (e->leading && e->rebuilt && e->podgroups != NULL) {
		foreign_podgroup(e->foreign, exec_recorder(e->exec), g, clock_wall(e->opt.clock));
	}
}

/* The Workload engine holds the quota of such a pod, in a ClusterQueue: a pod is charged once. */
static bool is_charged_to_workload(void *ctx, const void *pod_object)
{
	struct engine *e = ctx;

	return e->quota != NULL && workload_engine_holds(e->quota, pod_object);
}

static void on_admission(void *ctx, const struct forest *f, const struct admission_decisions *d)
{
	const struct engine *e = ctx;

	if (e->opt.on_admission != NULL) {
		e->opt.on_admission(e->opt.ctx, f, d);
	}
}

/* While the first lists came in, the Workload engine could not know that nothing holds quota for
 * the pod. */
static void on_unheld(void *ctx, struct str key)
{
	struct engine *e = ctx;

	cache_pod_here(e->cache, key);
}

/* The old cycle goes only when the new one is made, so that a broken configuration changes nothing.
 * Plugins keep nothing that a new one could not derive again. */
static int make_cycle(struct engine *e, struct sched_conf *conf, struct err *err)
{
	struct cycle *cycle = NULL;
	int r = cycle_create(conf, &cycle, err);

	if (r == 0 && e->cache != NULL && cycle_needs_budgets(cycle) &&
	    e->cluster->budget_index == NULL) {
		r = err_set(
			err, ERR_INVALID,
			"plugin pdb: needs a restart: PodDisruptionBudgets, and labels of pods, "
			"are read from the start");
	}
	if (r < 0) {
		cycle_destroy(cycle);
		return r;
	}
	cycle_destroy(e->cycle);
	conf_destroy(e->conf);
	e->cycle = cycle;
	e->conf = conf;
	return 0;
}

static void make_controllers(struct engine *e, const struct pool_options *po)
{
	const struct engine_options *opt = &e->opt;

	if (opt->controllers_queue) {
		e->queues = queue_controller_create(po, opt->default_queue, opt->post);
	}
	if (opt->controllers_podgroup) {
		e->podgroups =
			podgroup_controller_create(po, opt->default_queue, exec_recorder(e->exec));
	}
	if (opt->kueue_conf != NULL) {
		struct workload_engine_options qo = { .conf = opt->kueue_conf,
						      .base = po,
						      .counters = opt->counters,
						      .role = opt->standalone ? "standalone"
									      : "leader",
						      .recorder = exec_recorder(e->exec),
						      .post = opt->post,
						      .costs = opt->controllers_cost,
						      .on_unheld = on_unheld,
						      .on_bad_object = on_bad_object,
						      .on_admission = on_admission,
						      .ctx = e };

		e->quota = workload_engine_create(&qo);
	}
}

static struct cache_listener listener(struct engine *e)
{
	return (struct cache_listener){
		.on_pod = on_pod,
		.on_pod_gone = on_pod_gone,
		.on_podgroup = on_podgroup,
		.on_queue = on_queue,
		.on_foreign_bind = on_foreign_bind,
		.on_foreign_podgroup = on_foreign_podgroup,
		.is_charged_to_workload = is_charged_to_workload,
		.on_resources = on_resources,
		.on_bad_object = on_bad_object,
		.ctx = e,
	};
}

int engine_create(const struct engine_options *opt, struct sched_conf *conf_take,
		  struct engine **ret, struct err *err)
{
	struct engine *e = xmalloc_zero(1, sizeof(*e));
	struct pool_options po = {
		.transport = opt->transport,
		.clock = opt->clock,
		.limiter = opt->limiter,
		.workers = opt->manual ? 0 : 1,
		.timeout_ns = opt->request_timeout_ns,
		.backoff_min_ns = POOL_BACKOFF_MIN_NS,
		.backoff_max_ns = POOL_BACKOFF_MAX_NS,
		.seed = opt->seed,
		.may_send = opt->may_send,
		.ctx = opt->ctx,
	};
	struct cache_options co = {
		.scheduler_names = opt->scheduler_names,
		.gate_schedulers = opt->gate_schedulers,
		.default_queue = opt->default_queue,
		.annotation_decides = !conf_take->gate_sticky,
		/* Where another program makes PodGroups, pods wait for them. */
		.implies_podgroups = opt->controllers_podgroup && !opt->podgroup_per_pod,
		.found_age_max_ns = conf_take->reservation_timeout_ns / 2,
		.attempt_least_ns = conf_take->reservation_backoff_ns,
		.attempt_held_ns = conf_take->reservation_timeout_ns,
		.counters = opt->counters,
		.listener = listener(e),
	};
	int r = make_cycle(e, conf_take, err);

	if (r < 0) {
		free(e);
		return r;
	}
	e->opt = *opt;
	co.reads_budgets = cycle_needs_budgets(e->cycle);
	e->next_timer_at = CLOCK_NEVER;
	e->began_wall = clock_wall(opt->clock) - clock_mono(opt->clock);
	e->writes_from = CLOCK_NEVER;
	e->metrics = sched_metrics_create(opt->counters);
	e->foreign = foreign_create(opt->counters);
	e->orphans = orphans_create();
	e->cache = cache_create(&co);
	e->cluster = cache_cluster(e->cache);
	e->exec = exec_create(&po, opt->gate_workers, opt->scheduler_names[0], opt->post);
	po.seed += EXEC_SEEDS;
	make_controllers(e, &po);
	*ret = e;
	return 0;
}

void engine_destroy(struct engine *e)
{
	if (e == NULL) {
		return;
	}
	/* The controllers and the Workload engine use the recorder, which exec owns. */
	podgroup_controller_destroy(e->podgroups);
	workload_engine_destroy(e->quota);
	exec_destroy(e->exec);
	queue_controller_destroy(e->queues);
	cycle_destroy(e->cycle);
	cache_destroy(e->cache);
	sched_metrics_destroy(e->metrics);
	foreign_destroy(e->foreign);
	orphans_destroy(e->orphans);
	conf_destroy(e->conf);
	vec_finish(&e->totals);
	free(e);
}

static void handle_conf(struct engine *e, struct sched_msg *m)
{
	struct err err = ERR_INIT;
	int r = m->conf == NULL ? err_set(&err, ERR_INVALID, "%s", m->text)
				: make_cycle(e, m->conf, &err);

	sched_metrics_conf(e->metrics, r == 0);
	if (r < 0) {
		log_error("configuration rejected, the old one stays in use",
			  LOG_STR("error", err.text));
		conf_destroy(m->conf);
	} else {
		log_info("configuration reloaded");
		/* A new generation of the topology makes all queues due: they were looked at under
		 * the old configuration. */
		(void)queue_topology_changed(cache_cluster(e->cache));
		e->changed = true;
		e->next_cycle_at = 0;
	}
	m->conf = NULL;
}

static void handle_request_done(struct engine *e, const struct sched_msg *m)
{
	sched_metrics_request(e->metrics, m);
	if (m->outcome == SCHED_REJECTED) {
		log_warn("write refused", LOG_SLICE("object", m->key), LOG_INT("status", m->status),
			 LOG_STR("error", m->text));
	}
	/* Their key names no pod and no PodGroup; the Workload engine has had the message already.
	 */
	if (m->request == SCHED_REQ_WORKLOAD || m->request == SCHED_REQ_QUOTA_STATUS ||
	    m->request == SCHED_REQ_QUOTA_FINALIZER || m->request == SCHED_REQ_PREEMPTION_COST) {
		return;
	}
	if (m->request == SCHED_REQ_QUEUE && e->queues != NULL) {
		queue_controller_request_done(e->queues, m);
	}
	write_event_record(exec_recorder(e->exec), cache_cluster(e->cache), m);
	cache_apply(e->cache, m, time_of(e));
}

static void handle_snapshot(struct engine *e, const struct sched_msg *m)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	dump_format(cache_cluster(e->cache), &text);
	m->reply(m->ctx, "cluster", strbuf_str(&text));
	if (e->quota != NULL) {
		strbuf_reset(&text);
		manifest_dump_cache(workload_engine_cache(e->quota),
				    workload_engine_owners(e->quota), &text);
		m->reply(m->ctx, "quota", strbuf_str(&text));
	}
}

/* Writes of controllers and of the recorder wait until the new leader may write. */
static void hold_writes(struct engine *e, int64_t until)
{
	struct pool *pools[ENGINE_MAX_POOLS];
	size_t n = engine_pools(e, pools, ENGINE_MAX_POOLS);

	for (size_t i = 0; i < n; i++) {
		pool_hold_until(pools[i], until);
	}
}

void engine_handle(struct engine *e, struct sched_msg *msg_take)
{
	struct sched_msg *m = msg_take;

	/* The Workload engine goes first: when the cache applies a pod, it asks whether a Workload
	 * holds quota for it. */
	if (e->quota != NULL) {
		workload_engine_handle(e->quota, m);
	}
	switch (m->kind) {
	case SCHED_MSG_LEASE:
		e->leading = m->flag;
		/* A former leader has written since: charges are rebuilt from what the pods show
		 * now. */
		e->rebuilt = false;
		e->writes_from = m->not_before;
		atomic_store(&e->state.leading, m->flag);
		if (m->flag) {
			hold_writes(e, m->not_before);
		}
		break;
	case SCHED_MSG_CONF:
		handle_conf(e, m);
		break;
	case SCHED_MSG_SNAPSHOT:
		handle_snapshot(e, m);
		break;
	case SCHED_MSG_REQUEST_DONE:
		handle_request_done(e, m);
		break;
	case SCHED_MSG_UPSERT:
	case SCHED_MSG_DELETE:
	case SCHED_MSG_BAD_OBJECT:
	case SCHED_MSG_SYNCED:
		if ((sched_kinds_get(m->resource)->wings & SCHED_WING_PODS) != 0 ||
		    m->kind == SCHED_MSG_BAD_OBJECT) {
			cache_apply(e->cache, m, time_of(e));
		}
		break;
	case SCHED_MSG_REFRESHED:
	case SCHED_MSG_GATE_FIELDS:
	case SCHED_MSG_WATCH:
	case SCHED_MSG_RESOURCE:
	case SCHED_MSG_SURVEY:
	case SCHED_MSG_STOP:
	case SCHED_MSG_KIND_COUNT_:
		break;
	}
	message_free(m);
}

static void on_phase(void *ctx, const char *name, bool begin)
{
	struct engine *e = ctx;
	int64_t now = clock_mono(e->opt.clock);

	if (begin) {
		e->phase_since = now;
	} else {
		sched_metrics_action(e->metrics, name, now - e->phase_since);
	}
}

/* Adopted pods that are not bound now may wait for long: write the annotation that names their
 * PodGroup for users to see. */
static void annotate_adopted(struct engine *e, const struct cluster *c,
			     const struct decisions *list)
{
	for (size_t i = 0; e->podgroups != NULL && i < list->n; i++) {
		const struct decision *d = &list->v[i];
		const struct task *t = d->task == MODEL_NONE ? NULL : c->tasks.v[d->task];

		if (t != NULL && (t->flags & TASK_ADOPTED) != 0 && d->kind == DECISION_CONDITION) {
			podgroup_controller_annotate(e->podgroups, t,
						     c->podgroups.v[t->podgroup]->name);
		}
	}
}

static void run_cycle(struct engine *e)
{
	struct cluster *c = cache_cluster(e->cache);
	int64_t began = clock_mono(e->opt.clock);
	struct cache_time time = time_of(e);
	struct cycle_trace trace = { on_phase, e };
	const struct decisions *d;
	struct cycle_stats stats;

	/* 0 means that no cycle runs. */
	atomic_store(&e->state.cycle_since, began == 0 ? 1 : began);
	d = cycle_run(e->cycle, c, time.now, &trace);
	if (e->opt.on_decided != NULL) {
		e->opt.on_decided(e->opt.ctx, c, d);
	}
	cycle_assume(c, d, time.now);
	stats = cycle_last_stats(e->cycle);
	/* The cycle's time is the wall time at which the process began and what has passed
	 * since; the timers here are monotonic. */
	e->next_timer_at =
		stats.next_timer == INT64_MAX ? CLOCK_NEVER : stats.next_timer - e->began_wall;
	sched_metrics_decisions(e->metrics, c, d, time.wall);
	if (e->opt.on_decisions != NULL) {
		e->opt.on_decisions(e->opt.ctx, c, d);
	}
	exec_decisions(e->exec, c, d, time.wall);
	annotate_adopted(e, c, d);
	atomic_store(&e->state.has_quota_plugin, stats.has_quota_plugin);
	atomic_store(&e->state.cycle_since, 0);
	sched_metrics_cycle(e->metrics, clock_mono(e->opt.clock) - began);
	sched_metrics_events_dropped(e->metrics, recorder_dropped(exec_recorder(e->exec)));
	e->changed |= d->n > 0;
}

static void run_controllers(struct engine *e)
{
	struct cluster *c = cache_cluster(e->cache);

	/* The sums cost a walk over all tasks, and the statuses of queues need not be newer than a
	 * second: so controllers have an interval of their own. */
	vec_reserve(&e->totals, c->queues.n + 1);
	totals_compute(c, e->totals.v);
	sched_metrics_totals(e->metrics, c, e->totals.v);
	if (e->queues != NULL) {
		queue_controller_run(e->queues, c, e->totals.v);
	}
	e->changed = false;
}

/* Runs the pod cycle if it is due. Returns the time of the next one.
 * 1. A new leader rebuilds the ledger first: nothing is decided on charges of an earlier term.
 * 2. Events about missing PodGroups, and PodGroups to be made again, when they are due.
 * 3. A cycle when something has changed, a timer is due, or the period is over; but min_interval_ns
 *    after the last one, so that a burst of messages is one cycle.
 * 4. The controllers, if something has changed, in an interval of their own. */
static int64_t step_pods(struct engine *e, int64_t now)
{
	int64_t due;

	if (!e->rebuilt) {
		cache_rebuild_ledger(e->cache, clock_wall(e->opt.clock));
		e->rebuilt = true;
		e->changed = true;
		e->next_period_at = now;
	}
	orphans_record_due(e->orphans, cache_cluster(e->cache), exec_recorder(e->exec), now);
	if (e->podgroups != NULL) {
		podgroup_controller_ask_again(e->podgroups, cache_cluster(e->cache));
	}
	if (cache_take_dirty(e->cache)) {
		e->changed = true;
		e->next_period_at = now;
	}
	due = clock_earlier(e->next_period_at, e->next_timer_at);
	if (due <= now && e->next_cycle_at <= now) {
		run_cycle(e);
		now = clock_mono(e->opt.clock);
		e->next_cycle_at = now + e->opt.min_interval_ns;
		e->next_period_at = now + e->opt.period_ns;
	}
	if (e->changed && e->next_controllers_at <= now) {
		run_controllers(e);
		e->next_controllers_at = now + CONTROLLERS_INTERVAL_NS;
	}
	due = clock_earlier(e->next_period_at, e->next_timer_at);
	due = due < e->next_cycle_at ? e->next_cycle_at : due;
	return e->changed ? clock_earlier(due, e->next_controllers_at) : due;
}

/* 1. A standby only shows that its thread lives.
 * 2. Until writes_from, a write of the former leader may still arrive: nothing is decided on what
 *    it may change.
 * 3. The Workload engine, which knows on its own which lists it needs.
 * 4. The pods, when all of their lists are complete: with a part of the pods, queues would seem to
 *    have room. */
int64_t engine_step(struct engine *e)
{
	int64_t now = clock_mono(e->opt.clock), quota;

	atomic_store(&e->state.heartbeat, now);
	atomic_store(&e->state.synced, cache_is_synced(e->cache));
	if (!e->leading) {
		return now + e->opt.period_ns;
	}
	if (now < e->writes_from) {
		return e->writes_from;
	}
	quota = e->quota == NULL ? CLOCK_NEVER : workload_engine_step(e->quota);
	return clock_earlier(quota, cache_is_synced(e->cache) ? step_pods(e, now)
							      : now + e->opt.period_ns);
}

const struct engine_state *engine_state(const struct engine *e)
{
	return &e->state;
}

struct foreign *engine_foreign(const struct engine *e)
{
	return e->foreign;
}

size_t engine_pools(struct engine *e, struct pool **out, size_t max)
{
	size_t n = exec_pools(e->exec, out, max);

	if (e->podgroups != NULL && n < max) {
		out[n++] = podgroup_controller_pool(e->podgroups);
	}
	if (e->queues != NULL && n < max) {
		out[n++] = queue_controller_pool(e->queues);
	}
	return e->quota == NULL ? n : n + workload_engine_pools(e->quota, out + n, max - n);
}

const struct cluster *engine_cluster(const struct engine *e)
{
	return cache_cluster(e->cache);
}

bool engine_reads_budgets(const struct engine *e)
{
	return e->cluster->budget_index != NULL;
}

struct workload_engine *engine_workloads(struct engine *e)
{
	return e->quota;
}

void engine_stop(struct engine *e, int64_t grace_ns)
{
	struct pool *pools[ENGINE_MAX_POOLS];
	size_t n = engine_pools(e, pools, ENGINE_MAX_POOLS);

	for (size_t i = 0; i < n; i++) {
		pool_stop(pools[i], grace_ns);
	}
}
