#include "sim/world/sim_scheduler.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "kube/lease.h"
#include "kube/pool.h"
#include "kube/reflector/reflector.h"
#include "lib/pods/configurations.h"
#include "lib/pods/invariants.h"
#include "obs/metric.h"
#include "scheduler/app/engine.h"
#include "scheduler/app/standby.h"
#include "scheduler/base/message_decode.h"
#include "scheduler/base/message_json.h"
#include "scheduler/pods/conf/conf.h"
#include "scheduler/pods/cycle/known_names.h"
#include "scheduler/pods/engine/foreign.h"
#include "scheduler/pods/ingest/cache.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/session/decision.h"
#include "scheduler/pods/values/pod_class.h"
#include "scheduler/workloads/engine/workload_engine.h"
#include "scheduler/workloads/ingest/workload_cache.h"
#include "sim/world/sim_model_dump.h"
#include "sim/world/sim_pod.h"
#include "sim/world/sim_transport.h"

#define MIN_INTERVAL_NS (5 * CLOCK_NS_PER_MS)
#define PERIOD_NS CLOCK_NS_PER_S
#define REQUEST_TIMEOUT_NS (5 * CLOCK_NS_PER_S)
#define MAX_STOP_STEPS 2000

struct watch {
	struct sim_scheduler *scheduler;
	enum sched_resource resource;
	struct reflector *reflector;
};

struct sim_scheduler {
	struct sim_world *world;
	struct sim_scheduler_options opt;
	struct sim_transport *watches, *requests;
	struct metric_registry *counters;
	struct engine *engine;
	struct lease *lease; /* NULL: alone */
	struct watch watch[SCHED_RESOURCE_COUNT_];
	unsigned nwatches;       /* the first of them are used */
	struct standby *standby; /* NULL: the engine gets the messages */
	struct VEC(struct sched_msg *) queue;
	size_t queue_at;
	struct VEC(uint32_t) charged; /* by task: queue before the decisions that are assumed now */
	struct strmap
		*bound; /* UID of a pod on a node -> queue of its charge after the last cycle */
	struct pool *pools[ENGINE_MAX_POOLS];
	size_t npools;
	int64_t due;        /* of the engine */
	int64_t began_wall; /* wall time at monotonic time 0, as the process found it */
	bool poked, paused, lost, decided;
};

/* The monotonic time of its machine. */
static int64_t now_of(const struct sim_scheduler *s)
{
	return clock_mono(&s->world->machine.base);
}

/* The same moment by the clock of the world. */
static int64_t in_world(const struct sim_scheduler *s, int64_t at)
{
	return at == CLOCK_NEVER ? at : at - s->world->machine.ahead_ns;
}

static void post(void *ctx, struct sched_msg *m)
{
	struct sim_scheduler *s = ctx;

	vec_push(&s->queue, m);
}

static bool may_send(void *ctx)
{
	const struct sim_scheduler *s = ctx;

	return s->lease == NULL || lease_may_send(s->lease);
}

static void on_event(void *ctx, const struct reflector_event *event)
{
	struct watch *w = ctx;
	struct sched_msg *m = message_decode_event(w->resource, event);

	if (m != NULL) {
		message_json_lend(m, event->object);
		post(w->scheduler, m);
	}
}

static void start_watches(void *ctx)
{
	struct sim_scheduler *s = ctx;

	if (!atomic_load(&sim_transport_base(s->watches)->stopping)) {
		for (unsigned i = 0; i < s->nwatches; i++) {
			reflector_start(s->watch[i].reflector);
		}
	}
}

static void refresh_watches(void *ctx)
{
	struct sim_scheduler *s = ctx;

	if (!atomic_load(&sim_transport_base(s->watches)->stopping)) {
		for (unsigned i = 0; i < s->nwatches; i++) {
			reflector_refresh(s->watch[i].reflector);
		}
	}
}

static void on_lease(void *ctx, bool held)
{
	struct sim_scheduler *s = ctx;
	struct sched_msg *m = message_new(SCHED_MSG_LEASE);
	int64_t wait;

	m->flag = held;
	m->not_before = s->lease == NULL ? 0 : lease_writes_from(s->lease);
	wait = m->not_before - now_of(s);
	post(s, m);
	sim_world_trace(s->world, "scheduler %u %s", s->opt.number, held ? "leads" : "lost");
	if (!held) {
		s->lost = true;
		return;
	}
	s->world->led_at = now_of(s);
	transport_call(sim_transport_base(s->watches), wait > 0 ? wait : 0, refresh_watches, s);
}

