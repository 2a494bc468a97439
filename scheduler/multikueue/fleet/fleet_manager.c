#include "scheduler/multikueue/fleet/fleet_manager.h"

#include <stdlib.h>
#include <string.h>

#include "api/core/batch.h"
#include "api/core/namespace.h"
#include "api/kueue/kueue.h"
#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "api/kueue/multikueue.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "collections/vec.h"
#include "kube/pool.h"
#include "kube/recorder.h"
#include "process/log.h"
#include "scheduler/base/message.h"
#include "scheduler/multikueue/fleet/fleet_carry.h"
#include "scheduler/multikueue/fleet/fleet_clusters.h"
#include "scheduler/multikueue/fleet/fleet_kinds.h"
#include "scheduler/multikueue/fleet/fleet_managed.h"
#include "scheduler/multikueue/fleet/fleet_offers.h"
#include "scheduler/multikueue/fleet/fleet_workload.h"
#include "scheduler/multikueue/worker/link.h"

/* After a create of a Job without an answer, on a connection that is still up: by then it has been
 * carried out or never will be. The silence of a server that hangs is noticed before. */
#define JOB_SENT_NS (120 * CLOCK_NS_PER_S)

/* A local Job and the Workloads that have it as their owner. */
struct local_job {
	struct sched_msg *object; /* NULL: not there */
	struct VEC(struct fleet_workload *) of;
};

struct fleet_manager {
	struct fleet_manager_options opt;
	struct replica_body_manager by;
	char *identity; /* of by */
	struct fleet_carry *carry;
	struct strmap *jobs;   /* struct local_job by key */
	struct strmap *others; /* keys of local Workloads without a record */
	struct arena *arena;   /* of the decision at hand */
	struct VEC(struct manager_cluster) clusters;
	struct VEC(struct fleet_there *) there; /* of each of them; NULL: of one that does not exist
						 */
	int64_t began, connecting_until;        /* wall ns */
	int64_t collect_at;                     /* mono ns; 0: not begun */
};

static void free_job(void *value)
{
	struct local_job *j = value;

	message_free(j->object);
	vec_finish(&j->of);
	free(j);
}

struct fleet_manager *fleet_manager_create(const struct fleet_manager_options *opt,
					   const struct pool_options *base)
{
	struct fleet_manager *m = xmalloc_zero(1, sizeof(*m));

	m->opt = *opt;
	m->by = (struct replica_body_manager){ opt->origin, NULL };
	m->carry = fleet_carry_create(&(struct fleet_carry_options){ .counters = opt->counters,
								     .recorder = opt->recorder,
								     .by = &m->by,
								     .gated = opt->manager.gated,
								     .post = opt->post },
				      base);
	m->jobs = strmap_create(free_job);
	m->others = strmap_create(NULL);
	m->arena = arena_create(0);
	return m;
}

void fleet_manager_destroy(struct fleet_manager *m)
{
	if (m == NULL) {
		return;
	}
	fleet_carry_destroy(m->carry);
	strmap_destroy(m->jobs);
	strmap_destroy(m->others);
	arena_destroy(m->arena);
	vec_finish(&m->clusters);
	vec_finish(&m->there);
	free(m->identity);
	free(m);
}

struct pool *fleet_manager_pool(struct fleet_manager *m)
{
	return fleet_carry_pool(m->carry);
}

static void look_at(struct fleet_manager *m, struct fleet_workload *w)
{
	fleet_managed_changed(w->managed);
	m->opt.look_at(m->opt.ctx, w);
}

/* --- local objects -----------------------------------------------------------------------------*/

static struct local_job *job_of(struct fleet_manager *m, struct str key, bool add)
{
	struct local_job *j = strmap_get(m->jobs, key);

	if (j == NULL && add) {
		j = xmalloc_zero(1, sizeof(*j));
		strmap_set(m->jobs, key, j);
	}
	return j;
}

static void leave_job(struct fleet_manager *m, struct fleet_workload *w)
{
	struct fleet_managed *g = w->managed;
	struct local_job *j = g->job_key == NULL ? NULL : job_of(m, str_of(g->job_key), false);

	for (size_t i = 0; j != NULL && i < j->of.n; i++) {
		if (j->of.v[i] == w) {
			vec_swap_remove(&j->of, i);
			break;
		}
	}
	if (j != NULL && j->object == NULL && j->of.n == 0) {
		(void)strmap_remove(m->jobs, str_of(g->job_key));
	}
	free(g->job_key);
	g->job_key = NULL;
}

