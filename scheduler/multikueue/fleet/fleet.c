#include "scheduler/multikueue/fleet/fleet.h"

#include <stdlib.h>
#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "collections/heap.h"
#include "collections/strmap.h"
#include "kube/pool.h"
#include "kube/recorder.h"
#include "kube/reflector/reflector_report.h"
#include "process/log.h"
#include "scheduler/multikueue/fleet/fleet_active.h"
#include "scheduler/multikueue/fleet/fleet_gates.h"
#include "scheduler/multikueue/fleet/fleet_holders.h"
#include "scheduler/multikueue/fleet/fleet_manager.h"
#include "scheduler/multikueue/fleet/fleet_prices.h"
#include "scheduler/multikueue/fleet/fleet_report.h"
#include "scheduler/multikueue/fleet/fleet_view.h"
#include "scheduler/multikueue/fleet/fleet_writes.h"
#include "scheduler/multikueue/manager/carried.h"
#include "scheduler/multikueue/records/fleet_clusters.h"
#include "scheduler/multikueue/records/fleet_kinds.h"
#include "scheduler/multikueue/records/fleet_managed.h"
#include "scheduler/multikueue/records/fleet_offers.h"
#include "scheduler/multikueue/records/fleet_workload.h"
#include "scheduler/multikueue/worker/link.h"

#define CONNECTING_NS (60 * CLOCK_NS_PER_S)
#define HEARTBEAT_NS (10 * CLOCK_NS_PER_S)

struct fleet {
	struct fleet_options opt;
	struct fleet_clusters *clusters;
	struct fleet_offers *offers;
	struct fleet_writes *writes;
	struct fleet_prices *prices;
	struct fleet_report *report;
	struct fleet_manager *manager; /* NULL: Kueue has it */
	struct fleet_active *active;   /* the same */
	struct recorder *recorder;
	struct strmap *workloads; /* struct fleet_workload by key */
	struct VEC(struct fleet_workload *) due;
	struct heap waking; /* Workloads with a wake_at, the earliest first */
	struct fleet_holders holders;
	struct fleet_view view; /* of the decision at hand */
	struct engine_state state;
	uint64_t sources;       /* connections so far */
	unsigned synced, fresh; /* kinds, bits of enum sched_resource */
	bool leading;
	int64_t writes_from;      /* mono ns */
	int64_t connecting_until; /* mono ns: of a new leader, for its first connections */
	int64_t decided_at;       /* wall ns of the last decisions */
};

/* --- for the connections -----------------------------------------------------------------*/

static int connect_worker(void *ctx, const char *cluster, const struct kubeconfig *cfg,
			  struct transport **ret, struct err *err)
{
	const struct fleet *f = ctx;

	return f->opt.connect(f->opt.ctx, cluster, cfg, ret, err);
}

static uint64_t next_source(void *ctx)
{
	struct fleet *f = ctx;

	return ++f->sources;
}

static void post(void *ctx, struct sched_msg *m)
{
	const struct fleet *f = ctx;

	f->opt.post(f->opt.ctx, m);
}

static bool may_send(void *ctx)
{
	const struct fleet *f = ctx;

	return f->opt.may_send == NULL || f->opt.may_send(f->opt.ctx);
}

static void look_at(struct fleet *f, struct fleet_workload *w)
{
	if (!w->due) {
		w->due = true;
		vec_push(&f->due, w);
	}
}

static struct fleet_workload *find_or_add(struct fleet *f, struct str key)
{
	struct fleet_workload *w = strmap_get(f->workloads, key);

	if (w == NULL) {
		w = fleet_workload_create(key);
		w->managed = f->manager == NULL ? NULL : fleet_managed_create();
		strmap_set(f->workloads, key, w);
	}
	return w;
}

static struct fleet_workload *record_for_manager(void *ctx, struct str key)
{
	return find_or_add(ctx, key);
}

static void look_for_manager(void *ctx, struct fleet_workload *w)
{
	look_at(ctx, w);
}