/* In the first cycle of a process, pods that an earlier process published are charged. */
static void check_rebuilt(struct sim_scheduler *s, const struct cluster *c)
{
	const uint32_t must = TASK_OURS | TASK_OPTED_IN | TASK_RESERVED_MARK;

	for (size_t i = 0; i < c->tasks.n; i++) {
		const struct task *t = c->tasks.v[i];

		if (t != NULL && (t->flags & must) == must && t->status == TASK_PENDING &&
		    t->cond == POD_COND_UNSCHEDULABLE && !t->klass->best_effort &&
		    t->podgroup != MODEL_NONE && c->podgroups.v[t->podgroup]->queue != MODEL_NONE &&
		    t->charge == CHARGE_NONE) {
			sim_world_fail(s->world, "restart: %s is published, but not charged",
				       t->name);
		}
	}
}

static void on_admission(void *ctx, const struct forest *f, const struct admission_decisions *d)
{
	const struct sim_scheduler *s = ctx;

	if (s->opt.on_admission != NULL) {
		s->opt.on_admission(s->opt.ctx, f, d);
	}
}

/* Only decisions move the charge of a pod on a node; edits of the pod or its PodGroup do not. */
static void check_bound(struct sim_scheduler *s, const struct cluster *c)
{
	for (size_t i = 0; i < c->tasks.n; i++) {
		const struct task *t = c->tasks.v[i];
		const char *was = t == NULL ? NULL : strmap_get(s->bound, str_of(t->uid));
		const struct queue *q = was == NULL ? NULL : queue_find(c, str_of(was));

		if (q != NULL && q->exists && t->charge == CHARGE_BOUND &&
		    t->charge_queue != q->id) {
			sim_world_fail(s->world,
				       "cluster: the charge of %s left queue %s without a decision",
				       t->name, was);
		}
	}
}

static void remember_bound(struct sim_scheduler *s, const struct cluster *c)
{
	strmap_clear(s->bound);
	for (size_t i = 0; i < c->tasks.n; i++) {
		const struct task *t = c->tasks.v[i];

		/* A charge to the default queue for want of a PodGroup follows the PodGroup. */
		if (t != NULL && t->charge == CHARGE_BOUND && (t->flags & TASK_STAND_IN) == 0) {
			strmap_set(s->bound, str_of(t->uid),
				   xmalloc_dup(c->queues.v[t->charge_queue]->name));
		}
	}
}

static void on_decided(void *ctx, const struct cluster *c, const struct decisions *d)
{
	struct sim_scheduler *s = ctx;
	const char *wrong = invariants_of_decisions(c, d);

	check_bound(s, c);
	s->charged.n = 0;
	for (size_t i = 0; i < c->tasks.n; i++) {
		const struct task *t = c->tasks.v[i];

		vec_push(&s->charged,
			 t == NULL || t->charge == CHARGE_NONE ? MODEL_NONE : t->charge_queue);
	}

	if (!s->decided) {
		check_rebuilt(s, c);
		s->decided = true;
	}
	if (s->opt.on_decided != NULL) {
		s->opt.on_decided(s->opt.ctx, c, d, sim_scheduler_now(s));
	}
	if (wrong != NULL) {
		sim_world_fail(s->world, "decisions: %s", wrong);
	}
}

/* The queue in which the pod is charged; without a charge, the queue of its PodGroup. */
static uint32_t queue_of(const struct cluster *c, const struct task *t)
{
	if (t->charge != CHARGE_NONE) {
		return t->charge_queue;
	}
	return t->podgroup == MODEL_NONE ? MODEL_NONE : c->podgroups.v[t->podgroup]->queue;
}

static bool occupies(const struct cluster *c, const struct task *t)
{
	/* One that awaits its victims is charged beside them. */
	if (t->charge == CHARGE_AWAITING_VICTIMS) {
		return false;
	}
	return t->charge != CHARGE_NONE ||
	       (t->node != MODEL_NONE &&
		(c->nodes.v[t->node]->exists || (t->flags & TASK_STARTED) != 0));
}

/* The usage of a queue, summed over pods on nodes, terminating or not, and pods with a charge. */
static int64_t in_use(const struct cluster *c, const struct queue *q, unsigned d)
{
	int64_t sum = 0;

	for (size_t i = 0; i < c->tasks.n; i++) {
		const struct task *t = c->tasks.v[i];

		if (t != NULL && (t->flags & TASK_OURS) != 0 && occupies(c, t) &&
		    queue_is_within(c, queue_of(c, t), q)) {
			sum += t->klass->request.v[d];
		}
	}
	return sum;
}