/* The key of the Job that owns it; the caller frees it. NULL: it is owned by none. */
static char *owner_of(const struct api_workload *local)
{
	const struct api_owner *o = meta_controller(&local->meta);

	o = o == NULL && local->meta.owners.n > 0 ? local->meta.owners.v : o;
	if (o == NULL || !str_streq(o->api_version, "batch/v1") || !str_streq(o->kind, "Job") ||
	    o->name == NULL) {
		return NULL;
	}
	return xmalloc_printf("%s/%s", local->meta.namespace_, o->name);
}

static void follow_owner(struct fleet_manager *m, struct fleet_workload *w)
{
	CLEANUP(xmalloc_freep) char *key = owner_of(fleet_workload_local(w));
	struct fleet_managed *g = w->managed;
	struct local_job *j;

	if (str_streq(key, g->job_key)) {
		return;
	}
	leave_job(m, w);
	g->job_key = take_ptr(&key);
	if (g->job_key != NULL) {
		j = job_of(m, str_of(g->job_key), true);
		vec_push(&j->of, w);
	}
	for (size_t i = 0; i < fleet_clusters_count(m->opt.clusters); i++) {
		struct fleet_cluster *k = fleet_clusters_at(m->opt.clusters, i);

		if (g->job_key != NULL && strmap_has(k->jobs, str_of(g->job_key))) {
			fleet_managed_find_job(g, fleet_managed_there(g, k), w->key, NULL, &m->by);
		}
	}
}

void fleet_manager_note_local(struct fleet_manager *m, struct fleet_workload *w, struct str key,
			      const struct sched_msg *local)
{
	struct fleet_managed *g = w == NULL ? NULL : w->managed;

	if (w == NULL && local != NULL) {
		strmap_set(m->others, key, m);
		return;
	}
	(void)strmap_remove(m->others, key);
	if (w == NULL) {
		return;
	}
	if (local == NULL) {
		leave_job(m, w);
		fleet_managed_renew(g);
	} else {
		g->was_local = true;
		g->collected = false;
		follow_owner(m, w);
	}
	look_at(m, w);
}

void fleet_manager_forget(struct fleet_manager *m, struct fleet_workload *w)
{
	leave_job(m, w);
}

static void on_identity(struct fleet_manager *m, const struct sched_msg *msg)
{
	const struct api_namespace *n = msg->object;

	if (msg->kind != SCHED_MSG_UPSERT || !str_eq_c(msg->key, FLEET_KINDS_IDENTITY)) {
		return;
	}
	free(m->identity);
	m->identity = xmalloc_dup(n->meta.uid);
	m->by.cluster = m->identity;
}

void fleet_manager_handle(struct fleet_manager *m, struct sched_msg *msg)
{
	struct local_job *j;

	if (msg->resource == SCHED_NAMESPACES) {
		on_identity(m, msg);
		return;
	}
	if (msg->resource != SCHED_JOBS || msg->kind == SCHED_MSG_BAD_OBJECT) {
		return; /* a Job that cannot be read is as it was */
	}
	j = job_of(m, msg->key, msg->kind == SCHED_MSG_UPSERT);
	if (j == NULL) {
		return;
	}
	message_free(j->object);
	j->object = msg->kind == SCHED_MSG_UPSERT ? message_ref(msg) : NULL;
	for (size_t i = 0; i < j->of.n; i++) {
		look_at(m, j->of.v[i]);
	}
	if (j->object == NULL && j->of.n == 0) {
		(void)strmap_remove(m->jobs, msg->key);
	}
}

/* --- objects on workers ------------------------------------------------------------------------*/

/* Another manager uses the same origin: reported once for each connection. */
static void report_other(struct fleet_manager *m, struct fleet_cluster *k, struct str key)
{
	const struct api_multikueue_cluster *object =
		fleet_clusters_object(m->opt.clusters, k->name);
	struct recorder_object about = { .api_version = KUEUE_API_VERSION,
					 .kind = "MultiKueueCluster",
					 .name = k->name };
	CLEANUP(xmalloc_freep) char *text = NULL;

	if (k->other_source == k->source && k->source != 0) {
		return;
	}
	k->other_source = k->source;
	text = xmalloc_printf(
		"%.*s has the origin \"%s\" and is of another manager, which needs an "
		"origin of its own (multiKueue.origin)",
		(int)key.len, key.p, m->by.origin);
	about.uid = object == NULL ? NULL : object->meta.uid;
	recorder_event(m->opt.recorder, &about, true, "OriginShared", text);
	log_warn("worker cluster has objects of another manager", LOG_STR("cluster", k->name),
		 LOG_STR("error", text));
}

