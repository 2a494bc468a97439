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
#include "scheduler/workloads/controller/owner_request.h"
#include "scheduler/workloads/ingest/workload_cache.h"
#include "scheduler/workloads/metrics/workload_metrics.h"
#include "scheduler/workloads/model/quota_store.h"
#include "scheduler/workloads/owners/owner_write.h"
#include "scheduler/workloads/pending/pending.h"
#include "scheduler/workloads/status/workload_reconcile.h"

#define POOL_SLOTS 32
/* As many as the API allows in admissionChecksStrategy.admissionChecks. */
#define MAX_CHECKS 64

struct reconciler {
	struct reconciler_options opt;
	struct owner_controller *owners;
	struct owner_request_target target;
	struct pool *pool;
	struct VEC(uint32_t) todo; /* ids of Workloads that are listed */
	int64_t next;              /* the earliest time of all */
	uint64_t specs;            /* changes of queues that were looked at */
};

/* An unreadable Workload is left out, because nothing is written to it. */
static void list_for_reconcile(struct reconciler *r, struct workload *w)
{
	if (!w->due.listed && !w->object.unreadable) {
		w->due.listed = true;
		vec_push(&r->todo, w->id);
	}
}

static void wake_at(struct reconciler *r, struct workload *w, int64_t at)
{
	w->due.at = at;
	/* Where its old time was the earliest of all, `next` is too early now: list_due finds
	 * nothing then, and computes it again. */
	r->next = at < r->next ? at : r->next;
}

static struct workload *find(const struct reconciler *r, struct str key)
{
	return quota_workload_find(workload_cache_model(r->opt.cache), key);
}

void reconciler_touch(struct reconciler *r, struct str key)
{
	struct workload *w = find(r, key);

	if (w != NULL) {
		list_for_reconcile(r, w);
	}
}

void reconciler_put_off(struct reconciler *r, struct str key, int64_t at)
{
	struct workload *w = find(r, key);

	if (w != NULL) {
		wake_at(r, w, at);
	}
}

static void on_activity(void *ctx, struct str key)
{
	reconciler_touch(ctx, key);
}

/* The status that was decided may be ahead of the one in the API: an eviction of ours keeps the
 * owner from starting before it is written. After a conflict it may be behind: nothing starts
 * before the Workload was read again. */
static bool may_start(void *ctx, struct str key)
{
	const struct reconciler *r = ctx;
	const struct workload *w = find(r, key);
	const struct workload_status *status =
		w == NULL ? NULL : workload_cache_status(r->opt.cache, w);

	return status != NULL && !workload_cache_is_outdated(w) &&
	       workload_status_is_true(status, KUEUE_ADMITTED) &&
	       !workload_status_is_true(status, KUEUE_EVICTED);
}

static bool knows(void *ctx, struct str key)
{
	const struct reconciler *r = ctx;

	return find(r, key) != NULL;
}

static void read_again(void *ctx, struct str key)
{
	const struct reconciler *r = ctx;

	r->opt.read(r->opt.ctx, key);
}

/* Every replica sees the same events; only the one that writes counts them. */
static bool counts(struct reconciler *r)
{
	return r->opt.metrics != NULL && owner_request_may_send(&r->target);
}

static void on_created(void *ctx, const char *kind, const struct api_workload *w UNUSED, int64_t ns)
{
	struct reconciler *r = ctx;

	if (counts(r)) {
		workload_metrics_created(r->opt.metrics, kind, ns);
	}
}

static void on_ungated(void *ctx, const struct api_workload *w, bool group, int64_t ns)
{
	struct reconciler *r = ctx;

	if (counts(r)) {
		workload_metrics_ungated(r->opt.metrics, w->status.admission->cluster_queue, group,
					 ns);
	}
}

struct reconciler *reconciler_create(const struct reconciler_options *opt)
{
	struct reconciler *r = xmalloc_zero(1, sizeof(*r));
	struct owner_controller_options oo = { .base = opt->base,
					       .which = &opt->conf->owners,
					       .recorder = opt->recorder,
					       .wait_pods_ready = opt->conf->times.wait_pods_ready,
					       .may_start = may_start,
					       .knows = knows,
					       .read = read_again,
					       .on_created = on_created,
					       .on_ungated = on_ungated,
					       .ctx = r };
	struct pool_options po = *opt->base;

	r->opt = *opt;
	r->opt.base = NULL;
	r->next = INT64_MAX;
	r->owners = owner_controller_create(&oo);
	owner_controller_watch(r->owners, on_activity, r);
	r->target = (struct owner_request_target){ opt->recorder, po.may_send, po.ctx };
	po.name = "workload";
	po.ops = &owner_request_ops;
	po.ctx = &r->target;
	po.may_send = owner_request_may_send;
	po.slots = POOL_SLOTS;
	r->pool = pool_create(&po);
	return r;
}

