#include "scheduler/workloads/engine/reconciler.h"

#include <inttypes.h>
#include <stdlib.h>

#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/json_out.h"
#include "kube/pool.h"
#include "scheduler/workloads/conf/kueue_conf.h"
#include "scheduler/workloads/controller/owner_controller.h"
#include "scheduler/workloads/ingest/workload_cache.h"
#include "scheduler/workloads/metrics/workload_metrics.h"
#include "scheduler/workloads/model/quota_store.h"
#include "scheduler/workloads/owners/owner_write.h"
#include "scheduler/workloads/status/workload_reconcile.h"

#define POOL_SLOTS 32
#define MAX_CHECKS 64

struct reconciler {
	struct reconciler_options opt;
	struct owner_controller *owners;
	struct owner_write_target target;
	struct pool *pool;
	struct VEC(uint32_t) todo; /* ids of Workloads that are listed */
	int64_t next;              /* the earliest time of all */
	uint64_t specs;            /* changes of queues that were looked at */
};

/* An unreadable Workload is left out, because nothing is written to it. */
static void want(struct reconciler *l, struct workload *w)
{
	if (!w->due.listed && !w->object.unreadable) {
		w->due.listed = true;
		vec_push(&l->todo, w->id);
	}
}

static void wake_at(struct reconciler *l, struct workload *w, int64_t at)
{
	w->due.at = at;
	l->next = at < l->next ? at : l->next;
}

static struct workload *find(const struct reconciler *l, struct str key)
{
	return quota_workload_find(workload_cache_world(l->opt.cache), key);
}

void reconciler_touch(struct reconciler *l, struct str key)
{
	struct workload *w = find(l, key);

	if (w != NULL) {
		want(l, w);
	}
}

void reconciler_put_off(struct reconciler *l, struct str key, int64_t at)
{
	struct workload *w = find(l, key);

	if (w != NULL) {
		wake_at(l, w, at);
	}
}

static void on_activity(void *ctx, struct str key)
{
	reconciler_touch(ctx, key);
}

/* The status that was decided may be ahead of the one in the API; after a conflict it may be
 * behind. */
static bool may_start(void *ctx, struct str key)
{
	const struct reconciler *l = ctx;
	const struct workload *w = find(l, key);
	const struct conditions *c = w == NULL ? NULL : workload_cache_status(l->opt.cache, w);

	return c != NULL && !workload_cache_is_outdated(w) &&
	       conditions_is_true(c, KUEUE_ADMITTED) && !conditions_is_true(c, KUEUE_EVICTED);
}

static bool knows(void *ctx, struct str key)
{
	const struct reconciler *l = ctx;

	return find(l, key) != NULL;
}

static void read_again(void *ctx, struct str key)
{
	const struct reconciler *l = ctx;

	l->opt.read(l->opt.ctx, key);
}

/* Every replica sees the same events; only the one that writes counts them. */
static bool counts(struct reconciler *l)
{
	return l->opt.metrics != NULL && owner_write_may_send(&l->target);
}

static void on_created(void *ctx, const char *kind, const struct api_workload *w UNUSED, int64_t ns)
{
	struct reconciler *l = ctx;

	if (counts(l)) {
		workload_metrics_created(l->opt.metrics, kind, ns);
	}
}

static void on_ungated(void *ctx, const struct api_workload *w, bool group, int64_t ns)
{
	struct reconciler *l = ctx;

	if (counts(l)) {
		workload_metrics_ungated(l->opt.metrics, w->status.admission->cluster_queue, group,
					 ns);
	}
}

struct reconciler *reconciler_create(const struct reconciler_options *opt)
{
	struct reconciler *l = xmalloc_zero(1, sizeof(*l));
	struct owner_controller_options oo = { .base = opt->base,
					       .which = &opt->conf->owners,
					       .recorder = opt->recorder,
					       .wait_pods_ready = opt->conf->times.wait_pods_ready,
					       .may_start = may_start,
					       .knows = knows,
					       .read = read_again,
					       .on_created = on_created,
					       .on_ungated = on_ungated,
					       .ctx = l };
	struct pool_options po = *opt->base;

	l->opt = *opt;
	l->opt.base = NULL;
	l->next = INT64_MAX;
	l->owners = owner_controller_create(&oo);
	owner_controller_watch(l->owners, on_activity, l);
	l->target = (struct owner_write_target){ opt->recorder, po.may_send, po.ctx };
	po.name = "workload";
	po.ops = &owner_write_ops;
	po.ctx = &l->target;
	po.may_send = owner_write_may_send;
	po.slots = POOL_SLOTS;
	l->pool = pool_create(&po);
	return l;
}

void reconciler_destroy(struct reconciler *l)
{
	if (l == NULL) {
		return;
	}
	owner_controller_destroy(l->owners);
	pool_destroy(l->pool);
	vec_finish(&l->todo);
	free(l);
}