static void create_manager(struct fleet *f, const struct pool_options *base)
{
	const struct fleet_options *opt = &f->opt;
	const struct fleet_manager_options mo = { .manager = opt->manager,
						  .kinds = 1u << CARRIED_JOBS |
							   (unsigned)opt->carries_pods
								   << CARRIED_PODS |
							   1u << CARRIED_CUSTOM,
						  .customs = opt->customs,
						  .gc_ns = opt->gc_ns,
						  .origin = opt->origin,
						  .counters = opt->counters,
						  .recorder = f->recorder,
						  .clusters = f->clusters,
						  .offers = f->offers,
						  .clock = opt->clock,
						  .post = post,
						  .record = record_for_manager,
						  .look_at = look_for_manager,
						  .ctx = f };

	f->manager = fleet_manager_create(&mo, base);
	f->active = fleet_active_create(f->clusters, f->offers, fleet_manager_pool(f->manager),
					opt->clock);
}

struct fleet *fleet_create(const struct fleet_options *opt)
{
	struct fleet *f = xmalloc_zero(1, sizeof(*f));
	struct pool_options po = {
		.transport = opt->transport,
		.clock = opt->clock,
		.limiter = opt->limiter,
		.workers = opt->manual ? 0 : 1,
		.timeout_ns = opt->request_timeout_ns,
		.backoff_min_ns = POOL_BACKOFF_MIN_NS,
		.backoff_max_ns = POOL_BACKOFF_MAX_NS,
		.seed = opt->seed,
		.may_send = may_send,
		.ctx = f,
	};
	struct link_options lo = {
		.origin = opt->origin,
		.clock = opt->clock,
		.counters = opt->counters,
		.request_timeout_ns = opt->request_timeout_ns,
		.manual = opt->manual,
		.needs_jobs = opt->manages,
		.needs_pods = opt->manages && opt->carries_pods,
		.needs_gates = opt->orchestrates,
		.customs = opt->customs,
		.seed = opt->seed,
		.connect = connect_worker,
		.next_source = next_source,
		.post = post,
		.may_send = may_send,
		.ctx = f,
	};

	f->opt = *opt;
	f->clusters = fleet_clusters_create(&lo, opt->namespace_, opt->kubeconfig_root);
	f->offers = fleet_offers_create();
	f->prices = fleet_prices_create(&(struct fleet_prices_options){
		.conf = opt->conf, .clock = opt->clock, .post = post, .ctx = f });
	f->writes = fleet_writes_create(&po, post);
	f->recorder = recorder_create(&po, opt->manages ? FLEET_MANAGER_NAME : FLEET_NAME,
				      opt->manages ? FLEET_MANAGER_NAME : FLEET_NAME);
	f->report = fleet_report_create(opt->counters, f->recorder, &f->opt.orchestrate);
	f->workloads = strmap_create(fleet_workload_destroy);
	fleet_workload_init_waking(&f->waking);
	f->writes_from = CLOCK_NEVER;
	if (opt->manages) {
		create_manager(f, &po);
	}
	return f;
}

void fleet_destroy(struct fleet *f)
{
	if (f == NULL) {
		return;
	}
	fleet_clusters_destroy(f->clusters);
	fleet_prices_destroy(f->prices);
	fleet_writes_destroy(f->writes);
	fleet_active_destroy(f->active);
	fleet_manager_destroy(f->manager);
	recorder_destroy(f->recorder);
	fleet_report_destroy(f->report);
	fleet_offers_destroy(f->offers);
	vec_finish(&f->due);
	heap_finish(&f->waking);
	fleet_view_finish(&f->view);
	vec_finish(&f->holders);
	strmap_destroy(f->workloads);
	free(f);
}

void fleet_stop(struct fleet *f, int64_t grace_ns)
{
	struct pool *pools[FLEET_MAX_POOLS];
	size_t n = fleet_pools(f, pools, ARRAY_LEN(pools));

	for (size_t i = 0; i < n; i++) {
		pool_stop(pools[i], grace_ns);
	}
}