void reconciler_destroy(struct reconciler *r)
{
	if (r == NULL) {
		return;
	}
	owner_controller_destroy(r->owners);
	pool_destroy(r->pool);
	vec_finish(&r->todo);
	free(r);
}

size_t reconciler_pools(struct reconciler *r, struct pool **out, size_t max)
{
	size_t n = 0;

	if (n < max) {
		out[n++] = owner_controller_pool(r->owners);
	}
	if (n < max) {
		out[n++] = r->pool;
	}
	return n;
}

/* --- objects -----------------------------------------------------------------------------------*/

void reconciler_workload(struct reconciler *r, struct str key, struct sched_msg *m)
{
	struct workload *known = find(r, key);

	if (m == NULL) {
		owner_controller_workload_gone(r->owners, key);
		return;
	}
	/* Its times follow from what was just read: the next step computes them. */
	known->due.at = INT64_MAX;
	list_for_reconcile(r, known);
	owner_controller_workload(r->owners, m);
}

struct owner_controller *reconciler_owners(struct reconciler *r)
{
	return r->owners;
}

/* --- writes to the object ----------------------------------------------------------------------*/

/* `what` names the write: a later one of this name takes its place. */
static void send(struct reconciler *r, const struct workload *w, const char *what,
		 struct owner_write *write)
{
	CLEANUP(xmalloc_freep) char *key = xmalloc_printf("%s/%s", what, w->key);

	write->workload = quota_workload_name(w);
	write->about.uid = w->object.uid;
	pool_add(r->pool, str_of(key), owner_request_new(w->object.namespace_, write));
}

/* Carries the resourceVersion that was read: if the write is delayed and a user sets active again
 * meanwhile, it must fail. */
static void send_active(struct reconciler *r, const struct workload *w)
{
	CLEANUP(xmalloc_freep)
	char *body = xmalloc_printf("{\"metadata\":{\"uid\":\"%s\",\"resourceVersion\":\"%" PRId64
				    "\"},\"spec\":{\"active\":false}}",
				    w->object.uid, workload_cache_version(w));

	send(r, w, "active", &(struct owner_write){ .kind = OWNER_SYNC, .body = body });
}

static void send_finalizers(struct reconciler *r, const struct workload *w)
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
	send(r, w, "finalizers",
	     &(struct owner_write){ .kind = OWNER_DROP_FINALIZER, .body = body.p });
}

/* The UID keeps a new Workload of the same name from being deleted in its place. */
static void send_delete(struct reconciler *r, const struct workload *w)
{
	CLEANUP(xmalloc_freep)
	char *body = xmalloc_printf("{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\","
				    "\"preconditions\":{\"uid\":\"%s\"}}",
				    w->object.uid);

	send(r, w, "delete",
	     &(struct owner_write){ .kind = OWNER_DELETE,
				    .body = body,
				    .event = "Deleted",
				    .message =
					    "Deleted finished workload due to elapsed retention" });
}

/* --- one Workload ------------------------------------------------------------------------------*/

static struct workload_reconcile_queue
local_of(const struct quota_model *q, const struct workload *w, const struct local_queue **ret)
{
	const struct local_queue *queue = quota_local_of(q, w);
	struct workload_reconcile_queue out = { .name = w->object.local_queue == NULL
								? ""
								: w->object.local_queue,
						.exists = queue != NULL };

	out.stop = queue == NULL ? QUOTA_RUN : queue->stop;
	*ret = queue;
	return out;
}

