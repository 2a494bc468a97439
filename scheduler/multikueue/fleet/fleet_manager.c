#include "scheduler/multikueue/fleet/fleet_manager.h"

#include <stdlib.h>
#include <string.h>

#include "api/core/namespace.h"
#include "api/kueue/kueue.h"
#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "api/kueue/multikueue.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "collections/vec.h"
#include "kube/pool.h"
#include "kube/recorder.h"
#include "process/log.h"
#include "scheduler/base/message.h"
#include "scheduler/multikueue/fleet/fleet_carry.h"
#include "scheduler/multikueue/manager/carried.h"
#include "scheduler/multikueue/records/fleet_clusters.h"
#include "scheduler/multikueue/records/fleet_kinds.h"
#include "scheduler/multikueue/records/fleet_locals.h"
#include "scheduler/multikueue/records/fleet_managed.h"
#include "scheduler/multikueue/records/fleet_offers.h"
#include "scheduler/multikueue/records/fleet_workload.h"
#include "scheduler/multikueue/worker/custom_lists.h"
#include "scheduler/multikueue/worker/link.h"

struct fleet_manager {
	struct fleet_manager_options opt;
	struct replica_body_manager by;
	char *identity; /* of by */
	struct fleet_carry *carry;
	struct fleet_locals *locals;
	struct custom_lists customs; /* at the manager's API server */
	struct strmap *others;       /* keys of local Workloads without a record */
	struct arena *arena;         /* of the decision at hand */
	struct strbuf spec;          /* the same: of the local Workload, as spec_sync compares it */
	struct VEC(struct manager_cluster) clusters;
	struct VEC(struct fleet_there *) there; /* of each of them; NULL: of one that does not exist
						 */
	struct VEC(struct fleet_part **) parts; /* of each of them: of its `jobs`, in the arena */
	int64_t began, connecting_until;        /* wall ns */
	int64_t collect_at;                     /* mono ns; 0: not begun */
};

static void look_at(struct fleet_manager *m, struct fleet_workload *w)
{
	fleet_managed_changed(w->managed);
	m->opt.look_at(m->opt.ctx, w);
}

static void look_for_locals(void *ctx, struct fleet_workload *w)
{
	look_at(ctx, w);
}

struct fleet_manager *fleet_manager_create(const struct fleet_manager_options *opt,
					   const struct pool_options *base)
{
	struct fleet_manager *m = xmalloc_zero(1, sizeof(*m));

	m->opt = *opt;
	m->by = (struct replica_body_manager){ opt->origin, NULL };
	custom_lists_init(&m->customs, opt->customs);
	m->carry = fleet_carry_create(&(struct fleet_carry_options){ .counters = opt->counters,
								     .recorder = opt->recorder,
								     .by = &m->by,
								     .customs = &m->customs,
								     .gated = opt->manager.gated,
								     .post = opt->post },
				      base);
	m->locals = fleet_locals_create(opt->kinds, opt->customs, look_for_locals, m);
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
	fleet_locals_destroy(m->locals);
	custom_lists_finish(&m->customs);
	strmap_destroy(m->others);
	arena_destroy(m->arena);
	strbuf_finish(&m->spec);
	vec_finish(&m->clusters);
	vec_finish(&m->there);
	vec_finish(&m->parts);
	free(m->identity);
	free(m);
}

struct pool *fleet_manager_pool(struct fleet_manager *m)
{
	return fleet_carry_pool(m->carry);
}

/* --- local objects -----------------------------------------------------------------------------*/

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
		fleet_locals_leave(m->locals, w);
	} else {
		g->was_local = true;
		g->collected = false;
		fleet_locals_follow(m->locals, w);
	}
	look_at(m, w);
}

void fleet_manager_forget(struct fleet_manager *m, struct fleet_workload *w)
{
	fleet_locals_leave(m->locals, w);
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
	if (msg->resource == SCHED_NAMESPACES) {
		on_identity(m, msg);
	} else {
		fleet_locals_handle(m->locals, msg);
	}
}

void fleet_manager_custom(struct fleet_manager *m, const struct sched_msg *msg)
{
	custom_lists_handle(&m->customs, msg, clock_wall(m->opt.clock));
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
	if (t->replica.foreign) {
		report_other(m, k, msg->key);
	}
	look_at(m, w);
}

/* The key of the Workload for which the object of a job on a worker was made by this manager; the
 * caller frees it. NULL: there is none. */
