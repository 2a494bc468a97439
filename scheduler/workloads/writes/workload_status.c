#include "scheduler/workloads/writes/workload_status.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/kueue/kueue_keys.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/json_out.h"
#include "kube/pool.h"
#include "kube/rest.h"
#include "scheduler/base/message.h"
#include "scheduler/workloads/ingest/from_kueue.h"

#define POOL_SLOTS 16 /* in flight; others shall get a word in */

struct workload_status {
	void (*post)(void *ctx, struct sched_msg *msg);
	bool (*may_send)(void *ctx);
	void *ctx;
	struct pool *pool;
};

struct item {
	char *key, *uid, *body;
	uint64_t version;
	bool guarded; /* by a resourceVersion */
	bool empties; /* the body takes lists off */
};

/* The conditions of this manager; others are written by whoever looks after jobs. */
static const char *const types[] = {
	KUEUE_QUOTA_RESERVED,   KUEUE_ADMITTED, KUEUE_EVICTED,
	KUEUE_PREEMPTED,        KUEUE_REQUEUED, KUEUE_DEACTIVATION_TARGET,
	KUEUE_BLOCKED_ON_GATES,
};

/* --- what is applied ---------------------------------------------------------------------------*/

static void write_time(struct json_out *o, const char *key, int64_t at)
{
	char text[CLOCK_RFC3339_MAX];

	clock_format_time(at == MODEL_TIME_NONE ? 0 : at, text);
	json_out_kv(o, key, text);
}

/* That a Workload is finished says whoever looks after its job, or we, when nobody does. */
static bool is_ours(const struct condition *c)
{
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		if (str_streq(types[i], c->type)) {
			return true;
		}
	}
	return str_streq(c->type, KUEUE_FINISHED) && str_streq(c->reason, "OwnerNotFound");
}

static void write_conditions(struct json_out *o, const struct conditions *c, bool all)
{
	json_out_key(o, "conditions");
	json_out_array(o);
	for (size_t i = 0; i < c->list.n; i++) {
		const struct condition *one = &c->list.v[i];

		if (!all && !is_ours(one)) {
			continue;
		}
		json_out_object(o);
		json_out_kv(o, "type", one->type);
		json_out_kv(o, "status", one->status);
		if (one->generation != 0) {
			json_out_kv_int(o, "observedGeneration", one->generation);
		}
		write_time(o, "lastTransitionTime", one->at);
		json_out_kv(o, "reason", one->reason);
		json_out_kv(o, "message", one->message == NULL ? "" : one->message);
		json_out_object_end(o);
	}
	json_out_array_end(o);
}

static void write_amount(struct json_out *o, const char *resource, int64_t amount)
{
	char text[QUANTITY_TEXT_MAX];

	from_kueue_amount_text(resource, amount, text);
	json_out_kv(o, resource, text);
}

static void write_amounts(struct json_out *o, const struct quota *q, const char *key,
			  const struct conditions_podset *p)
{
	json_out_key(o, key);
	json_out_object(o);
	for (size_t i = 0; i < p->n; i++) {
		write_amount(o, quota_resource_name(q, p->v[i].resource), p->v[i].amount);
	}
	json_out_object_end(o);
}

static void write_assignment(struct json_out *o, const struct quota *q,
			     const struct conditions_podset *p)
{
	json_out_object(o);
	json_out_kv(o, "name", p->name);
	json_out_key(o, "flavors");
	json_out_object(o);
	for (size_t i = 0; i < p->n; i++) {
		if (p->v[i].flavor != NULL) {
			json_out_kv(o, quota_resource_name(q, p->v[i].resource), p->v[i].flavor);
		}
	}
	json_out_object_end(o);
	write_amounts(o, q, "resourceUsage", p);
	json_out_kv_int(o, "count", p->count);
	json_out_object_end(o);
}