size_t reconciler_pools(struct reconciler *l, struct pool **out, size_t max)
{
	size_t n = 0;

	if (n < max) {
		out[n++] = owner_controller_pool(l->owners);
	}
	if (n < max) {
		out[n++] = l->pool;
	}
	return n;
}

/* --- objects -----------------------------------------------------------------------------------*/

void reconciler_workload(struct reconciler *l, struct str key, struct sched_msg *m)
{
	struct workload *known = find(l, key);

	if (m == NULL) {
		owner_controller_workload_gone(l->owners, key);
		return;
	}
	known->due.at = INT64_MAX;
	want(l, known);
	owner_controller_workload(l->owners, m);
}

struct owner_controller *reconciler_owners(struct reconciler *l)
{
	return l->owners;
}

/* --- writes to the object ----------------------------------------------------------------------*/

/* `what` names the write: a later one of this name takes its place. */
static void send(struct reconciler *l, const struct workload *w, const char *what,
		 struct owner_write *write)
{
	CLEANUP(xmalloc_freep) char *key = xmalloc_printf("%s/%s", what, w->key);

	write->workload = quota_workload_name(w);
	write->about.uid = w->object.uid;
	pool_add(l->pool, str_of(key), owner_write_new(w->object.namespace_, write));
}

/* With a resourceVersion: a replica that sends late must not undo an activation of the meantime. */
static void send_active(struct reconciler *l, const struct workload *w)
{
	CLEANUP(xmalloc_freep)
	char *body = xmalloc_printf("{\"metadata\":{\"uid\":\"%s\",\"resourceVersion\":\"%" PRId64
				    "\"},\"spec\":{\"active\":false}}",
				    w->object.uid, workload_cache_version(w));

	send(l, w, "active", &(struct owner_write){ .kind = OWNER_SYNC, .body = body });
}

static void send_finalizers(struct reconciler *l, const struct workload *w)
{
	CLEANUP(xmalloc_freep)
	char *version = xmalloc_printf("%" PRId64, workload_cache_version(w));
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	struct json_out o;

	json_out_init(&o, &body);
	json_out_object(&o);
	json_out_key(&o, "metadata");
	json_out_object(&o);
	json_out_kv(&o, "uid", w->object.uid);
	/* The list is replaced as a whole: a finalizer that another client added meanwhile must not
	 * get lost. */
	json_out_kv(&o, "resourceVersion", version);
	json_out_key(&o, "finalizers");
	json_out_array(&o);
	for (const char **name = w->object.finalizers; name != NULL && *name != NULL; name++) {
		json_out_str(&o, *name);
	}
	json_out_array_end(&o);
	json_out_object_end(&o);
	json_out_object_end(&o);
	send(l, w, "finalizers", &(struct owner_write){ .kind = OWNER_RELEASE, .body = body.p });
}

static void send_delete(struct reconciler *l, const struct workload *w)
{
	CLEANUP(xmalloc_freep)
	char *body = xmalloc_printf("{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\","
				    "\"preconditions\":{\"uid\":\"%s\"}}",
				    w->object.uid);

	send(l, w, "delete",
	     &(struct owner_write){ .kind = OWNER_DELETE,
				    .body = body,
				    .event = "Deleted",
				    .message =
					    "Deleted finished workload due to elapsed retention" });
}

/* --- one Workload ------------------------------------------------------------------------------*/

static struct workload_reconcile_queue local_of(const struct quota *q, const struct workload *w,
						const struct local_queue **ret)
{
	const struct local_queue *l = quota_local_of(q, w);
	struct workload_reconcile_queue out = { .name = w->object.local_queue == NULL
								? ""
								: w->object.local_queue,
						.exists = l != NULL };

	out.stop = l == NULL ? QUOTA_RUN : l->stop;
	*ret = l;
	return out;
}

/* The ClusterQueue in which it holds quota, else the one in which it would wait. */
static struct workload_reconcile_queue cluster_of(const struct quota *q, const struct workload *w,
						  const char *held, const struct local_queue *local)
{
	const char *name = held != NULL ? held : local == NULL ? NULL : local->queue;
	const struct quota_node *n = name == NULL ? NULL : quota_queue_find(q, str_of(name));
	struct workload_reconcile_queue out = { .name = name == NULL ? "" : name };

	if (w->holding.node != MODEL_NONE) {
		n = q->nodes.v[w->holding.node];
		out.name = n->name;
	}
	out.exists = n != NULL && n->exists;
	if (out.exists) {
		out.terminating = n->queue->terminating;
		out.stop = n->queue->stop;
		out.inactive = n->queue->inactive != QUOTA_ACTIVE;
	}
	return out;
}