static char *workload_of(const struct fleet_manager *m, const struct carried_kind *kind,
			 const struct sched_msg *object)
{
	const struct api_meta *meta = object == NULL ? NULL : kind->meta(object->object);
	const char *name = meta == NULL || !replica_body_is_ours(meta, &m->by)
				   ? NULL
				   : replica_body_workload_of(meta);

	return name == NULL ? NULL : xmalloc_printf("%s/%s", meta->namespace_, name);
}

/* gone: the object as it was; NULL: it is there. */
static void see_part(struct fleet_manager *m, struct fleet_cluster *k, struct fleet_workload *w,
		     const struct sched_msg *msg, const struct sched_msg *gone)
{
	struct fleet_there *t = fleet_managed_there(w->managed, k);
	struct fleet_part *part = fleet_managed_part(t, msg->resource, msg->key, true);

	if (gone != NULL) {
		fleet_managed_drop(part, gone);
	}
	fleet_managed_see(t, part, w->key, &m->by);
	look_at(m, w);
}

static void see_part_of(struct fleet_manager *m, struct fleet_cluster *k, const char *workload,
			const struct sched_msg *msg, const struct sched_msg *gone)
{
	if (workload != NULL) {
		see_part(m, k, m->opt.record(m->opt.ctx, str_of(workload)), msg, gone);
	}
}

/* It counts for the Workload that it names, the one that it named before, and those that have the
 * local object of its name. */