const struct engine_state *fleet_state(const struct fleet *f)
{
	return &f->state;
}

size_t fleet_pools(struct fleet *f, struct pool **out, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < fleet_clusters_count(f->clusters) && n + 3 < max; i++) {
		const struct fleet_cluster *k = fleet_clusters_at(f->clusters, i);

		if (!k->is_gone && link_pool(k->link) != NULL) {
			out[n++] = link_pool(k->link);
		}
	}
	out[n++] = fleet_writes_pool(f->writes);
	out[n++] = recorder_pool(f->recorder);
	if (f->manager != NULL) {
		out[n++] = fleet_manager_pool(f->manager);
	}
	return n;
}

/* --- changes --------------------------------------------------------------------------*/

static bool look_at_waiting(struct str key UNUSED, void *value, void *ctx)
{
	struct fleet_workload *w = value;

	if (w->waits_busy) {
		look_at(ctx, w);
	}
	return true;
}

/* The cluster that has the Workload's token counts for those that wait for the same one. */
static void set_holding(struct fleet *f, struct fleet_workload *w, const char *cluster)
{
	const struct fleet_cluster *k =
		cluster == NULL ? NULL : fleet_clusters_find(f->clusters, str_of(cluster));
	const char *before = w->holding;

	if (fleet_holders_set(&f->holders, w, k == NULL ? NULL : k->name)) {
		fleet_prices_ended(f->prices, before);
		strmap_each(f->workloads, look_at_waiting, f);
	}
}

static void forget_if_gone(struct fleet *f, struct fleet_workload *w)
{
	if (!fleet_workload_is_gone(w)) {
		return;
	}
	for (size_t i = 0; w->due && i < f->due.n; i++) {
		if (f->due.v[i] == w) {
			vec_swap_remove(&f->due, i);
			break;
		}
	}
	fleet_workload_set_wake(w, &f->waking, CLOCK_NEVER);
	set_holding(f, w, NULL);
	if (f->manager != NULL) {
		fleet_manager_forget(f->manager, w);
	}
	(void)strmap_remove(f->workloads, str_of(w->key));
}

/* The holder is the one that the local object names, unless a later one is on its way there. */
static void follow_token(struct fleet *f, struct fleet_workload *w)
{
	if (!fleet_workload_awaits_token(w)) {
		set_holding(f, w, w->token.phase == TOKEN_FREE ? NULL : w->token.holder);
	}
}

static void set_local(struct fleet *f, struct fleet_workload *w, struct sched_msg *m)
{
	const struct fleet_report_before before = fleet_report_before(w);
	struct err err = ERR_INIT;

	if (fleet_workload_set_local(w, m, clock_wall(f->opt.clock), &err) < 0 && f->leading) {
		fleet_report_lost(f->report, w, err.text);
	}
	if (f->leading) {
		fleet_report_change(f->report, w, &before);
	}
	follow_token(f, w);
	look_at(f, w);
}

/* exists: the local Workload does. */
static void note_local(struct fleet *f, struct fleet_workload *w, const struct sched_msg *m,
		       bool exists)
{
	if (f->manager != NULL) {
		fleet_manager_note_local(f->manager, w, m->key, exists ? m : NULL);
	}
}

/* Of the Workloads of the manager, those that MultiKueue does not send anywhere are not kept. */
static void on_local(struct fleet *f, struct sched_msg *m)
{
	struct fleet_workload *w = strmap_get(f->workloads, m->key);
	const struct api_workload *local = m->kind == SCHED_MSG_UPSERT ? m->object : NULL;

	if (m->kind == SCHED_MSG_BAD_OBJECT) {
		log_warn("Workload cannot be read", LOG_SLICE("workload", m->key),
			 LOG_STR("error", m->text));
		note_local(f, w == NULL || w->local == NULL ? NULL : w, m, true);
		return;
	}
	/* One that had a check is the manager's to look after until it is gone. */
	if (local != NULL && local->status.admission_checks.n == 0 &&
	    (f->manager == NULL || w == NULL)) {
		local = NULL;
	}
	if (local == NULL && w == NULL) {
		note_local(f, NULL, m, m->kind == SCHED_MSG_UPSERT);
		return;
	}
	w = w == NULL ? find_or_add(f, m->key) : w;
	set_local(f, w, local == NULL ? NULL : m);
	note_local(f, w, m, local != NULL);
	if (local == NULL) {
		forget_if_gone(f, w);
	}
}

