#include "scheduler/workloads/writes/status_writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/core/resource_amount.h"
#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "api/kueue/preemption_gate.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/decode.h"
#include "enc/encode.h"
#include "kube/pool.h"
#include "kube/rest.h"
#include "scheduler/base/message.h"
#include "scheduler/workloads/ingest/from_kueue.h"

#define POOL_SLOTS 16 /* in flight; leaves room for other writers */

struct status_writer {
	void (*post)(void *ctx, struct sched_msg *msg);
	bool (*may_send)(void *ctx);
	void *ctx;
	struct pool *pool;
};

struct item {
	char *key, *uid, *body;
	uint64_t version;
	bool guarded;    /* by a resourceVersion */
	bool empties;    /* the body removes members */
	bool unanswered; /* an attempt ended without an answer that says whether it had its effect
			  */
};

/* The conditions of this manager; the others are written by the manager of the job. */
static const char *const types[] = {
	KUEUE_QUOTA_RESERVED,    KUEUE_ADMITTED, KUEUE_EVICTED,
	KUEUE_PREEMPTED,         KUEUE_REQUEUED, KUEUE_DEACTIVATION_TARGET,
	PREEMPTION_GATE_BLOCKED,
};

/* --- what is applied ---------------------------------------------------------------------------*/

/* lastTransitionTime is required: one that is not known is 0. */
static int64_t time_of(int64_t at)
{
	return at == MODEL_TIME_NONE ? 0 : at;
}

static const char *text_of(const char *text)
{
	return text == NULL ? "" : text;
}

/* Finished belongs to the job's controller; we set it only if there is none (OwnerNotFound).
 * PodsReady does so after the admission, which sets it first: left out by a later write before that
 * controller says anything else, it would be removed. */
static bool is_ours(const struct condition *c)
{
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		if (str_streq(types[i], c->type)) {
			return true;
		}
	}
	return str_streq(c->type, KUEUE_FINISHED)
		       ? str_streq(c->reason, KUEUE_REASON_OWNER_NOT_FOUND)
		       : str_streq(c->type, KUEUE_PODS_READY) &&
				 str_streq(c->reason, KUEUE_REASON_WAIT_FOR_START);
}

static void add_conditions(const struct quota_model *q, const struct workload_status *status,
			   bool all, struct arena *arena, struct api_conditions *ret)
{
	ret->v = arena_zero(arena, status->conditions.n, sizeof(*ret->v));
	for (size_t i = 0; i < status->conditions.n; i++) {
		const struct condition *one = &status->conditions.v[i];

		/* A dump has all of them. In a write, those of other managers would become ours. */
		if (all || is_ours(one)) {
			ret->v[ret->n++] = (struct api_condition){
				.type = str_streq(one->type, PREEMPTION_GATE_BLOCKED)
						? q->options.gate_signal
						: one->type,
				.status = one->status,
				.observed_generation = one->generation,
				.last_transition = time_of(one->at),
				.reason = one->reason,
				.message = text_of(one->message),
			};
		}
	}
	/* An empty list would be owned by this manager. */
	if (!all && ret->n == 0) {
		ret->v = NULL;
	}
}

static struct field_resources amounts(const struct quota_model *q,
				      const struct workload_status_podset *p, struct arena *arena)
{
	struct field_resource *v = arena_zero(arena, p->n, sizeof(*v));

	for (size_t i = 0; i < p->n; i++) {
		v[i].name = quota_resource_name(q, p->v[i].resource);
		v[i].amount = resource_amount_quantity(v[i].name, p->v[i].amount);
	}
	return (struct field_resources){ v, p->n };
}

static struct field_map flavors(const struct quota_model *q, const struct workload_status_podset *p,
				struct arena *arena)
{
	struct field_pair *v = arena_zero(arena, p->n, sizeof(*v));
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++) {
		if (p->v[i].flavor != NULL) {
			v[n].key = quota_resource_name(q, p->v[i].resource);
			v[n++].value = p->v[i].flavor;
		}
	}
	return (struct field_map){ v, n };
}

static void add_admission(const struct quota_model *q, const struct workload_status *status,
			  struct arena *arena, struct api_workload_status *ret)
{
	struct api_workload_admission *a;