void fleet_manager_job(struct fleet_manager *m, struct fleet_cluster *k, struct sched_msg *msg)
{
	struct sched_msg *before = fleet_clusters_carried(k, msg->resource, msg->key);
	const struct fleet_job *j = fleet_locals_with(m->locals, msg->resource, msg->key);
	CLEANUP(xmalloc_freep) char *old = NULL, *new = NULL;
	enum carried c;

	if (msg->kind == SCHED_MSG_BAD_OBJECT || !carried_find(msg->resource, &c)) {
		return;
	}
	before = before == NULL ? NULL : message_ref(before);
	old = workload_of(m, carried_row(c), before);
	if (msg->kind == SCHED_MSG_UPSERT) {
		new = workload_of(m, carried_row(c), msg);
		strmap_set(k->carried[c], msg->key, message_ref(msg));
	} else {
		(void)strmap_remove(k->carried[c], msg->key);
	}
	if (!str_streq(old, new)) {
		see_part_of(m, k, old, msg, before);
	}
	see_part_of(m, k, new, msg, NULL);
	for (size_t i = 0; j != NULL && i < j->of.n; i++) {
		see_part(m, k, j->of.v[i], msg, msg->kind == SCHED_MSG_DELETE ? before : NULL);
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

struct stale {
	uint64_t source;
	const struct strmap *map;
	struct VEC(const char *) keys;
};

static bool add_if_stale(struct str key, void *value, void *ctx)
{
	struct stale *s = ctx;
	const struct sched_msg *object = value;

	if (object->source != s->source) {
		vec_push(&s->keys, strmap_key(s->map, key));
	}
	return true;
}

void fleet_manager_reach(struct fleet_manager *m UNUSED, struct fleet_cluster *k)
{
	for (unsigned c = 0; c < CARRIED_COUNT_; c++) {
		struct stale s = { .source = k->source, .map = k->carried[c] };

		strmap_each(k->carried[c], add_if_stale, &s);
		for (size_t i = 0; i < s.keys.n; i++) {
			(void)strmap_remove(k->carried[c], str_of(s.keys.v[i]));
		}
		vec_finish(&s.keys);
	}
}

void fleet_manager_reach_workload(struct fleet_manager *m, struct fleet_workload *w,
				  struct fleet_cluster *k)
{
	struct fleet_there *t = fleet_managed_find(w->managed, k);

	if (t != NULL) {
		fleet_managed_reach(t, k->source);
		for (size_t i = 0; i < t->parts.n; i++) {
			fleet_managed_see(t, t->parts.v[i], w->key, &m->by);
		}
	}
	look_at(m, w);
}

void fleet_manager_done(struct fleet_manager *m, struct fleet_workload *w,
			const struct fleet_cluster *k, const struct sched_msg *msg)
{
	struct fleet_there *t = k == NULL ? NULL : fleet_managed_find(w->managed, k);
	struct fleet_local *local = NULL;

	if (msg->request == SCHED_REQ_JOB_STATUS) {
		local = fleet_locals_find(m->locals, msg->resource, str_of(msg->about));
		if (local == NULL) {
			return; /* it has gone meanwhile */
		}
	}
	if (k == NULL || t != NULL) {
		fleet_carry_done(m->carry, w, t, local, msg, clock_wall(m->opt.clock));
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
	bool stalled = k->is_stalled || k->stalled_jobs != 0;

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

/* A decision as it is made. */
struct decision {
	struct fleet_manager *m;
	struct fleet_workload *w;
	const struct fleet_job *job;      /* NULL: none is known */
	const struct custom_kind *custom; /* of the job; NULL: it has another kind */
	size_t njobs;                     /* its objects */
	int64_t now;
};

/* NULL: objects of the job's kind can be used at this API server. In the arena. */
static const char *problem_of(const struct decision *d, const struct custom_lists *lists)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	return d->custom != NULL && custom_lists_problem(lists, d->custom, &text)
		       ? arena_dup(d->m->arena, text.p)
		       : NULL;
}

/* A cluster on which objects of the kind cannot be read is as one that cannot be reached, for those
 * that need them. */
static void set_kind(const struct decision *d, const struct fleet_cluster *k,
		     struct manager_cluster *c)
{
	const struct custom_lists *lists = k->is_gone ? NULL : link_customs(k->link);
	int64_t since;

	if (d->custom == NULL || lists == NULL || c->link != MANAGER_UP) {
		return;
	}
	c->kind_problem = problem_of(d, lists);
	if (!custom_lists_is_complete(lists, d->custom, d->now, &since)) {
		c->link = MANAGER_LOST;
		c->lost_at = since;
	}
}

static bool is_local(const void *ctx, const struct fleet_part *part)
{
	const struct decision *d = ctx;
	size_t from = 0, to = d->njobs;

	while (from < to) {
		size_t i = from + (to - from) / 2;
		const struct sched_msg *m = d->job->objects.v[i]->object;
		int by = str_cmp(m->key, str_of(part->key));

		if (by == 0) {
			return m->resource == part->resource;
		}
		if (by < 0) {
			from = i + 1;
		} else {
			to = i;
		}
	}
	return false;
}

/* Of kinds of the configuration, the text of larger objects is not kept. */
static bool is_too_large(const struct sched_msg *object)
{
	return object->resource == SCHED_CUSTOM && object->json.p == NULL;
}

static struct carried_object object_of(struct fleet_part *part)
{
	enum carried c;
	bool exists = part->o.object != NULL && carried_find(part->resource, &c);

	return (struct carried_object){
		.object = exists ? part->o.object->object : NULL,
		.meta = exists ? carried_row(c)->meta(part->o.object->object) : NULL,
		.digest = exists ? fleet_managed_digest(&part->digest, part->o.object) : 0,
		.too_large = exists && is_too_large(part->o.object),
		.taken = part->o.foreign || part->o.taken,
		.sent = part->sent,
	};
}

/* Those of local objects come first, in their order. */
static struct fleet_part **parts_of(const struct decision *d, struct fleet_there *t, size_t *ret_n)
{
	struct fleet_part **list;
	size_t n = 0;

	for (size_t i = 0; i < d->njobs; i++) {
		const struct sched_msg *m = d->job->objects.v[i]->object;
		struct fleet_part *part = fleet_managed_part(t, m->resource, m->key, true);

		fleet_managed_see(t, part, d->w->key, &d->m->by);
	}
	fleet_managed_tidy(t, is_local, d);
	list = arena_zero(d->m->arena, t->parts.n + 1, sizeof(struct fleet_part *));
	for (; n < d->njobs; n++) {
		const struct sched_msg *m = d->job->objects.v[n]->object;

		list[n] = fleet_managed_part(t, m->resource, m->key, false);
	}
	for (size_t i = 0; i < t->parts.n; i++) {
		if (!is_local(d, t->parts.v[i])) {
			list[n++] = t->parts.v[i];
		}
	}
	*ret_n = n;
	return list;
}

/* Of a server that counts no generations, specs are compared each time. */
static enum spec_sync compare(const struct decision *d, struct fleet_there *t)
{
	const struct api_workload *here = fleet_workload_local(d->w);
	const struct api_workload *there =
		t->replica.object == NULL ? NULL : t->replica.object->object;
	struct fleet_compared *c = &t->compared;

	if (here == NULL || there == NULL) {
		return SPEC_SYNC_OTHER; /* does not count */
	}
	if (c->here == 0 || c->here != here->meta.generation ||
	    c->there != there->meta.generation) {
		if (d->m->spec.len == 0) {
			spec_sync_text(here, &d->m->spec);
		}
		*c = (struct fleet_compared){ here->meta.generation, there->meta.generation,
					      spec_sync_of(here, &d->m->spec, there) };
	}
	return c->result;
}

static void add_there(const struct decision *d, struct fleet_there *t, struct manager_cluster *c)
{
	size_t n;
	struct fleet_part **parts = parts_of(d, t, &n);
	struct carried_object *jobs = arena_zero(d->m->arena, n + 1, sizeof(*jobs));

	for (size_t i = 0; i < n; i++) {
		if (c->link == MANAGER_UP && !fleet_managed_is_sent(parts[i], d->now)) {
			parts[i]->sent = false;
		}
		jobs[i] = object_of(parts[i]);
	}
	c->replica = t->replica.object == NULL ? NULL : t->replica.object->object;
	c->sync = compare(d, t);
	c->replica_taken = t->replica.foreign || t->replica.taken;
	c->jobs = jobs;
	c->njobs = n;
	vec_push(&d->m->parts, parts);
}

/* name lives as long as the decision. */
static void add(const struct decision *d, const char *name, bool configured)
{
	struct fleet_manager *m = d->m;
	struct fleet_cluster *k = fleet_clusters_any(m->opt.clusters, str_of(name));
	struct fleet_there *t = k == NULL ? NULL : fleet_managed_there(d->w->managed, k);
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
		set_link(m, k, d->now, &c);
		set_kind(d, k, &c);
		add_there(d, t, &c);
	} else {
		vec_push(&m->parts, NULL);
	}
	vec_push(&m->clusters, c);
	vec_push(&m->there, t);
}

static bool has_any(const struct fleet_there *t)
{
	for (size_t i = 0; i < t->parts.n; i++) {
		if (t->parts.v[i]->o.object != NULL || t->parts.v[i]->sent) {
			return true;
		}
	}
	return t->replica.object != NULL;
}

static void add_clusters(const struct decision *d, const struct field_strs *configured)
{
	const struct api_workload *local = fleet_workload_local(d->w);
	struct fleet_managed *g = d->w->managed;
	struct fleet_manager *m = d->m;

	vec_clear(&m->clusters);
	vec_clear(&m->there);
	vec_clear(&m->parts);
	for (size_t i = 0; configured != NULL && i < configured->n; i++) {
		add(d, configured->v[i], true);
	}
	for (size_t i = 0; i < g->there.n; i++) {
		if (has_any(g->there.v[i])) {
			add(d, g->there.v[i]->cluster->name, false);
		}
	}
	if (local != NULL && local->status.cluster_name != NULL) {
		add(d, local->status.cluster_name, false);
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

static bool awaits(const struct fleet_object *o, int64_t now)
{
	return fleet_managed_awaits(&o->write, o->object == NULL ? 0 : o->object->resource_version,
				    now);
}

static int64_t wake_there(const struct fleet_there *t, int64_t at, int64_t now)
{
	bool waits = awaits(&t->replica, now);

	at = t->tries.until > now ? clock_earlier(at, t->tries.until) : at;
	for (size_t i = 0; i < t->parts.n; i++) {
		const struct fleet_part *part = t->parts.v[i];

		if (part->sent && now - part->sent_at <= FLEET_MANAGED_SENT_NS) {
			at = clock_earlier(at,
					   part->sent_at + FLEET_MANAGED_SENT_NS + CLOCK_NS_PER_S);
		}
		waits |= awaits(&part->o, now);
	}
	return waits ? clock_earlier(at, now + FLEET_MANAGED_AWAIT_NS) : at;
}

static int64_t wake_at(const struct fleet_manager *m, const struct fleet_managed *g, int64_t at,
		       int64_t now)
{
	at = g->tries.until > now ? clock_earlier(at, g->tries.until) : at;
	for (size_t i = 0; i < m->there.n; i++) {
		if (m->clusters.v[i].link == MANAGER_NEVER && now < m->connecting_until) {
			at = clock_earlier(at, m->connecting_until); /* reported_loss */
		}
		if (m->there.v[i] != NULL) {
			at = wake_there(m->there.v[i], at, now);
		}
	}
	return at;
}

static void carry_out(const struct decision *d, struct fleet_carry_step *s,
		      const struct manager_action *a)
{
	bool is_local = a->act == MANAGER_RESET_JOB;
	struct fleet_carry_on on = { .t = NULL };

	if (a->cluster != SIZE_MAX) {
		on.t = d->m->there.v[a->cluster];
		on.part = a->job < d->m->clusters.v[a->cluster].njobs
				  ? d->m->parts.v[a->cluster][a->job]
				  : NULL;
	}
	if ((a->cluster != SIZE_MAX || is_local) && a->job < d->njobs) {
		on.local = d->job->objects.v[a->job];
	}
	fleet_carry_out(d->m->carry, s, a, &on);
}

static void make_view(const struct decision *d, const struct fleet_carry_step *s,
		      const struct field_strs *configured, struct manager_view *ret)
{
	struct carried_object *jobs;

	add_clusters(d, configured);
	jobs = arena_zero(d->m->arena, d->njobs + 1, sizeof(*jobs));
	for (size_t i = 0; i < d->njobs; i++) {
		struct fleet_local *local = d->job->objects.v[i];

		jobs[i].object = local->object->object;
		jobs[i].meta = s->kind->meta(local->object->object);
		jobs[i].digest = fleet_managed_digest(&local->digest, local->object);
		jobs[i].too_large = is_too_large(local->object);
	}
	*ret = (struct manager_view){ .opt = &d->m->opt.manager,
				      .local = fleet_workload_local(d->w),
				      .kind = s->kind,
				      .jobs = jobs,
				      .njobs = d->njobs,
				      .kind_problem = problem_of(d, &d->m->customs),
				      .check = s->check,
				      .has_config = configured != NULL,
				      .clusters = d->m->clusters.v,
				      .n = d->m->clusters.n,
				      .began = d->m->began,
				      .round_at = d->w->managed->round_at,
				      .now = d->now };
}

/* Once for each time that an object becomes too large. */
static void report_too_large(const struct decision *d, const struct fleet_carry_step *s,
			     const struct manager_view *v)
{
	for (size_t i = 0; d->custom != NULL && i < v->n; i++) {
		const struct manager_cluster *c = &v->clusters[i];
		bool won = v->local != NULL && str_streq(v->local->status.cluster_name, c->name);

		for (size_t k = 0; won && k < v->njobs && k < c->njobs; k++) {
			struct fleet_part *part = d->m->parts.v[i][k];
			bool here = v->jobs[k].too_large;
			bool large = c->jobs[k].object != NULL && (here || c->jobs[k].too_large);

			if (large && !part->large) {
				fleet_carry_too_large(d->m->carry, s, d->m->there.v[i],
						      v->jobs[k].meta, here);
			}
			part->large = large;
		}
	}
}

static int64_t look_at_names(struct fleet_manager *m, struct fleet_workload *w, int64_t at,
			     int64_t now)
{
	for (size_t i = 0; i < m->there.n; i++) {
		if (m->there.v[i] != NULL && m->clusters.v[i].link == MANAGER_UP) {
			at = clock_earlier(at, fleet_carry_look(m->carry, w, m->there.v[i], now));
		}
	}
	return at;
}

int64_t fleet_manager_decide(struct fleet_manager *m, struct fleet_workload *w, int64_t now)
{
	const struct api_workload *local = fleet_workload_local(w);
	const struct api_check_state *check =
		local == NULL ? NULL : fleet_offers_check(m->opt.offers, local);
	struct decision d = { .m = m, .w = w, .job = fleet_locals_of(m->locals, w), .now = now };
	struct fleet_carry_step carry = { .w = w,
					  .kind = fleet_locals_kind(m->locals, w),
					  .check = check == NULL ? NULL : check->name,
					  .now = now,
					  .replica = STRBUF_INIT };
	struct manager_view view;
	struct manager_step step;

	if (!may_decide(m, w, now)) {
		return w->managed->workload_write.written != 0 ? now + FLEET_MANAGED_AWAIT_NS
							       : CLOCK_NEVER;
	}
	arena_reset(m->arena);
	strbuf_reset(&m->spec);
	d.custom = carry.kind == NULL ? NULL : carry.kind->custom;
	if (d.custom != NULL && !custom_lists_is_fresh(&m->customs, d.custom)) {
		d.job = NULL; /* its objects may be of before this process led */
	}
	d.njobs = d.job == NULL ? 0 : d.job->objects.n;
	make_view(&d, &carry,
		  check == NULL ? NULL : fleet_offers_clusters(m->opt.offers, check->name), &view);
	report_too_large(&d, &carry, &view);
	manager_next(&view, m->arena, &step);
	for (size_t i = 0; i < step.n; i++) {
		carry_out(&d, &carry, &step.v[i]);
	}
	fleet_carry_end(&carry);
	return wake_at(m, w->managed, look_at_names(m, w, step.at, now), now);
}