static void write_admission(struct json_out *o, const struct quota *q, const struct conditions *c)
{
	if (c->has_admission && c->queue != NULL) {
		json_out_key(o, "admission");
		json_out_object(o);
		json_out_kv(o, "clusterQueue", c->queue);
		json_out_key(o, "podSetAssignments");
		json_out_array(o);
		for (size_t i = 0; i < c->podsets.n; i++) {
			write_assignment(o, q, &c->podsets.v[i]);
		}
		json_out_array_end(o);
		json_out_object_end(o);
	}
	if (c->requests.n > 0) {
		json_out_key(o, "resourceRequests");
		json_out_array(o);
		for (size_t i = 0; i < c->requests.n; i++) {
			json_out_object(o);
			json_out_kv(o, "name", c->requests.v[i].name);
			write_amounts(o, q, "resources", &c->requests.v[i]);
			json_out_object_end(o);
		}
		json_out_array_end(o);
	}
}

static void write_checks(struct json_out *o, const struct conditions *c)
{
	static const char *const states[] = { KUEUE_CHECK_PENDING, KUEUE_CHECK_READY,
					      KUEUE_CHECK_RETRY, KUEUE_CHECK_REJECTED };

	if (c->checks.n == 0) {
		return;
	}
	json_out_key(o, "admissionChecks");
	json_out_array(o);
	for (size_t i = 0; i < c->checks.n; i++) {
		const struct conditions_check *k = &c->checks.v[i];

		json_out_object(o);
		json_out_kv(o, "name", k->name);
		json_out_kv(o, "state", states[k->state]);
		write_time(o, "lastTransitionTime", k->at);
		json_out_kv(o, "message", k->message == NULL ? "" : k->message);
		if (k->requeue_after > 0) {
			json_out_kv_int(o, "requeueAfterSeconds", k->requeue_after);
		}
		if (k->retries > 0) {
			json_out_kv_int(o, "retryCount", k->retries);
		}
		/* Left out, it would stay with the manager that set it: an atomic list is taken
		 * over as a whole, and given up again by the next write. */
		if (k->drops_updates) {
			json_out_key(o, "podSetUpdates");
			json_out_array(o);
			json_out_array_end(o);
		}
		json_out_object_end(o);
	}
	json_out_array_end(o);
}

static void write_gates(struct json_out *o, const struct conditions *c)
{
	if (c->gates.n == 0) {
		return;
	}
	json_out_key(o, "preemptionGates");
	json_out_array(o);
	for (size_t i = 0; i < c->gates.n; i++) {
		json_out_object(o);
		json_out_kv(o, "name", c->gates.v[i].name);
		json_out_kv(o, "position",
			    c->gates.v[i].open ? KUEUE_GATE_OPEN : KUEUE_GATE_CLOSED);
		write_time(o, "lastTransitionTime", c->gates.v[i].at);
		json_out_object_end(o);
	}
	json_out_array_end(o);
}

static void write_evictions(struct json_out *o, const struct conditions *c)
{
	if (c->evictions.n == 0) {
		return;
	}
	json_out_key(o, "schedulingStats");
	json_out_object(o);
	json_out_key(o, "evictions");
	json_out_array(o);
	for (size_t i = 0; i < c->evictions.n; i++) {
		json_out_object(o);
		json_out_kv(o, "reason", c->evictions.v[i].reason);
		json_out_kv(o, "underlyingCause", c->evictions.v[i].cause);
		json_out_kv_int(o, "count", c->evictions.v[i].count);
		json_out_object_end(o);
	}
	json_out_array_end(o);
	json_out_object_end(o);
}

static void write_requeue(struct json_out *o, const struct conditions *c)
{
	if (c->has_requeue_count || c->has_requeue_at) {
		json_out_key(o, "requeueState");
		json_out_object(o);
		if (c->has_requeue_count) {
			json_out_kv_int(o, "count", c->requeue_count);
		}
		if (c->has_requeue_at) {
			write_time(o, "requeueAt", c->requeue_at);
		}
		json_out_object_end(o);
	}
	if (c->has_past_seconds) {
		json_out_kv_int(o, "accumulatedPastExecutionTimeSeconds", c->past_seconds);
	}
}

