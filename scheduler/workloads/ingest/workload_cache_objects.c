#include <stdlib.h>

#include "api/core/limit_range.h"
#include "api/core/namespace.h"
#include "api/core/runtime_class.h"
#include "api/kueue/kueue.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/mix.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "scheduler/workloads/conf/kueue_conf.h"
#include "scheduler/workloads/ingest/from_kueue.h"
#include "scheduler/workloads/ingest/workload_cache_priv.h"
#include "scheduler/workloads/pending/usage.h"

/* The last version of an object with a spec, to skip updates of its status, which we write. */
struct seen {
	uint64_t uid;
	int64_t generation;
	bool terminating;
};

struct strmap *workload_cache_objects_seen(void)
{
	return strmap_create(free);
}

static void seen_key(enum sched_resource r, struct str key, struct strbuf *out)
{
	strbuf_printf(out, "%d/", (int)r);
	strbuf_add_str(out, key);
}

/* True: the spec is as it was. Objects without a generation are always news. */
static bool is_known(struct workload_cache *c, const struct sched_msg *m,
		     const struct api_meta *meta)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	struct seen now = { str_hash(str_of(meta->uid)), meta->generation,
			    meta->deleted != FIELD_NO_TIME };
	struct seen *old;

	seen_key(m->resource, m->key, &key);
	old = strmap_get(c->seen, strbuf_str(&key));
	/* The UID as well: a new object of the name begins with generation 1 again. */
	if (old != NULL && now.generation != 0 && old->uid == now.uid &&
	    old->generation == now.generation && old->terminating == now.terminating) {
		return true;
	}
	old = xmalloc_zero(1, sizeof(*old));
	*old = now;
	strmap_set(c->seen, strbuf_str(&key), old);
	return false;
}

static void forget(struct workload_cache *c, const struct sched_msg *m)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;

	seen_key(m->resource, m->key, &key);
	(void)strmap_remove(c->seen, strbuf_str(&key));
}

/* The trees, or the queues that may admit, may have changed. */
static void changed(struct workload_cache *c, int64_t now)
{
	c->nodes_stale = true;
	c->pending_stale = true;
	/* Which LocalQueues go by usage may have changed as well. */
	c->sample_at = now;
	c->specs++;
	workload_cache_want_flush_all(c, now);
}

static int upsert_queue(struct workload_cache *c, const struct sched_msg *m, int64_t now,
			struct err *err)
{
	const struct api_cluster_queue *cq = m->object;
	int r;

	if (is_known(c, m, &cq->meta)) {
		return 0;
	}
	r = from_kueue_queue(c->q, cq, err);
	if (r == 0) {
		changed(c, now);
	}
	return r;
}

static int upsert_cohort(struct workload_cache *c, const struct sched_msg *m, int64_t now,
			 struct err *err)
{
	const struct api_cohort *o = m->object;
	int r;

	if (is_known(c, m, &o->meta)) {
		return 0;
	}
	r = from_kueue_cohort(c->q, o, err);
	if (r == 0) {
		changed(c, now);
	}
	return r;
}

static int upsert_local(struct workload_cache *c, const struct sched_msg *m, int64_t now,
			struct err *err)
{
	const struct api_local_queue *o = m->object;
	bool known = is_known(c, m, &o->meta);
	struct local_queue *local;
	int r;

	/* Only admission fair sharing reads the status of a LocalQueue. */
	if (known && !c->q->options.admission_fair_sharing) {
		return 0;
	}
	r = from_kueue_local(c->q, o, err);
	if (r < 0) {
		return r;
	}
	local = quota_local_find(c->q, m->key);
	/* The leader's own samples are newer than the status that it wrote. */
	if (c->q->options.admission_fair_sharing &&
	    (!c->samples || local->sampled_at == MODEL_TIME_NONE)) {
		from_kueue_local_usage(c->q, local, o);
	}
	/* The weight may be another one. */
	usage_weigh(c->q, local);
	if (!known) {
		c->pending_stale = true;
		c->sample_at = now;
		c->specs++;
		workload_cache_want_flush_all(c, now);
	}
	return 0;
}