/* of: the replica of which it is a variant; NULL: none. A variant is recorded under its replica;
 * recorded by itself, it would be collected as an orphan. */
static void record_replica(struct fleet *f, struct fleet_cluster *k, struct sched_msg *m,
			   const char *of)
{
	struct str key = of == NULL ? m->key : str_of(of);
	struct fleet_workload *w = strmap_get(f->workloads, key);
	int64_t now = clock_wall(f->opt.clock);
	struct fleet_replica *r;

	if (m->kind == SCHED_MSG_DELETE && (w == NULL || fleet_workload_find(w, k->name) == NULL)) {
		return;
	}
	w = w == NULL ? find_or_add(f, key) : w;
	if (f->manager != NULL && of == NULL) {
		fleet_manager_replica(f->manager, w, k, m);
	}
	r = fleet_workload_replica(w, k->name);
	fleet_workload_take(w, r, m, of != NULL, now);
	if (k->source != m->source || k->is_stalled) {
		observe_unreachable(&r->seen); /* until the list is complete */
	}
	look_at(f, w);
	forget_if_gone(f, w);
}

/* One that changes its replica is deleted where it was recorded before. */
static void on_replica(struct fleet *f, struct fleet_cluster *k, struct sched_msg *m)
{
	char *before, *of = fleet_clusters_variant(k, m, &before);

	if (m->kind == SCHED_MSG_UPSERT && !str_streq(before, of)) {
		struct sched_msg gone = { .kind = SCHED_MSG_DELETE,
					  .resource = m->resource,
					  .key = m->key,
					  .source = m->source };

		record_replica(f, k, &gone, before);
	}
	record_replica(f, k, m, of);
	free(before);
	free(of);
}

struct cluster_change {
	struct fleet *f;
	struct fleet_cluster *cluster;
};

/* A replica that the complete list has not shown is gone. */
static bool reach_replica(struct str key UNUSED, void *value, void *ctx)
{
	struct cluster_change *c = ctx;
	struct fleet_workload *w = value;
	struct fleet_replica *r = fleet_workload_find(w, c->cluster->name);

	if (r != NULL) {
		fleet_workload_reach(w, r, c->cluster->source, clock_wall(c->f->opt.clock));
		observe_reachable(&r->seen, clock_wall(c->f->opt.clock));
	}
	if (c->f->manager != NULL) {
		fleet_manager_reach_workload(c->f->manager, w, c->cluster);
	}
	look_at(c->f, w);
	return true;
}

static bool lose_replica(struct str key UNUSED, void *value, void *ctx)
{
	struct cluster_change *c = ctx;
	struct fleet_workload *w = value;
	struct fleet_replica *r = fleet_workload_find(w, c->cluster->name);

	if (c->f->manager != NULL) {
		fleet_manager_lose(w, c->cluster);
		look_at(c->f, w);
	}
	if (r != NULL) {
		r->in_flight = false;
		observe_unreachable(&r->seen);
		look_at(c->f, w);
	}
	return true;
}

static bool stall_replica(struct str key UNUSED, void *value, void *ctx)
{
	struct cluster_change *c = ctx;
	struct fleet_workload *w = value;
	struct fleet_replica *r = fleet_workload_find(w, c->cluster->name);

	if (c->f->manager != NULL) {
		look_at(c->f, w);
	}
	if (r == NULL || r->source != c->cluster->source) {
		return true;
	}
	if (c->cluster->is_stalled) {
		observe_unreachable(&r->seen);
	} else {
		observe_reachable(&r->seen, clock_wall(c->f->opt.clock));
	}
	look_at(c->f, w);
	return true;
}