/* The part of in_use that pods without opt-in took by decisions from the nth on: terminating pods
 * do not count against them, as in Volcano. */
static int64_t taken_later(const struct cluster *c, const struct decisions *list, size_t n,
			   const struct queue *q, unsigned d)
{
	int64_t sum = 0;

	for (size_t i = n; i < list->n; i++) {
		const struct task *t =
			list->v[i].kind == DECISION_BIND ? c->tasks.v[list->v[i].task] : NULL;

		if (t != NULL && (t->flags & TASK_OPTED_IN) == 0 &&
		    queue_is_within(c, c->podgroups.v[t->podgroup]->queue, q)) {
			sum += t->klass->request.v[d];
		}
	}
	return sum;
}

/* The quota of a pod without a gate is given and taken back in one cycle when the cycle evicts
 * other pods of its gang: there is nothing to be written then. */
static bool is_taken_back(const struct decisions *list, size_t n)
{
	for (size_t i = n + 1; list->v[n].kind == DECISION_RESERVE && i < list->n; i++) {
		if (list->v[i].kind == DECISION_REVOKE && list->v[i].task == list->v[n].task) {
			return true;
		}
	}
	return false;
}

/* The charge of the nth decision is within the capability of its queue and of all ancestors that
 * did not have it before. */
static void check_charge(struct sim_scheduler *s, const struct cluster *c,
			 const struct decisions *list, size_t n)
{
	const struct task *t = c->tasks.v[list->v[n].task];
	const struct queue *q;

	if (t->charge == CHARGE_NONE) {
		if (!is_taken_back(list, n)) {
			sim_world_fail(s->world, "decisions: %s is ungated without a charge",
				       t->name);
		}
		return;
	}
	QUEUE_FOR_EACH_UP (q, c, t->charge_queue) {
		if (queue_is_within(c, s->charged.v[t->id], q)) {
			break;
		}
		for (uint32_t m = res_mask(&t->klass->request) & ~RES_FURTHER; m != 0; m &= m - 1) {
			unsigned d = (unsigned)__builtin_ctz(m);

			if (in_use(c, q, d) - taken_later(c, list, n, q, d) > q->capability.v[d]) {
				sim_world_fail(s->world,
					       "decisions: the charge of %s exceeds the capability "
					       "of queue %s",
					       t->name, q->name);
			}
		}
	}
}

static void on_assumed(void *ctx, const struct cluster *c, const struct decisions *d)
{
	struct sim_scheduler *s = ctx;
	const char *wrong = invariants_of_quota(c);

	if (wrong == NULL) {
		wrong = invariants_of_nodes(c, d);
	}
	if (wrong != NULL) {
		sim_world_fail(s->world, "decisions: %s", wrong);
	}
	for (size_t i = 0; i < d->n; i++) {
		const struct decision *e = &d->v[i];

		/* The rest of its gang may have lost the quota again in the same cycle. */
		bool moved = e->kind == DECISION_MOVE && c->tasks.v[e->task]->charge != CHARGE_NONE;

		if (moved || e->kind == DECISION_RESERVE ||
		    (e->kind == DECISION_UNGATE && !e->uncharged)) {
			check_charge(s, c, d, i);
		}
	}
	remember_bound(s, c);
}

static void check_cluster(struct sim_scheduler *s)
{
	const char *wrong = invariants_of_cluster(engine_cluster(s->engine));
	char foreign[400];

	if (foreign_describe(engine_foreign(s->engine), foreign, sizeof(foreign))) {
		sim_world_fail(s->world,
			       "foreign: no other program runs, but the scheduler reports: %s",
			       foreign);
	}
	if (wrong != NULL) {
		sim_world_fail(s->world, "cluster: %s", wrong);
	}
	if (engine_cluster(s->engine)->drift != 0) {
		sim_world_fail(s->world,
			       "cluster: a charge was released twice: the sum would be below zero");
	}
}

/* NULL: it does not load. */
static struct sched_conf *parse_conf(const char *text, struct err *err)
{
	const struct known_names_source from = { plugin_registry, plugin_registry_count,
						 action_registry, action_registry_count };
	struct conf_options co = { .warn = NULL };
	struct sched_conf *conf = NULL;
	struct known_names names;