/* Of other managers' making, and ours to end at an eviction: what is left out is taken away. */
static void write_places(struct json_out *o, const struct conditions *c)
{
	if (c->cluster != NULL) {
		json_out_kv(o, "clusterName", c->cluster);
	}
	if (c->nominated.n > 0) {
		json_out_key(o, "nominatedClusterNames");
		json_out_array(o);
		for (size_t i = 0; i < c->nominated.n; i++) {
			json_out_str(o, c->nominated.v[i]);
		}
		json_out_array_end(o);
	}
	if (c->unhealthy.n > 0) {
		json_out_key(o, "unhealthyNodes");
		json_out_array(o);
		for (size_t i = 0; i < c->unhealthy.n; i++) {
			json_out_object(o);
			json_out_kv(o, "name", c->unhealthy.v[i]);
			json_out_object_end(o);
		}
		json_out_array_end(o);
	}
}

void workload_status_members(struct json_out *o, const struct quota *q,
			     const struct conditions *status, bool all)
{
	write_conditions(o, status, all);
	write_admission(o, q, status);
	write_checks(o, status);
	write_gates(o, status);
	write_evictions(o, status);
	write_requeue(o, status);
	write_places(o, status);
}

static void write_resource_version(struct json_out *o, int64_t version)
{
	char text[24];

	if (version != 0) {
		snprintf(text, sizeof(text), "%" PRId64, version);
		json_out_kv(o, "resourceVersion", text);
	}
}

void workload_status_format(const struct quota *q, const struct workload *w,
			    const struct conditions *status, int64_t resource_version,
			    struct strbuf *out)
{
	struct json_out o;

	json_out_init(&o, out);
	json_out_object(&o);
	json_out_kv(&o, "apiVersion", KUEUE_API_VERSION);
	json_out_kv(&o, "kind", "Workload");
	json_out_key(&o, "metadata");
	json_out_object(&o);
	json_out_kv(&o, "name", quota_workload_name(w));
	json_out_kv(&o, "namespace", w->object.namespace_);
	json_out_kv(&o, "uid", w->object.uid);
	write_resource_version(&o, resource_version);
	json_out_object_end(&o);
	json_out_key(&o, "status");
	json_out_object(&o);
	workload_status_members(&o, q, status, false);
	json_out_object_end(&o);
	json_out_object_end(&o);
	json_out_end(&o);
}

/* What an apply leaves out of a list goes, but a list of which another manager owns a field would
 * be null afterwards, and the API server refuses that. */
static bool format_emptied(const struct workload_status_write *write, struct strbuf *out)
{
	static const struct conditions nothing;
	const struct conditions *old = write->before == NULL ? &nothing : write->before;
	const struct conditions *new = write->status;
	const struct {
		const char *name;
		bool goes;
	} lists[] = {
		{ "admissionChecks", old->checks.n > 0 && new->checks.n == 0 },
		{ "preemptionGates", old->gates.n > 0 && new->gates.n == 0 },
		{ "nominatedClusterNames", old->nominated.n > 0 && new->nominated.n == 0 },
		{ "unhealthyNodes", old->unhealthy.n > 0 && new->unhealthy.n == 0 },
	};
	struct json_out o;
	bool any = false;

	json_out_init(&o, out);
	json_out_object(&o);
	json_out_key(&o, "metadata");
	json_out_object(&o);
	json_out_kv(&o, "uid", write->workload->object.uid);
	write_resource_version(&o, write->resource_version);
	json_out_object_end(&o);
	json_out_key(&o, "status");
	json_out_object(&o);
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		if (lists[i].goes) {
			json_out_key(&o, lists[i].name);
			json_out_null(&o);
			any = true;
		}
	}
	json_out_object_end(&o);
	json_out_object_end(&o);
	json_out_end(&o);
	if (!any) {
		strbuf_reset(out);
	}
	return any;
}

/* --- the pool ----------------------------------------------------------------------------------*/

static void item_free(void *item)
{
	struct item *it = item;

	free(it->key);
	free(it->uid);
	free(it->body);
	free(it);
}