/* A connection is given up some seconds after its watch has failed. Until then the replica of a
 * cluster that cannot be reached would seem to do nothing, and its attempt to have failed. */
static void on_watch(struct fleet *f, struct fleet_cluster *k, const struct sched_msg *m)
{
	struct cluster_change c = { f, k };

	if (k->source == 0 ||
	    !fleet_clusters_stall(k, m->resource, m->reason != REFLECTOR_REASON_NONE,
				  clock_wall(f->opt.clock))) {
		return;
	}
	strmap_each(f->workloads, stall_replica, &c);
}

static bool drop_replica(struct str key UNUSED, void *value, void *ctx)
{
	struct cluster_change *c = ctx;
	struct fleet_workload *w = value;

	fleet_workload_drop(w, c->cluster->name);
	if (w->holding == c->cluster->name) {
		set_holding(c->f, w, NULL);
	}
	look_at(c->f, w);
	return true;
}

/* A connection that has become complete, or was lost. */
static void follow_links(struct fleet *f)
{
	for (size_t i = 0; i < fleet_clusters_count(f->clusters); i++) {
		struct fleet_cluster *k = fleet_clusters_at(f->clusters, i);
		struct cluster_change c = { f, k };
		uint64_t now = !k->is_gone && link_is_up(k->link) ? link_source(k->link) : 0;

		if (k->source == now) {
			continue;
		}
		if (k->source != 0) {
			fleet_prices_lost(f->prices, k->name);
			strmap_each(f->workloads, lose_replica, &c);
		}
		k->source = now;
		k->is_stalled = false;
		k->stalled_jobs = 0;
		k->was_up |= now != 0;
		k->up_at = clock_wall(f->opt.clock);
		if (f->manager != NULL && now != 0) {
			fleet_manager_reach(f->manager, k);
		}
		if (f->active != NULL) {
			fleet_active_note(f->active);
		}
		if (now != 0 && f->opt.orchestrates && link_lacks_gates(k->link)) {
			fleet_report_no_gates(f->report,
					      fleet_clusters_object(f->clusters, k->name), k->name);
		}
		if (now != 0) {
			fleet_clusters_reach(k);
			strmap_each(f->workloads, reach_replica, &c);
		}
	}
}

static void on_gate_done(struct fleet *f, struct fleet_cluster *k, const struct sched_msg *m)
{
	struct fleet_workload *w = strmap_get(f->workloads, m->key);
	struct fleet_replica *r = w == NULL ? NULL : fleet_workload_find(w, k->name);

	if (r != NULL && r->source == m->source) {
		fleet_writes_gate_done(r, m, clock_wall(f->opt.clock));
		fleet_workload_written(w, r, clock_wall(f->opt.clock));
		fleet_report_gate(f->report, w, r, m);
		look_at(f, w);
	}
}

static bool look_at_unpriced(struct str key UNUSED, void *value, void *ctx)
{
	struct fleet_workload *w = value;

	if (w->waits_prices) {
		look_at(ctx, w);
	}
	return true;
}

static void on_survey(struct fleet *f, const struct fleet_cluster *k, struct sched_msg *m)
{
	fleet_prices_handle(f->prices, k->name, m);
	strmap_each(f->workloads, look_at_unpriced, f);
}

/* k: NULL: of the manager's API server. */
static void on_manager_done(struct fleet *f, const struct fleet_cluster *k,
			    const struct sched_msg *m)
{
	struct fleet_workload *w = strmap_get(f->workloads, m->key);

	if (f->manager == NULL) {
		return;
	}
	if (m->request == SCHED_REQ_CLUSTER_STATUS) {
		fleet_active_done(f->active, m);
	} else if (w != NULL) {
		fleet_manager_done(f->manager, w, k, m);
	}
}

static bool look_at_each(struct str key UNUSED, void *value, void *ctx)
{
	look_at(ctx, value);
	return true;
}