void fleet_manager_replica(struct fleet_manager *m, struct fleet_workload *w,
			   struct fleet_cluster *k, struct sched_msg *msg)
{
	struct fleet_there *t = fleet_managed_there(w->managed, k);

	if (msg->kind == SCHED_MSG_BAD_OBJECT) {
		t->replica_source = msg->source; /* as it was seen last */
		return;
	}
	fleet_managed_set_replica(t, msg->kind == SCHED_MSG_UPSERT ? msg : NULL, &m->by,
				  msg->source);
	if (t->replica_foreign) {
		report_other(m, k, msg->key);
	}
	look_at(m, w);
}

/* The key of the Workload for which a Job on a worker was made by this manager; the caller frees
 * it. NULL: there is none. */
static char *workload_of(const struct fleet_manager *m, const struct sched_msg *job)
{
	const struct api_job *j = job == NULL ? NULL : job->object;
	const char *name = j == NULL || !replica_body_is_ours(&j->meta, &m->by)
				   ? NULL
				   : replica_body_workload_of(&j->meta);

	return name == NULL ? NULL : xmalloc_printf("%s/%s", j->meta.namespace_, name);
}

static void find_job(struct fleet_manager *m, struct fleet_cluster *k, struct fleet_workload *w,
		     struct sched_msg *job, struct sched_msg *gone)
{
	struct fleet_there *t = w == NULL ? NULL : fleet_managed_there(w->managed, k);

	if (t == NULL) {
		return;
	}
	if (gone != NULL) {
		fleet_managed_drop_job(t, gone);
	}
	fleet_managed_find_job(w->managed, t, w->key, job, &m->by);
	look_at(m, w);
}

static struct fleet_workload *record_of(struct fleet_manager *m, const char *key)
{
	return key == NULL ? NULL : m->opt.record(m->opt.ctx, str_of(key));
}

/* It counts for the Workload that it names, the one that it named before, and those that have the
 * local Job of its name. */
void fleet_manager_job(struct fleet_manager *m, struct fleet_cluster *k, struct sched_msg *msg)
{
	struct sched_msg *before = strmap_get(k->jobs, msg->key), *now = NULL;
	CLEANUP(xmalloc_freep) char *old = NULL, *new = NULL;
	struct local_job *j = job_of(m, msg->key, false);

	if (msg->kind == SCHED_MSG_BAD_OBJECT) {
		return;
	}
	before = before == NULL ? NULL : message_ref(before);
	old = workload_of(m, before);
	if (msg->kind == SCHED_MSG_UPSERT) {
		now = message_ref(msg);
		new = workload_of(m, now);
		strmap_set(k->jobs, msg->key, now);
	} else {
		(void)strmap_remove(k->jobs, msg->key);
	}
	if (old != NULL && (now == NULL || !str_streq(old, new))) {
		find_job(m, k, record_of(m, old), NULL, before);
	}
	if (new != NULL) {
		find_job(m, k, record_of(m, new), now, NULL);
	}
	for (size_t i = 0; j != NULL && i < j->of.n; i++) {
		find_job(m, k, j->of.v[i], NULL, now == NULL ? before : NULL);
	}
	message_free(before);
}

void fleet_manager_lose(struct fleet_workload *w, const struct fleet_cluster *k)
{
	struct fleet_there *t = fleet_managed_find(w->managed, k);

	if (t != NULL) {
		fleet_managed_lose(t);
	}
}

struct stale_jobs {
	const struct fleet_cluster *k;
	struct VEC(const char *) keys;
};

static bool add_if_stale(struct str key, void *value, void *ctx)
{
	struct stale_jobs *s = ctx;
	const struct sched_msg *job = value;

	if (job->source != s->k->source) {
		vec_push(&s->keys, strmap_key(s->k->jobs, key));
	}
	return true;
}

void fleet_manager_reach(struct fleet_manager *m UNUSED, struct fleet_cluster *k)
{
	struct stale_jobs s = { k, VEC_INIT };

	strmap_each(k->jobs, add_if_stale, &s);
	for (size_t i = 0; i < s.keys.n; i++) {
		(void)strmap_remove(k->jobs, str_of(s.keys.v[i]));
	}
	vec_finish(&s.keys);
}

void fleet_manager_reach_workload(struct fleet_manager *m, struct fleet_workload *w,
				  struct fleet_cluster *k)
{
	struct fleet_there *t = fleet_managed_find(w->managed, k);