static bool start(void *ctx UNUSED, void *item, unsigned sends UNUSED, struct http_call *call,
		  struct strbuf *scratch)
{
	const struct item *it = item;

	sched_kinds_key_path(SCHED_WORKLOADS, str_of(it->key), "status", scratch);
	strbuf_printf(scratch, "?fieldManager=" KUEUE_FIELD_MANAGER "%s",
		      it->empties ? "" : "&force=true");
	call->method = HTTP_PATCH;
	call->url = scratch->p;
	call->content_type =
		it->empties ? "application/merge-patch+json" : "application/apply-patch+yaml";
	call->body = str_of(it->body);
	return true;
}

static enum pool_verdict report(const struct workload_status *s, const struct item *it,
				enum sched_outcome outcome, const struct http_result *result,
				const char *text)
{
	struct sched_msg *m = message_new(SCHED_MSG_REQUEST_DONE);

	m->resource = SCHED_WORKLOADS;
	m->request = SCHED_REQ_WORKLOAD;
	m->outcome = outcome;
	m->key = arena_str(m->arena, str_of(it->key));
	m->uid = arena_dup(m->arena, it->uid);
	m->version = it->version;
	m->status = result->status;
	m->text = arena_dup(m->arena, text);
	m->resource_version = outcome == SCHED_DONE ? rest_version(result) : 0;
	s->post(s->ctx, m);
	return POOL_DONE;
}

static enum pool_verdict finish(void *ctx, void *item, const struct http_result *result)
{
	const struct workload_status *s = ctx;
	const struct item *it = item;
	struct err err = ERR_INIT;
	int code;

	if (result->error == ERR_CANCELLED) {
		return report(s, it, SCHED_CANCELLED, result, result->error_text);
	}
	code = rest_result(result, &err);
	if (code == 0) {
		return report(s, it, it->empties ? SCHED_STALE : SCHED_DONE, result, "");
	}
	/* A namesake; other conflicts are with writes of the same moment. */
	if (code == -ERR_NOT_FOUND || rest_is_other_uid(code, &err)) {
		return report(s, it, SCHED_GONE, result, err.text);
	}
	if (code == -ERR_CONFLICT && it->guarded) {
		return report(s, it, SCHED_STALE, result, err.text);
	}
	if (rest_is_refused(code, result)) {
		return report(s, it, SCHED_REJECTED, result, err.text);
	}
	return POOL_RETRY;
}

static bool may_send(void *ctx)
{
	const struct workload_status *s = ctx;

	return s->may_send == NULL || s->may_send(s->ctx);
}

static const struct pool_ops ops = { .start = start, .finish = finish, .free_item = item_free };

struct workload_status *workload_status_create(const struct pool_options *base,
					       void (*post)(void *ctx, struct sched_msg *msg))
{
	struct workload_status *s = xmalloc_zero(1, sizeof(*s));
	struct pool_options po = *base;

	s->post = post;
	s->may_send = base->may_send;
	s->ctx = base->ctx;
	po.name = "workload-status";
	po.ops = &ops;
	po.ctx = s;
	po.may_send = may_send;
	po.slots = POOL_SLOTS;
	s->pool = pool_create(&po);
	return s;
}

void workload_status_destroy(struct workload_status *s)
{
	if (s != NULL) {
		pool_destroy(s->pool);
		free(s);
	}
}

struct pool *workload_status_pool(struct workload_status *s)
{
	return s->pool;
}

void workload_status_send(struct workload_status *s, const struct quota *q,
			  const struct workload_status_write *write)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	const struct workload *w = write->workload;
	struct item *it = xmalloc_zero(1, sizeof(*it));

	it->empties = format_emptied(write, &body);
	if (!it->empties) {
		workload_status_format(q, w, write->status, write->resource_version, &body);
	}
	it->key = xmalloc_dup(w->key);
	it->uid = xmalloc_dup(w->object.uid);
	it->body = strbuf_steal(&body, NULL);
	it->version = write->version;
	it->guarded = write->resource_version != 0;
	pool_add(s->pool, str_of(w->key), it);
}