static int upsert_flavor(struct workload_cache *c, const struct sched_msg *m, int64_t now,
			 struct err *err)
{
	const struct api_resource_flavor *o = m->object;
	int r;

	if (is_known(c, m, &o->meta)) {
		return 0;
	}
	r = from_kueue_flavor(c->q, o, err);
	if (r == 0) {
		changed(c, now);
	}
	return r;
}

/* Whether a check is Active is in its status, which the generation does not count: the flag itself
 * is compared. */
static int upsert_check(struct workload_cache *c, const struct sched_msg *m, int64_t now,
			struct err *err UNUSED)
{
	const struct quota_admission_check *old = quota_check_find(c->q, m->key), *new;
	struct quota_admission_check was = { 0 };
	bool had = old != NULL;

	if (had) {
		was = *old;
	}
	from_kueue_check(c->q, m->object);
	new = quota_check_find(c->q, m->key);
	if (!had || (new != NULL && (new->active != was.active || new->kind != was.kind))) {
		changed(c, now);
	}
	return 0;
}

static uint64_t labels_hash(const struct quota_namespace *n)
{
	uint64_t h = n == NULL ? 1 : 2;

	for (size_t i = 0; n != NULL && i < n->nlabels; i++) {
		h = mix(h, str_hash(str_of(n->labels[i].key)));
		h = mix(h, str_hash(str_of(n->labels[i].value)));
	}
	return h;
}

/* ClusterQueues select namespaces by labels. A flush tries all inadmissible Workloads again, so
 * other changes cause none. */
static int upsert_namespace(struct workload_cache *c, const struct sched_msg *m, int64_t now,
			    struct err *err)
{
	uint64_t before = labels_hash(quota_namespace_find(c->q, m->key));
	int r = from_kueue_namespace(c->q, m->object, err);

	if (r == 0 && labels_hash(quota_namespace_find(c->q, m->key)) != before) {
		workload_cache_want_flush_all(c, now);
	}
	return r;
}

/* The requests of waiting Workloads may have changed. namespace_ empty: in all namespaces.
 * Those that hold quota hold what their admission says, whatever they would request now. */
static void want_reread(struct workload_cache *c, struct str namespace_)
{
	for (uint32_t i = 0; i < c->q->workloads.n; i++) {
		const struct workload *w = c->q->workloads.v[i];

		if (w != NULL && w->holding.node == MODEL_NONE && !w->flags.finished &&
		    (namespace_.len == 0 || str_eq_c(namespace_, w->object.namespace_))) {
			vec_push(&c->unread, i);
		}
	}
}

static void limits_changed(struct workload_cache *c, struct str key)
{
	want_reread(c, str_next(&key, '/'));
}

static int upsert_limits(struct workload_cache *c, const struct sched_msg *m, int64_t now UNUSED,
			 struct err *err UNUSED)
{
	from_kueue_rules_limits(c->rules, m->object);
	limits_changed(c, m->key);
	return 0;
}

static int upsert_runtime(struct workload_cache *c, const struct sched_msg *m, int64_t now UNUSED,
			  struct err *err UNUSED)
{
	from_kueue_rules_runtime(c->rules, m->object);
	/* RuntimeClasses have no namespace. */
	want_reread(c, STR_LIT(""));
	return 0;
}

/* Topologies are not watched: only manifests and dumps bring them. */
static int upsert_topology(struct workload_cache *c, const struct sched_msg *m, int64_t now,
			   struct err *err UNUSED)
{
	from_kueue_topology(c->q, m->object);
	changed(c, now);
	return 0;
}

/* --- gone --------------------------------------------------------------------------------------*/

static void clear_node(struct workload_cache *c, struct quota_node *n, int64_t now)
{
	if (n != NULL && n->exists) {
		quota_node_clear(n);
		changed(c, now);
	}
}