static void on_kind(struct fleet *f, const struct sched_msg *m)
{
	if (m->source == 0) {
		fleet_manager_custom(f->manager, m);
	}
	fleet_active_note(f->active);
	strmap_each(f->workloads, look_at_each, f);
}

static void on_worker(struct fleet *f, struct sched_msg *m)
{
	struct fleet_cluster *k = fleet_clusters_of(f->clusters, m->source);

	if (k == NULL || !link_handle(k->link, m)) {
		return; /* of a connection that has ended */
	}
	if (fleet_kinds_is_state(m)) {
		on_kind(f, m);
	} else if (m->kind == SCHED_MSG_REQUEST_DONE && m->request != SCHED_REQ_PREEMPTION_GATE) {
		on_manager_done(f, k, m);
	} else if (m->kind == SCHED_MSG_REQUEST_DONE) {
		on_gate_done(f, k, m);
	} else if (m->kind == SCHED_MSG_WATCH) {
		on_watch(f, k, m);
	} else if (m->kind == SCHED_MSG_SURVEY) {
		on_survey(f, k, m);
	} else if (fleet_kinds_is_object(m) && m->resource == SCHED_WORKLOADS) {
		on_replica(f, k, m);
	} else if (fleet_kinds_is_object(m) && m->resource == SCHED_LOCAL_QUEUES) {
		fleet_clusters_queue(k, m);
	} else if (fleet_kinds_is_object(m) && f->manager != NULL) {
		fleet_manager_job(f->manager, k, m);
	}
}

static bool follow_each(struct str key UNUSED, void *value, void *ctx)
{
	follow_token(ctx, value);
	return true;
}

/* A Workload may be read before the cluster that has its token. */
static void on_cluster(struct fleet *f, struct sched_msg *m)
{
	struct fleet_cluster *k = fleet_clusters_find(f->clusters, m->key);
	struct cluster_change c = { f, k };

	fleet_clusters_handle(f->clusters, m);
	if (k != NULL && k->is_gone) {
		strmap_each(f->workloads, drop_replica, &c);
	} else if (k == NULL && fleet_clusters_find(f->clusters, m->key) != NULL) {
		strmap_each(f->workloads, follow_each, f);
	}
}

static void on_manager(struct fleet *f, struct sched_msg *m)
{
	enum carried kind;

	if (m->resource == SCHED_WORKLOADS) {
		on_local(f, m);
	} else if (m->resource == SCHED_MULTIKUEUE_CLUSTERS) {
		on_cluster(f, m);
	} else if (m->resource == SCHED_SECRETS) {
		fleet_clusters_handle(f->clusters, m);
	} else if (m->resource == SCHED_NAMESPACES || carried_find(m->resource, &kind)) {
		fleet_manager_handle(f->manager, m);
	} else if (fleet_offers_handle(f->offers, m)) {
		strmap_each(f->workloads, look_at_each, f);
	}
}

static void on_lease(struct fleet *f, const struct sched_msg *m)
{
	f->leading = m->flag;
	f->writes_from = m->not_before;
	f->connecting_until = clock_mono(f->opt.clock) + CONNECTING_NS;
	f->fresh = 0;
	if (f->manager != NULL && m->flag) {
		int64_t now = clock_wall(f->opt.clock);

		fleet_manager_lead(f->manager, now, now + CONNECTING_NS);
	}
	atomic_store(&f->state.leading, m->flag);
}

static void on_token_done(struct fleet *f, const struct sched_msg *m)
{
	struct fleet_workload *w = strmap_get(f->workloads, m->key);

	if (m->request != SCHED_REQ_PREEMPTION_TOKEN) {
		on_manager_done(f, NULL, m);
		return;
	}
	if (w == NULL) {
		return;
	}
	fleet_writes_token_done(w, m, clock_wall(f->opt.clock));
	follow_token(f, w);
	if (m->outcome == SCHED_REJECTED) {
		fleet_report_token_refused(f->report, w, m->text);
	}
	look_at(f, w);
}