	known_names_init(&names, &from);
	co.known = known_names_conf(&names);
	(void)conf_parse(str_of(text), "configuration", &co, &conf, err);
	known_names_finish(&names);
	return conf;
}

static struct sched_conf *make_conf(const struct sim_scheduler_options *opt,
				    const struct sim_world *w)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct sched_conf *conf;

	configurations_add(w->plugins, (enum configurations_evict)w->evicts, &text);
	if (w->budgets) {
		strbuf_add_c(&text, "- plugins: [{name: pdb}, {name: cdp}]\n");
	}
	conf = parse_conf(text.p, NULL);
	conf->gates_admission = opt->gates_admission;
	conf->reservation_timeout_ns = opt->reservation_timeout_ns;
	conf->overdue_deletes = w->deletes_overdue;
	conf->gate_sticky = w->sticky;
	return conf;
}

static void make_engine(struct sim_scheduler *s)
{
	static const char *const names[] = { "volcano", NULL };
	static const char *const gated[] = { SIM_POD_THEIRS, NULL };
	struct engine_options eo = {
		.scheduler_names = names,
		.gate_schedulers = gated,
		.default_queue = "default",
		.transport = sim_transport_base(s->requests),
		.clock = &s->world->machine.base,
		.counters = s->counters,
		.gate_workers = 1,
		.manual = true,
		.controllers_podgroup = true,
		/* Another process may have another flag: PodGroups of before stay. */
		.podgroup_per_pod = s->opt.number % 2 != 0,
		.controllers_queue = true,
		.kueue_conf = s->opt.kueue_conf,
		.controllers_cost = true,
		.min_interval_ns = MIN_INTERVAL_NS,
		.period_ns = PERIOD_NS,
		.request_timeout_ns = REQUEST_TIMEOUT_NS,
		.seed = rng_next(&s->world->rng),
		.post = post,
		.may_send = may_send,
		.ctx = s,
		.on_decisions = on_assumed,
		.on_decided = on_decided,
		.on_admission = on_admission,
	};
	struct err err = ERR_INIT;

	if (engine_create(&eo, make_conf(&s->opt, s->world), &s->engine, &err) < 0) {
		sim_world_fail(s->world, "engine: %s", err.text);
		return;
	}
	s->npools = engine_pools(s->engine, s->pools, ENGINE_MAX_POOLS);
}

static void make_watches(struct sim_scheduler *s)
{
	unsigned n = sched_kinds_watched(s->opt.kueue_conf != NULL);
	bool budgets = s->engine != NULL && engine_reads_budgets(s->engine);

	s->nwatches = n + budgets;
	s->standby = standby_create();
	for (unsigned i = 0; i < s->nwatches; i++) {
		enum sched_resource r = i < n ? (enum sched_resource)i : SCHED_BUDGETS;
		CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;
		struct reflector_options ro = {
			.transport = sim_transport_base(s->watches),
			.clock = &s->world->machine.base,
			.on_event = on_event,
			.ctx = &s->watch[i],
			.page_size = (unsigned)(2 + sim_world_below(s->world, 20)),
			.missing_ok = sched_kinds_may_be_missing(r),
			.forbidden_ok = sched_kinds_may_be_forbidden(r),
			.seed = rng_next(&s->world->rng),
		};

		sched_kinds_path(r, NULL, NULL, NULL, &path);
		ro.path = path.p;
		s->watch[i].scheduler = s;
		s->watch[i].resource = r;
		s->watch[i].reflector = reflector_create(&ro);
		standby_add(s->standby, r);
	}
}

static void start_leading(struct sim_scheduler *s)
{
	char identity[32];
	struct lease_options lo = {
		.namespace_ = "default",
		.name = "volcano",
		.identity = identity,
		.request_deadline_ns = REQUEST_TIMEOUT_NS,
		.transport = sim_transport_base(s->requests),
		.clock = &s->world->machine.base,
		.on_change = on_lease,
		.ctx = s,
		.seed = rng_next(&s->world->rng),
	};

	if (!s->opt.leader_elect) {
		on_lease(s, true);
		return;
	}
	snprintf(identity, sizeof(identity), "sim-%u", s->opt.number);
	s->lease = lease_create(&lo);
	lease_start(s->lease);
}