	if (t != NULL) {
		fleet_managed_reach(t, k->source);
		fleet_managed_find_job(w->managed, t, w->key, NULL, &m->by);
	}
	look_at(m, w);
}

void fleet_manager_done(struct fleet_manager *m, struct fleet_workload *w,
			const struct fleet_cluster *k, const struct sched_msg *msg)
{
	struct fleet_there *t = k == NULL ? NULL : fleet_managed_find(w->managed, k);

	if (k == NULL || t != NULL) {
		fleet_carry_done(m->carry, w, t, msg, clock_wall(m->opt.clock));
		m->opt.look_at(m->opt.ctx, w);
	}
}

/* --- decisions ---------------------------------------------------------------------------------*/

void fleet_manager_lead(struct fleet_manager *m, int64_t now, int64_t connecting_until)
{
	m->began = now;
	m->connecting_until = connecting_until;
}

bool fleet_manager_collects(struct fleet_manager *m, int64_t mono, int64_t *ret_at)
{
	bool due = m->opt.gc_ns > 0 && m->collect_at != 0 && mono >= m->collect_at;

	if (m->opt.gc_ns > 0 && (due || m->collect_at == 0)) {
		m->collect_at = mono + m->opt.gc_ns;
	}
	*ret_at = m->opt.gc_ns > 0 ? m->collect_at : CLOCK_NEVER;
	return due;
}

void fleet_manager_collect(struct fleet_manager *m, struct fleet_workload *w)
{
	if (w->local == NULL && !w->managed->was_local && !strmap_has(m->others, str_of(w->key))) {
		w->managed->collected = true;
		look_at(m, w);
	}
}

/* The loss of a cluster that a manager before this one has written to the condition Active. The
 * cluster gets some time to connect first: it may be back. */
static int64_t reported_loss(const struct fleet_manager *m, const char *name, int64_t now)
{
	const struct api_multikueue_cluster *o = fleet_clusters_object(m->opt.clusters, name);
	const struct api_condition *c =
		o == NULL ? NULL : meta_condition(&o->status.conditions, "Active");

	return c == NULL || !str_streq(c->status, "False") || now < m->connecting_until ||
			       c->last_transition == FIELD_NO_TIME
		       ? MANAGER_NOT_KNOWN
		       : c->last_transition;
}

static void set_link(const struct fleet_manager *m, const struct fleet_cluster *k, int64_t now,
		     struct manager_cluster *c)
{
	bool stalled = k->is_stalled || k->has_stalled_jobs;

	if (k->source != 0 && !stalled) {
		c->link = MANAGER_UP;
	} else if (!k->was_up) {
		c->link = MANAGER_NEVER;
		c->lost_at = reported_loss(m, k->name, now);
	} else {
		c->link = MANAGER_LOST;
		c->lost_at = k->is_gone       ? k->gone_at
			     : k->source != 0 ? k->stalled_at
					      : link_lost_at(k->link);
	}
}

/* name lives as long as the decision. */
static void add(struct fleet_manager *m, struct fleet_managed *g, const char *name, bool configured,
		int64_t now)
{
	struct fleet_cluster *k = fleet_clusters_any(m->opt.clusters, str_of(name));
	struct fleet_there *t = k == NULL ? NULL : fleet_managed_there(g, k);
	struct manager_cluster c = { .name = name,
				     .configured = configured,
				     .link = MANAGER_NEVER,
				     .lost_at = MANAGER_NOT_KNOWN };

	for (size_t i = 0; i < m->clusters.n; i++) {
		if (strcmp(m->clusters.v[i].name, name) == 0) {
			return;
		}
	}
	if (k != NULL) {
		set_link(m, k, now, &c);
		if (t->job_sent && c.link == MANAGER_UP && !t->job_write.in_flight &&
		    t->job_write.written == 0 &&
		    (now < t->job_sent_at || now - t->job_sent_at > JOB_SENT_NS)) {
			t->job_sent = false;
		}
		c.replica = t->replica == NULL ? NULL : t->replica->object;
		c.job = t->job == NULL ? NULL : t->job->object;
		c.replica_taken = t->replica_foreign || t->replica_taken;
		c.job_taken = t->job_foreign || t->job_taken;
		c.job_sent = t->job_sent;
	}
	vec_push(&m->clusters, c);
	vec_push(&m->there, t);
}