	/* Left out, an admission of ours is removed: that is how quota is given back. */
	if (status->queue != NULL) {
		a = ret->admission = arena_zero(arena, 1, sizeof(*a));
		a->cluster_queue = status->queue;
		FIELD_LIST_MAKE(&a->assignments, status->podsets.n, arena);
		for (size_t i = 0; i < status->podsets.n; i++) {
			const struct workload_status_podset *p = &status->podsets.v[i];

			a->assignments.v[i].name = p->name;
			a->assignments.v[i].flavors = flavors(q, p, arena);
			a->assignments.v[i].usage = amounts(q, p, arena);
			a->assignments.v[i].count = p->count;
		}
	}
	if (status->requests.n > 0) {
		FIELD_LIST_MAKE(&ret->resource_requests, status->requests.n, arena);
		for (size_t i = 0; i < status->requests.n; i++) {
			ret->resource_requests.v[i].name = status->requests.v[i].name;
			ret->resource_requests.v[i].resources =
				amounts(q, &status->requests.v[i], arena);
		}
	}
}

static void add_checks(const struct workload_status *status, struct arena *arena,
		       struct api_workload_status *ret)
{
	if (status->checks.n == 0) {
		return;
	}
	FIELD_LIST_MAKE(&ret->admission_checks, status->checks.n, arena);
	for (size_t i = 0; i < status->checks.n; i++) {
		const struct workload_status_check *k = &status->checks.v[i];
		struct api_check_state *to = &ret->admission_checks.v[i];

		to->name = k->name;
		to->state = workload_status_check_name(k->state);
		to->last_transition = time_of(k->at);
		to->message = text_of(k->message);
		to->requeue_after = k->requeue_after > 0 ? k->requeue_after : FIELD_NO_I32;
		to->retry_count = k->retries > 0 ? k->retries : FIELD_NO_I32;
		/* Left out, it would stay with the manager that set it: an atomic list is taken
		 * over as a whole, and given up again by the next write. */
		to->updates.v = k->drops_updates ? arena_alloc(arena, 0) : NULL;
	}
}

/* Without the feature nothing is written about gates. */
static void add_gates(const struct quota_model *q, const struct workload_status *status,
		      struct arena *arena, struct api_workload_status *ret)
{
	if (status->gates.n == 0 || !q->options.preemption_gates) {
		return;
	}
	FIELD_LIST_MAKE(&ret->preemption_gates, status->gates.n, arena);
	for (size_t i = 0; i < status->gates.n; i++) {
		const struct workload_status_gate *from = &status->gates.v[i];
		struct api_preemption_gate_state *to = &ret->preemption_gates.v[i];

		to->name = from->name;
		preemption_gate_write(to, from->open, q->options.gate_fields | from->fields);
		to->last_transition = time_of(from->at);
	}
}

static void add_evictions(const struct workload_status *status, struct arena *arena,
			  struct api_workload_status *ret)
{
	struct api_scheduling_stats *s;

	if (status->evictions.n == 0) {
		return;
	}
	s = ret->scheduling_stats = arena_zero(arena, 1, sizeof(*s));
	FIELD_LIST_MAKE(&s->evictions, status->evictions.n, arena);
	for (size_t i = 0; i < status->evictions.n; i++) {
		s->evictions.v[i].reason = status->evictions.v[i].reason;
		s->evictions.v[i].underlying_cause = status->evictions.v[i].cause;
		s->evictions.v[i].count = status->evictions.v[i].count;
	}
}

static void add_requeue(const struct workload_status *status, struct arena *arena,
			struct api_workload_status *ret)
{
	if (status->has_requeue_count || status->has_requeue_at) {
		ret->requeue_state = arena_alloc(arena, sizeof(*ret->requeue_state));
		ret->requeue_state->count =
			status->has_requeue_count ? status->requeue_count : FIELD_NO_I32;
		ret->requeue_state->requeue_at =
			status->has_requeue_at ? time_of(status->requeue_at) : FIELD_NO_TIME;
	}
	if (status->has_past_seconds) {
		ret->past_execution_time = status->past_seconds;
	}
}

/* Set by other managers and taken off by this one at an eviction: absent members are removed. */
static void add_places(const struct workload_status *status, struct arena *arena,
		       struct api_workload_status *ret)
{
	ret->cluster_name = status->cluster;
	if (status->nominated.n > 0) {
		ret->nominated_clusters =
			(struct field_strs){ status->nominated.v, status->nominated.n };
	}
	if (status->unhealthy.n > 0) {
		FIELD_LIST_MAKE(&ret->unhealthy_nodes, status->unhealthy.n, arena);
		for (size_t i = 0; i < status->unhealthy.n; i++) {
			ret->unhealthy_nodes.v[i].name = status->unhealthy.v[i];
		}
	}
}