struct sim_scheduler *sim_scheduler_create(struct sim_world *w,
					   const struct sim_scheduler_options *opt)
{
	struct sim_scheduler *s = xmalloc_zero(1, sizeof(*s));

	s->bound = strmap_create(free);
	s->world = w;
	s->opt = *opt;
	s->watches = sim_transport_create(w, SIM_SCHEDULER);
	s->requests = sim_transport_create(w, SIM_SCHEDULER);
	s->counters = metric_registry_create();
	s->began_wall = clock_wall(&w->machine.base) - clock_mono(&w->machine.base);
	w->led_at = now_of(s);
	make_engine(s);
	make_watches(s);
	transport_call(sim_transport_base(s->watches), 0, start_watches, s);
	start_leading(s);
	sim_world_trace(w, "scheduler %u starts", opt->number);
	return s;
}

void sim_scheduler_reload(struct sim_scheduler *s, const struct sim_scheduler_options *opt)
{
	static const char broken[] = "actions: \"enqueue, allocate, backfill\"\n"
				     "tiers:\n"
				     "- plugins:\n"
				     "  - name: gang\n"
				     "  - name: proportions\n";
	struct sched_msg *m = message_new(SCHED_MSG_CONF);
	struct err err = ERR_INIT;

	m->conf = opt != NULL ? make_conf(opt, s->world) : parse_conf(broken, &err);
	if (opt != NULL) {
		/* A flag: it is that of the start, from which the process also has the age that it
		 * believes of a publication found by the wall clock. */
		m->conf->reservation_timeout_ns = s->opt.reservation_timeout_ns;
	} else if (m->conf != NULL) {
		sim_world_fail(s->world,
			       "a configuration loads, but its quota plugin is not known");
	}
	m->text = arena_dup(m->arena, err.text);
	post(s, m);
}

void sim_scheduler_kill(struct sim_scheduler *s)
{
	if (s == NULL) {
		return;
	}
	engine_stop(s->engine, 0);
	transport_destroy(sim_transport_base(s->watches));
	transport_destroy(sim_transport_base(s->requests));
	for (unsigned i = 0; i < s->nwatches; i++) {
		reflector_destroy(s->watch[i].reflector);
	}
	standby_destroy(s->standby);
	lease_destroy(s->lease);
	engine_destroy(s->engine);
	for (size_t i = s->queue_at; i < s->queue.n; i++) {
		conf_destroy(s->queue.v[i]->conf);
		message_free(s->queue.v[i]);
	}
	vec_finish(&s->queue);
	vec_finish(&s->charged);
	strmap_destroy(s->bound);
	metric_registry_destroy(s->counters);
	free(s);
}

/* Delivers answers until no request is in flight; only the lease sends new ones. */
static void settle_requests(struct sim_scheduler *s)
{
	struct sim_choices choices = { .wake_at = CLOCK_NEVER };

	for (unsigned i = 0; i < MAX_STOP_STEPS; i++) {
		vec_clear(&choices.list);
		sim_transport_offer(s->requests, &choices);
		if (choices.list.n == 0) {
			break;
		}
		choices.list.v[0].run(choices.list.v[0].owner, choices.list.v[0].arg);
	}
	vec_finish(&choices.list);
}

void sim_scheduler_terminate(struct sim_scheduler *s)
{
	bool on = s->world->faults.on;

	s->world->faults.on = false;
	settle_requests(s);
	engine_stop(s->engine, 0);
	if (s->lease != NULL) {
		lease_release(s->lease, NULL, NULL);
		settle_requests(s);
	}
	s->world->faults.on = on;
	sim_scheduler_kill(s);
}

/* ---- half steps ---- */

static void to_engine(void *ctx, struct sched_msg *m)
{
	struct sim_scheduler *s = ctx;

	engine_handle(s->engine, m);
}

static void handle_message(void *owner, void *arg UNUSED)
{
	struct sim_scheduler *s = owner;
	struct sched_msg *m = s->queue.v[s->queue_at++];
	/* Budgets refuse an eviction by 429, and by 500 where several cover the pod. */
	bool by_budget = m->request == SCHED_REQ_EVICT && (m->status == 429 || m->status == 500);

	if (m->kind == SCHED_MSG_REQUEST_DONE && m->outcome == SCHED_REJECTED && !by_budget &&
	    (m->status < 400 || m->status == 408 || m->status == 429 || m->status >= 500)) {
		sim_world_fail(s->world,
			       "a write that ended with %d, which is transient, counts as refused",
			       m->status);
	}
	if (s->standby == NULL || !standby_take(s->standby, m)) {
		engine_handle(s->engine, m);
		check_cluster(s);
	} else if (standby_is_complete(s->standby)) {
		standby_hand_over(s->standby, to_engine, s);
		standby_destroy(s->standby);
		s->standby = NULL;
		check_cluster(s);
	}
	if (s->queue_at == s->queue.n) {
		s->queue_at = 0;
		vec_clear(&s->queue);
	}
	s->poked = true;
}