static void on_list(struct fleet *f, const struct sched_msg *m)
{
	unsigned needed = 1u << SCHED_SECRETS | (f->manager != NULL ? 1u << SCHED_NAMESPACES : 0);

	f->synced |= 1u << m->resource;
	f->fresh |= m->kind == SCHED_MSG_REFRESHED ? 1u << m->resource : 0;
	/* Objects on a worker can be matched with this manager only by its identity. */
	if (m->kind == SCHED_MSG_SYNCED && (f->synced & needed) == needed) {
		fleet_clusters_secrets_listed(f->clusters);
	}
}

void fleet_handle(struct fleet *f, struct sched_msg *m)
{
	if (m->kind == SCHED_MSG_REQUEST_DONE) {
		fleet_report_request(f->report, m);
	}
	if (m->kind == SCHED_MSG_LEASE) {
		on_lease(f, m);
	} else if (m->source != 0) {
		on_worker(f, m);
	} else if (fleet_kinds_is_state(m)) {
		on_kind(f, m);
	} else if (m->kind == SCHED_MSG_REQUEST_DONE) {
		on_token_done(f, m);
	} else if (m->kind == SCHED_MSG_SYNCED || m->kind == SCHED_MSG_REFRESHED) {
		on_list(f, m);
	} else if (fleet_kinds_is_object(m)) {
		on_manager(f, m);
	}
	follow_links(f);
	message_free(m);
}

/* --- decisions ------------------------------------------------------------------------------*/

static void wait_until(struct fleet *f, struct fleet_workload *w, int64_t at)
{
	if (at < w->wake_at) {
		fleet_workload_set_wake(w, &f->waking, at);
	}
}

static void write_token(struct fleet *f, struct fleet_workload *w, const struct token *t,
			int64_t now)
{
	bool granted = t->epoch != w->token.epoch;

	if (fleet_writes_is_paused(w->token_pause_until, now)) {
		wait_until(f, w, w->token_pause_until);
		return;
	}
	if (granted) {
		struct fleet_replica *r = fleet_workload_find(w, t->holder);

		observe_granted(&r->seen);
		fleet_prices_promise(f->prices, w, t->holder, &f->holders);
		fleet_report_grant(f->report, w, &f->view, f->prices, t->holder);
		set_holding(f, w, t->holder);
	}
	fleet_writes_token(f->writes, w, t);
}

/* Prices are read when there is a choice to be made, and not before. */
static bool awaits_prices(struct fleet *f, struct fleet_workload *w,
			  const struct orchestrate_step *step)
{
	bool chooses = step->act == ORCHESTRATE_RECORD && step->token.epoch != w->token.epoch;

	w->waits_prices = f->opt.orchestrate.mode == ORCHESTRATE_COST && chooses &&
			  !fleet_prices_set(f->prices, &f->view, w, f->clusters, &f->holders);
	return w->waits_prices;
}

static void orchestrate(struct fleet *f, struct fleet_workload *w, const struct fleet_gates *gates,
			int64_t now)
{
	const struct fleet_view_source source = {
		.offers = f->offers,
		.clusters = f->clusters,
		.holders = &f->holders,
		.connecting_until = now + (f->connecting_until - clock_mono(f->opt.clock)),
		.max_open = f->opt.max_open,
	};
	struct orchestrate_step step = { .act = ORCHESTRATE_WAIT };

	if (w->local == NULL || fleet_workload_is_waiting(w, now)) {
		return;
	}
	fleet_view_make(&f->view, w, &source, now);
	orchestrate_next(&f->opt.orchestrate, &f->view.view, &step);
	w->waits_busy = f->view.is_busy;
	fleet_report_view(f->report, w, &f->view, now);
	if (awaits_prices(f, w, &step)) {
		return;
	}
	orchestrate_next(&f->opt.orchestrate, &f->view.view, &step); /* with the prices */
	switch (step.act) {
	case ORCHESTRATE_WAIT:
		wait_until(f, w, step.at);
		break;
	case ORCHESTRATE_RECORD:
		write_token(f, w, &step.token, now);
		break;
	case ORCHESTRATE_OPEN:
	case ORCHESTRATE_CLOSE:
		wait_until(f, w,
			   fleet_gates_write(gates, w, f->view.of.v[step.replica],
					     step.act == ORCHESTRATE_OPEN, now));
		break;
	}
}