void status_writer_make(const struct quota_model *q, const struct workload_status *status, bool all,
			struct arena *arena, struct api_workload_status *ret)
{
	add_conditions(q, status, all, arena, &ret->conditions);
	add_admission(q, status, arena, ret);
	add_checks(status, arena, ret);
	add_gates(q, status, arena, ret);
	add_evictions(status, arena, ret);
	add_requeue(status, arena, ret);
	add_places(status, arena, ret);
}

/* The object as far as it says which one is meant; version: room for the resourceVersion. The API
 * server refuses the write for another UID, and for another version if one is given. */
static void init_object(const struct workload *w, int64_t resource_version, char version[24],
			struct api_workload *ret)
{
	decode_init(&kueue_workload_fields, ret);
	ret->meta.uid = w->object.uid;
	if (resource_version != 0) {
		snprintf(version, 24, "%" PRId64, resource_version);
		ret->meta.resource_version = version;
	}
}

void status_writer_format(const struct quota_model *q, const struct workload *w,
			  const struct workload_status *status, int64_t resource_version,
			  struct strbuf *out)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct api_workload object;
	char version[24];

	init_object(w, resource_version, version, &object);
	object.api_version = KUEUE_API_VERSION;
	object.kind = "Workload";
	object.meta.name = quota_workload_name(w);
	object.meta.namespace_ = w->object.namespace_;
	status_writer_make(q, status, false, arena, &object.status);
	encode_text(&kueue_workload_fields, &object, out);
}

/* The conditions as they stand, without those of this manager that the new status leaves out. True:
 * there are such. An apply would leave the part of one that another manager owns, and the
 * API server refuses that again and again. */
static bool keep_conditions(const struct quota_model *q, const struct workload_status *old,
			    const struct workload_status *new, struct arena *arena,
			    struct api_conditions *ret)
{
	struct workload_status kept = { 0 };
	bool dropped;

	for (size_t i = 0; i < old->conditions.n; i++) {
		const struct condition *c = &old->conditions.v[i];

		if (!is_ours(c) || workload_status_condition(new, c->type) != NULL) {
			vec_push(&kept.conditions, *c);
		}
	}
	dropped = kept.conditions.n < old->conditions.n;
	if (dropped) {
		add_conditions(q, &kept, true, arena, ret);
	}
	vec_finish(&kept.conditions);
	return dropped;
}

/* The admission was given back, but it is still there. */
static bool has_old_admission(const struct workload_status *s)
{
	return s->has_admission && !workload_status_is_true(s, KUEUE_QUOTA_RESERVED);
}

/* An apply removes the items of a list that it leaves out. But a list in which another manager owns
 * a field would be null afterwards, and the API server refuses that. Of an admission the fields of
 * another manager stay, and the next admission would change them, which is refused, too. So a merge
 * patch takes such members off first, and the status is applied when it has been read again. */
static bool format_emptied(const struct quota_model *q, const struct status_writer_request *write,
			   struct strbuf *out)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	static const struct workload_status nothing;
	const struct workload_status *old = write->before == NULL ? &nothing : write->before;
	const struct workload_status *new = write->status;
	struct api_workload object;
	const struct {
		const void *member;
		bool goes;
	} members[] = {
		{ &object.status.admission_checks, old->checks.n > 0 && new->checks.n == 0 },
		{ &object.status.preemption_gates, old->gates.n > 0 && new->gates.n == 0 },
		{ &object.status.nominated_clusters,
		  old->nominated.n > 0 && new->nominated.n == 0 },
		{ &object.status.unhealthy_nodes, old->unhealthy.n > 0 && new->unhealthy.n == 0 },
		{ &object.status.admission, has_old_admission(old) },
	};
	const void *nulls[ARRAY_LEN(members) + 1] = { NULL };
	char version[24];
	size_t n = 0;
	bool kept;

	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		if (members[i].goes) {
			nulls[n++] = members[i].member;
		}
	}
	init_object(write->workload, write->resource_version, version, &object);
	kept = write->refused && keep_conditions(q, old, new, arena, &object.status.conditions);
	if (n > 0 || kept) {
		encode_merge(&kueue_workload_fields, &object, nulls, out);
	}
	return n > 0 || kept;
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
	/* By force: an eviction resets checks, gates and clusters that other managers have set. */
	strbuf_printf(scratch, "?fieldManager=" KUEUE_FIELD_MANAGER "%s",
		      it->empties ? "" : "&force=true");
	call->method = HTTP_PATCH;
	call->url = scratch->p;
	call->content_type =
		it->empties ? "application/merge-patch+json" : "application/apply-patch+yaml";
	call->body = str_of(it->body);
	return true;
}