static const char *what_is_invalid(const struct workload *w)
{
	for (size_t i = 0; i < w->object.npodsets; i++) {
		if (w->object.podsets[i].invalid != NULL) {
			return w->object.podsets[i].invalid;
		}
	}
	return w->object.unsupported;
}

static enum workload_reconcile_job job_state(const struct reconciler *l, const struct workload *w)
{
	static const enum workload_reconcile_job of[] = {
		[OWNER_CONTROLLER_FOREIGN] = WORKLOAD_RECONCILE_JOB_UNKNOWN,
		[OWNER_CONTROLLER_RUN] = WORKLOAD_RECONCILE_JOB_RUNS,
		[OWNER_CONTROLLER_STOPPED] = WORKLOAD_RECONCILE_JOB_STOPPED,
	};

	return !w->object.has_owner ? WORKLOAD_RECONCILE_NO_JOB
				    : of[owner_controller_activity(l->owners, str_of(w->key))];
}

static void reconcile_status(struct reconciler *l, const struct workload *w, int64_t now,
			     struct workload_reconcile_out *out)
{
	const struct quota *q = workload_cache_world(l->opt.cache);
	const char *checks[MAX_CHECKS];
	const struct local_queue *local;
	struct conditions *c = workload_cache_edit(l->opt.cache, w);
	struct workload_reconcile_state s = {
		.c = c,
		.requeues = c->has_requeue_count ? c->requeue_count : 0,
		.requeue_at = c->has_requeue_at ? c->requeue_at : MODEL_TIME_NONE,
		.ran = c->has_past_seconds ? c->past_seconds : 0
	};
	struct workload_reconcile_in in = {
		.id = w->id,
		.namespace_ = w->object.namespace_,
		.name = quota_workload_name(w),
		.uid = w->object.uid,
		.active = w->object.active,
		.deleted = w->object.deleting,
		.has_finalizer = w->object.has_finalizer,
		.has_owner = w->object.has_owner,
		.had_owner = w->object.job_uid != NULL,
		.max_execution = w->object.max_execution,
		.gated_by = w->object.gated_by,
		.invalid = what_is_invalid(w),
		.gates = w->object.gates,
		.local = local_of(q, w, &local),
		.checks = checks,
		.job = job_state(l, w),
	};

	in.cluster = cluster_of(q, w, workload_cache_queue(w), local);
	in.checks_known = workload_reconcile_checks(q, w, checks, MAX_CHECKS, &in.nchecks);
	workload_reconcile(&in, &l->opt.conf->times, &s, now, out);
	c->has_requeue_count = s.requeues != 0;
	c->requeue_count = s.requeues;
	c->has_requeue_at = s.requeue_at != MODEL_TIME_NONE;
	c->requeue_at = c->has_requeue_at ? s.requeue_at : 0;
	c->has_past_seconds = s.ran != 0;
	c->past_seconds = s.ran;
}

static void reconcile(struct reconciler *l, struct workload *w, int64_t now)
{
	struct workload_reconcile_out out;

	if (workload_cache_retry_at(w) > now) {
		wake_at(l, w, workload_cache_retry_at(w));
		return;
	}
	reconcile_status(l, w, now, &out);
	l->opt.on_events(l->opt.ctx, w, &out.events);
	(void)workload_cache_commit(l->opt.cache, w);
	if (out.deactivate) {
		send_active(l, w);
	}
	if (out.remove_finalizer) {
		send_finalizers(l, w);
	}
	if (out.remove) {
		send_delete(l, w);
	}
	if (l->opt.conf->times.keep_deactivated_ns >= 0) {
		owner_controller_retire(l->owners, str_of(w->key), out.remove_owner);
	}
	wake_at(l, w, out.next);
	workload_reconcile_finish(&out);
}

/* --- all of them -------------------------------------------------------------------------------*/

static void want_due(struct reconciler *l, int64_t now, bool all)
{
	const struct quota *q = workload_cache_world(l->opt.cache);

	l->next = INT64_MAX;
	for (size_t i = 0; i < q->workloads.n; i++) {
		struct workload *w = q->workloads.v[i];

		if (w != NULL && (all || w->due.at <= now)) {
			want(l, w);
		} else if (w != NULL && w->due.at < l->next) {
			l->next = w->due.at;
		}
	}
}

int64_t reconciler_step(struct reconciler *l, int64_t now)
{
	const struct quota *q = workload_cache_world(l->opt.cache);
	uint64_t specs = workload_cache_specs(l->opt.cache);

	if (specs != l->specs || l->next <= now) {
		want_due(l, now, specs != l->specs);
		l->specs = specs;
	}
	for (size_t i = 0; i < l->todo.n; i++) {
		struct workload *w = q->workloads.v[l->todo.v[i]];

		/* Its id may be that of another one by now. */
		if (w != NULL && w->due.listed) {
			w->due.listed = false;
			reconcile(l, w, now);
		}
	}
	vec_clear(&l->todo);
	return l->next;
}