static void step_engine(void *owner, void *arg UNUSED)
{
	struct sim_scheduler *s = owner;

	s->poked = false;
	s->due = engine_step(s->engine);
	check_cluster(s);
}

static void step_pool(void *owner UNUSED, void *arg)
{
	(void)pool_step(arg);
}

static void offer_engine(struct sim_scheduler *s, struct sim_choices *out)
{
	int64_t now = now_of(s);

	if (s->queue.n > s->queue_at) {
		sim_world_choice(out, &(struct sim_choice){ handle_message, s, NULL, 6 });
	}
	if (s->poked || s->due <= now) {
		sim_world_choice(out, &(struct sim_choice){ step_engine, s, NULL, 3 });
	} else {
		sim_world_wake(out, in_world(s, s->due));
	}
	for (size_t i = 0; i < s->npools; i++) {
		int64_t at = pool_wake_at(s->pools[i]);

		if (at <= now) {
			sim_world_choice(out, &(struct sim_choice){ step_pool, s, s->pools[i], 3 });
		} else {
			sim_world_wake(out, in_world(s, at));
		}
	}
}

void sim_scheduler_offer(struct sim_scheduler *s, struct sim_choices *out)
{
	sim_transport_offer(s->watches, out);
	sim_transport_offer(s->requests, out);
	if (!s->paused) {
		offer_engine(s, out);
	}
}

bool sim_scheduler_target(const struct sim_scheduler *s, struct strbuf *ret_key)
{
	return sim_transport_target(s->requests, ret_key);
}

void sim_scheduler_pause(struct sim_scheduler *s, bool paused)
{
	s->paused = paused;
	sim_transport_pause(s->watches, paused);
	sim_transport_pause(s->requests, paused);
}

bool sim_scheduler_is_paused(const struct sim_scheduler *s)
{
	return s->paused;
}

bool sim_scheduler_has_lost(const struct sim_scheduler *s)
{
	return s->lost;
}

bool sim_scheduler_is_leading(const struct sim_scheduler *s)
{
	return !s->lost && atomic_load(&engine_state(s->engine)->leading);
}

bool sim_scheduler_may_write(struct sim_scheduler *s)
{
	return !s->paused && sim_scheduler_is_leading(s) && may_send(s) &&
	       (s->lease == NULL || lease_writes_from(s->lease) <= now_of(s));
}

bool sim_scheduler_is_healthy(struct sim_scheduler *s)
{
	int64_t now = now_of(s);

	if (!sim_scheduler_may_write(s) || !atomic_load(&engine_state(s->engine)->synced) ||
	    sim_transport_streams(s->watches) < s->nwatches) {
		return false;
	}
	for (size_t i = 0; i < s->npools; i++) {
		if (pool_waiting(s->pools[i]) > 0 && pool_wake_at(s->pools[i]) > now) {
			return false;
		}
	}
	return true;
}

const struct cluster *sim_scheduler_cluster(const struct sim_scheduler *s)
{
	return engine_cluster(s->engine);
}

int64_t sim_scheduler_now(const struct sim_scheduler *s)
{
	return s->began_wall + clock_mono(&s->world->machine.base);
}

void sim_scheduler_trace(struct sim_scheduler *s)
{
	const struct cluster *c = engine_cluster(s->engine);

	sim_world_trace(
		s->world,
		"scheduler %u: leading %d, healthy %d, may send %d, %zu streams, %zu under way",
		s->opt.number, sim_scheduler_is_leading(s), sim_scheduler_is_healthy(s),
		may_send(s), sim_transport_streams(s->watches),
		sim_transport_under_way(s->requests));
	for (size_t i = 0; i < s->npools; i++) {
		sim_world_trace(s->world, "  pool %zu: %zu wait, %zu in flight", i,
				pool_waiting(s->pools[i]), pool_in_flight(s->pools[i]));
	}
	sim_model_dump_pods(s->world, c);
	if (engine_workloads(s->engine) != NULL) {
		sim_model_dump_quota(s->world, workload_cache_model(workload_engine_cache(
						       engine_workloads(s->engine))));
	}
}