static enum pool_verdict report(const struct status_writer *s, const struct item *it,
				enum sched_outcome outcome, const struct http_result *result,
				const char *text)
{
	struct sched_msg *m = message_new(SCHED_MSG_REQUEST_DONE);

	/* That this attempt had no effect does not say that none had: the object is to be read. */
	if (it->unanswered && (outcome == SCHED_REJECTED || outcome == SCHED_CANCELLED)) {
		outcome = SCHED_STALE;
	}

	m->resource = SCHED_WORKLOADS;
	m->request = SCHED_REQ_WORKLOAD;
	m->outcome = outcome;
	m->key = arena_str(m->arena, str_of(it->key));
	m->uid = arena_dup(m->arena, it->uid);
	m->version = it->version;
	m->status = result->status;
	m->text = arena_dup(m->arena, text);
	/* The next write names this version. */
	m->resource_version = outcome == SCHED_DONE ? rest_version(result) : 0;
	s->post(s->ctx, m);
	return POOL_DONE;
}

static enum pool_verdict finish(void *ctx, void *item, const struct http_result *result)
{
	const struct status_writer *s = ctx;
	struct item *it = item;
	struct err err = ERR_INIT;
	int code;

	if (result->error == ERR_CANCELLED) {
		return report(s, it, SCHED_CANCELLED, result, result->error_text);
	}
	code = rest_result(result, &err);
	if (code == 0) {
		/* A merge patch has changed the object, so its new version has to be read before
		 * the status can be applied. */
		return report(s, it, it->empties ? SCHED_STALE : SCHED_DONE, result, "");
	}
	/* A namesake; other conflicts are with writes of the same moment. */
	if (code == -ERR_NOT_FOUND || rest_is_other_uid(code, &err)) {
		return report(s, it, SCHED_GONE, result, err.text);
	}
	/* The object is not the one that the decision was about: it is read, and decided upon
	 * again. */
	if (code == -ERR_CONFLICT && it->guarded) {
		return report(s, it, SCHED_STALE, result, err.text);
	}
	/* Final for this write: the cache says when the Workload is tried again, with a status that
	 * may be another one by then. */
	if (rest_is_refused(code, result)) {
		return report(s, it, SCHED_REJECTED, result, err.text);
	}
	it->unanswered |= rest_is_unanswered(result);
	return POOL_RETRY;
}

static bool may_send(void *ctx)
{
	const struct status_writer *s = ctx;

	return s->may_send == NULL || s->may_send(s->ctx);
}

static const struct pool_ops ops = { .start = start, .finish = finish, .free_item = item_free };

struct status_writer *status_writer_create(const struct pool_options *base,
					   void (*post)(void *ctx, struct sched_msg *msg))
{
	struct status_writer *s = xmalloc_zero(1, sizeof(*s));
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

void status_writer_destroy(struct status_writer *s)
{
	if (s != NULL) {
		pool_destroy(s->pool);
		free(s);
	}
}

struct pool *status_writer_pool(struct status_writer *s)
{
	return s->pool;
}

/* All is formatted here, on the thread that owns the model: the pool has a text, and no pointers
 * into the model. */
void status_writer_send(struct status_writer *s, const struct quota_model *q,
			const struct status_writer_request *write)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	const struct workload *w = write->workload;
	struct item *it = xmalloc_zero(1, sizeof(*it));

	it->empties = format_emptied(q, write, &body);
	if (!it->empties) {
		status_writer_format(q, w, write->status, write->resource_version, &body);
	}
	it->key = xmalloc_dup(w->key);
	it->uid = xmalloc_dup(w->object.uid);
	it->body = strbuf_steal(&body, NULL);
	it->version = write->version;
	it->guarded = write->resource_version != 0;
	pool_add(s->pool, str_of(w->key), it);
}