/* The ClusterQueue in which it holds quota, else the one in which it would wait. */
static struct workload_reconcile_queue cluster_of(const struct quota_model *q,
						  const struct workload *w, const char *held,
						  const struct local_queue *local)
{
	const char *name = held != NULL ? held : local == NULL ? NULL : local->queue;
	const struct quota_node *n = name == NULL ? NULL : quota_queue_find(q, str_of(name));
	struct workload_reconcile_queue out = { .name = name == NULL ? "" : name };

	/* An admission that was decided is ahead of the status that was read. */
	if (w->holding.node != MODEL_NONE) {
		n = q->nodes.v[w->holding.node];
		out.name = n->name;
	}
	out.exists = n != NULL && n->exists;
	if (out.exists) {
		out.terminating = n->queue->terminating;
		out.stop = n->queue->stop;
		out.inactive = n->queue->inactive != QUOTA_ACTIVE;
		out.refuses_namespace = !pending_selects(q, n->queue, w);
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

static enum workload_reconcile_job job_state(const struct reconciler *r, const struct workload *w)
{
	static const enum workload_reconcile_job of[] = {
		[OWNER_CONTROLLER_FOREIGN] = WORKLOAD_RECONCILE_JOB_UNKNOWN,
		[OWNER_CONTROLLER_RUN] = WORKLOAD_RECONCILE_JOB_RUNS,
		[OWNER_CONTROLLER_STOPPED] = WORKLOAD_RECONCILE_JOB_STOPPED,
	};

	return !w->object.has_owner ? WORKLOAD_RECONCILE_NO_JOB
				    : of[owner_controller_activity(r->owners, str_of(w->key))];
}

static void reconcile_status(struct reconciler *r, const struct workload *w, int64_t now,
			     struct workload_reconcile_out *out)
{
	const struct quota_model *q = workload_cache_model(r->opt.cache);
	const char *checks[MAX_CHECKS];
	const struct local_queue *local;
	struct workload_status *status = workload_cache_edit(r->opt.cache, w);
	struct workload_reconcile_state s = {
		.status = status,
		.requeues = status->has_requeue_count ? status->requeue_count : 0,
		.requeue_at = status->has_requeue_at ? status->requeue_at : MODEL_TIME_NONE,
		.ran = status->has_past_seconds ? status->past_seconds : 0
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
		.gate_fields = q->options.preemption_gates ? q->options.gate_fields : 0,
		.local = local_of(q, w, &local),
		.checks = checks,
		.written = workload_cache_written(r->opt.cache, w),
		.job = job_state(r, w),
	};

	in.cluster = cluster_of(q, w, workload_cache_queue(w), local);
	in.checks_known = workload_reconcile_checks(q, w, checks, MAX_CHECKS, &in.nchecks);
	workload_reconcile(&in, &r->opt.conf->times, &s, now, out);
	status->has_requeue_count = s.requeues != 0;
	status->requeue_count = s.requeues;
	status->has_requeue_at = s.requeue_at != MODEL_TIME_NONE;
	status->requeue_at = status->has_requeue_at ? s.requeue_at : 0;
	status->has_past_seconds = s.ran != 0;
	status->past_seconds = s.ran;
}

/* 1. During the pause after a refused write nothing is decided: it would be refused like the last
 *    one.
 * 2. The status that follows from the state is made and handed to the cache, which writes it if it
 *    differs; its events go with that write.
 * 3. Writes to the object itself are sent. They have no place in the status, and the API server
 *    takes them at another path.
 * 4. The next time limit is noted, since time alone brings no message. */
static void reconcile_one(struct reconciler *r, struct workload *w, int64_t now)
{
	struct workload_reconcile_out out;

	if (workload_cache_retry_at(w) > now) {
		wake_at(r, w, workload_cache_retry_at(w));
		return;
	}
	reconcile_status(r, w, now, &out);
	r->opt.on_events(r->opt.ctx, w, &out.events);
	(void)workload_cache_commit(r->opt.cache, w);
	if (out.deactivate) {
		send_active(r, w);
	}
	if (out.remove_finalizer) {
		send_finalizers(r, w);
	}
	if (out.remove) {
		send_delete(r, w);
	}
	if (r->opt.conf->times.keep_deactivated_ns >= 0) {
		owner_controller_retire(r->owners, str_of(w->key), out.remove_owner);
	}
	wake_at(r, w, out.next);
	workload_reconcile_finish(&out);
}

/* --- all of them -------------------------------------------------------------------------------*/

/* Visits every Workload, so it runs only when a queue changed, on which any of them may depend, or
 * when the earliest of all times has come. */
static void list_due(struct reconciler *r, int64_t now, bool all)
{
	const struct quota_model *q = workload_cache_model(r->opt.cache);

	r->next = INT64_MAX;
	for (size_t i = 0; i < q->workloads.n; i++) {
		struct workload *w = q->workloads.v[i];

		if (w != NULL && (all || w->due.at <= now)) {
			list_for_reconcile(r, w);
		} else if (w != NULL && w->due.at < r->next) {
			r->next = w->due.at;
		}
	}
}

int64_t reconciler_step(struct reconciler *r, int64_t now)
{
	const struct quota_model *q = workload_cache_model(r->opt.cache);
	uint64_t specs = workload_cache_specs(r->opt.cache);

	if (specs != r->specs || r->next <= now) {
		list_due(r, now, specs != r->specs);
		r->specs = specs;
	}
	for (size_t i = 0; i < r->todo.n; i++) {
		struct workload *w = q->workloads.v[r->todo.v[i]];

		/* Its id may be that of another one by now. */
		if (w != NULL && w->due.listed) {
			w->due.listed = false;
			reconcile_one(r, w, now);
		}
	}
	vec_clear(&r->todo);
	return r->next;
}