static void decide(struct fleet *f, struct fleet_workload *w, int64_t now)
{
	const struct fleet_gates gates = { f->clusters, f->report };

	fleet_workload_set_wake(w, &f->waking, CLOCK_NEVER);
	if (f->manager != NULL) {
		wait_until(f, w, fleet_manager_decide(f->manager, w, now));
	}
	if (f->opt.orchestrates) {
		orchestrate(f, w, &gates, now);
	} else {
		wait_until(f, w, fleet_gates_open_all(&gates, w, now));
	}
	if (w->local == NULL) {
		forget_if_gone(f, w);
	}
}

static bool set_clock_back(struct str key UNUSED, void *value, void *ctx)
{
	struct fleet *f = ctx;

	fleet_workload_set_clock_back(value, f->decided_at);
	look_at(f, value);
	return true;
}

/* All are looked at when the clock was set back. */
static void wake(struct fleet *f, int64_t now)
{
	bool set_back = now < f->decided_at;
	struct fleet_workload *w;

	f->decided_at = now;
	if (set_back) {
		strmap_each(f->workloads, set_clock_back, f);
	}
	while ((w = heap_peek(&f->waking)) != NULL && w->wake_at <= now) {
		fleet_workload_set_wake(w, &f->waking, CLOCK_NEVER);
		look_at(f, w);
	}
}

static void decide_due(struct fleet *f, int64_t now)
{
	wake(f, now);
	if (f->due.n > 1) {
		qsort(f->due.v, f->due.n, sizeof(f->due.v[0]), fleet_workload_compare);
	}
	/* A decision may add others that wait for a gate that comes free. */
	for (size_t i = 0; i < f->due.n; i++) {
		f->due.v[i]->due = false;
		decide(f, f->due.v[i], now);
	}
	vec_clear(&f->due);
}

static bool collect(struct str key UNUSED, void *value, void *ctx)
{
	struct fleet *f = ctx;

	fleet_manager_collect(f->manager, value);
	return true;
}

/* Returns when it is to be called again, mono ns. */
static int64_t step_manager(struct fleet *f, int64_t mono)
{
	int64_t collect_at;

	if (f->manager == NULL) {
		return CLOCK_NEVER;
	}
	if (fleet_manager_collects(f->manager, mono, &collect_at)) {
		strmap_each(f->workloads, collect, f);
	}
	return clock_earlier(collect_at, fleet_active_step(f->active));
}

int64_t fleet_step(struct fleet *f)
{
	int64_t mono = clock_mono(f->opt.clock), now = clock_wall(f->opt.clock);
	/* Health checks want a sign of life, also where there is nothing to do. */
	int64_t at = clock_earlier(fleet_clusters_step(f->clusters), mono + HEARTBEAT_NS);
	const struct fleet_workload *first;

	atomic_store(&f->state.heartbeat, mono);
	atomic_store(&f->state.synced,
		     fleet_kinds_has_all(f->manager != NULL, f->opt.carries_pods, f->synced));
	follow_links(f);
	if (!f->leading ||
	    !fleet_kinds_has_all(f->manager != NULL, f->opt.carries_pods, f->fresh)) {
		return at;
	}
	if (mono < f->writes_from) {
		return clock_earlier(at, f->writes_from);
	}
	at = clock_earlier(at, step_manager(f, mono));
	decide_due(f, now);
	fleet_report_gauges(f->report, f->workloads, &f->holders, now);
	first = heap_peek(&f->waking);
	return first == NULL ? at : clock_earlier(at, mono + (first->wake_at - now));
}