static void add_clusters(struct fleet_manager *m, const struct fleet_workload *w,
			 const struct field_strs *configured, int64_t now)
{
	const struct api_workload *local = fleet_workload_local(w);
	struct fleet_managed *g = w->managed;

	vec_clear(&m->clusters);
	vec_clear(&m->there);
	for (size_t i = 0; configured != NULL && i < configured->n; i++) {
		add(m, g, configured->v[i], true, now);
	}
	for (size_t i = 0; i < g->there.n; i++) {
		const struct fleet_there *t = g->there.v[i];

		if (t->replica != NULL || t->job != NULL || t->job_sent) {
			add(m, g, t->cluster->name, false, now);
		}
	}
	if (local != NULL && local->status.cluster_name != NULL) {
		add(m, g, local->status.cluster_name, false, now);
	}
}

/* It is certain whether the local Workload exists, and what has been written to it was read. */
static bool may_decide(const struct fleet_manager *m, const struct fleet_workload *w, int64_t now)
{
	const struct fleet_managed *g = w->managed;

	if (w->local == NULL) {
		return (g->was_local || g->collected) && !strmap_has(m->others, str_of(w->key));
	}
	return !fleet_managed_awaits(&g->workload_write, w->local->resource_version, now);
}

static bool awaits(const struct fleet_write *w, const struct sched_msg *seen, int64_t now)
{
	return fleet_managed_awaits(w, seen == NULL ? 0 : seen->resource_version, now);
}

static int64_t wake_at(const struct fleet_manager *m, const struct fleet_managed *g, int64_t at,
		       int64_t now)
{
	at = g->tries.until > now ? clock_earlier(at, g->tries.until) : at;
	for (size_t i = 0; i < m->there.n; i++) {
		const struct fleet_there *t = m->there.v[i];

		if (m->clusters.v[i].link == MANAGER_NEVER && now < m->connecting_until) {
			at = clock_earlier(at, m->connecting_until); /* reported_loss */
		}
		if (t == NULL) {
			continue;
		}
		at = t->tries.until > now ? clock_earlier(at, t->tries.until) : at;
		if (t->job_sent && now - t->job_sent_at <= JOB_SENT_NS) {
			at = clock_earlier(at, t->job_sent_at + JOB_SENT_NS + CLOCK_NS_PER_S);
		}
		if (awaits(&t->replica_write, t->replica, now) ||
		    awaits(&t->job_write, t->job, now)) {
			at = clock_earlier(at, now + FLEET_MANAGED_AWAIT_NS);
		}
	}
	return at;
}

int64_t fleet_manager_decide(struct fleet_manager *m, struct fleet_workload *w, int64_t now)
{
	const struct api_workload *local = fleet_workload_local(w);
	struct fleet_managed *g = w->managed;
	const struct api_check_state *check =
		local == NULL ? NULL : fleet_offers_check(m->opt.offers, local);
	const struct field_strs *configured =
		check == NULL ? NULL : fleet_offers_clusters(m->opt.offers, check->name);
	const struct local_job *j =
		g->job_key == NULL ? NULL : job_of(m, str_of(g->job_key), false);
	struct fleet_carry_step carry = { .w = w,
					  .job = j == NULL ? NULL : j->object,
					  .check = check == NULL ? NULL : check->name,
					  .now = now };
	struct manager_view view = { .opt = &m->opt.manager,
				     .local = local,
				     .job = carry.job == NULL ? NULL : carry.job->object,
				     .check = carry.check,
				     .has_config = configured != NULL,
				     .began = m->began,
				     .round_at = g->round_at,
				     .now = now };
	struct manager_step step;
	int64_t at;

	if (!may_decide(m, w, now)) {
		return g->workload_write.written != 0 ? now + FLEET_MANAGED_AWAIT_NS : CLOCK_NEVER;
	}
	add_clusters(m, w, configured, now);
	view.clusters = m->clusters.v;
	view.n = m->clusters.n;
	arena_reset(m->arena);
	manager_next(&view, m->arena, &step);
	at = step.at;
	for (size_t i = 0; i < step.n; i++) {
		size_t cluster = step.v[i].cluster;

		fleet_carry_out(m->carry, &carry, &step.v[i],
				cluster == SIZE_MAX ? NULL : m->there.v[cluster]);
	}
	fleet_carry_end(&carry);
	for (size_t i = 0; i < m->there.n; i++) {
		if (m->there.v[i] != NULL && m->clusters.v[i].link == MANAGER_UP) {
			at = clock_earlier(at, fleet_carry_look(m->carry, w, m->there.v[i], now));
		}
	}
	return wake_at(m, g, at, now);
}