static void remove_queue(struct workload_cache *c, struct str name, int64_t now)
{
	clear_node(c, quota_queue_find(c->q, name), now);
}

static void remove_cohort(struct workload_cache *c, struct str name, int64_t now)
{
	clear_node(c, quota_cohort_find(c->q, name), now);
}

static void remove_local(struct workload_cache *c, struct str key, int64_t now UNUSED)
{
	struct local_queue *l = quota_local_find(c->q, key);

	if (l != NULL) {
		quota_local_remove(c->q, l);
		c->pending_stale = true;
		c->specs++;
	}
}

static void remove_flavor(struct workload_cache *c, struct str name, int64_t now)
{
	struct flavor *f = quota_flavor_find(c->q, name);

	if (f != NULL && f->exists) {
		/* The record stays, because ids of flavors are not given again; ClusterQueues that
		 * name it become inactive. */
		quota_flavor_clear(f);
		changed(c, now);
	}
}

/* No flush: without its namespace no Workload is admitted (nomination.c). */
static void remove_namespace(struct workload_cache *c, struct str name, int64_t now UNUSED)
{
	quota_namespace_remove(c->q, name);
}

static void remove_limits(struct workload_cache *c, struct str key, int64_t now UNUSED)
{
	from_kueue_rules_no_limits(c->rules, key);
	limits_changed(c, key);
}

static void remove_runtime(struct workload_cache *c, struct str name, int64_t now UNUSED)
{
	from_kueue_rules_no_runtime(c->rules, name);
	want_reread(c, STR_LIT(""));
}

static void remove_check(struct workload_cache *c, struct str name, int64_t now)
{
	quota_check_remove(c->q, name);
	changed(c, now);
}

static void remove_topology(struct workload_cache *c, struct str name, int64_t now)
{
	quota_topology_set(c->q, name, false);
	changed(c, now);
}

/* --- by kind -----------------------------------------------------------------------------------*/

/* Kinds without a row are passed to the listener only. */
static const struct {
	int (*upsert)(struct workload_cache *c, const struct sched_msg *m, int64_t now,
		      struct err *err);
	void (*remove)(struct workload_cache *c, struct str key, int64_t now);
} rows[SCHED_RESOURCE_COUNT_] = {
	[SCHED_NAMESPACES] = { upsert_namespace, remove_namespace },
	[SCHED_FLAVORS] = { upsert_flavor, remove_flavor },
	[SCHED_CLUSTER_QUEUES] = { upsert_queue, remove_queue },
	[SCHED_COHORTS] = { upsert_cohort, remove_cohort },
	[SCHED_LOCAL_QUEUES] = { upsert_local, remove_local },
	[SCHED_ADMISSION_CHECKS] = { upsert_check, remove_check },
	[SCHED_LIMIT_RANGES] = { upsert_limits, remove_limits },
	[SCHED_RUNTIME_CLASSES] = { upsert_runtime, remove_runtime },
	[SCHED_TOPOLOGIES] = { upsert_topology, remove_topology },
};

bool workload_cache_objects_reads(enum sched_resource r)
{
	return rows[r].upsert != NULL;
}

static void report(struct workload_cache *c, struct sched_msg *m)
{
	if (c->listener.on_object != NULL) {
		c->listener.on_object(c->listener.ctx, m);
	}
}

int workload_cache_objects_upsert(struct workload_cache *c, struct sched_msg *m, int64_t now,
				  struct err *err)
{
	int r = rows[m->resource].upsert == NULL ? 0 : rows[m->resource].upsert(c, m, now, err);

	if (r == 0) {
		report(c, m);
	} else {
		/* It was noted as seen before it was read: the next update of it must not be passed
		 * over. */
		forget(c, m);
	}
	return r;
}

void workload_cache_objects_remove(struct workload_cache *c, struct sched_msg *m, int64_t now)
{
	forget(c, m);
	if (rows[m->resource].remove != NULL) {
		rows[m->resource].remove(c, m->key, now);
	}
	report(c, m);
}
