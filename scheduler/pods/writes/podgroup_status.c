#include "scheduler/pods/writes/podgroup_status.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/meta/status.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "enc/json/jdoc.h"
#include "kube/rest.h"
#include "scheduler/pods/model/model.h"
#include "scheduler/pods/writes/pod_write.h"

#define MAX_TYPES 2 /* Unschedulable, Scheduled */
#define GATHER_NS CLOCK_NS_PER_S

struct wanted_condition {
	char *type, *reason, *message;
	uint64_t transition;
	int64_t now;
};

/* The status that a PodGroup is to have; guarded by the mutex while it is in the map. */
struct wanted {
	char *phase;
	int64_t running, succeeded, failed;
	struct wanted_condition conditions[MAX_TYPES];
	uint64_t version; /* of the change: a write that is acknowledged clears only what it carried
			   */
};

struct podgroup_status {
	const struct pod_write_target *target;
	pthread_mutex_t lock;  /* guards wanted */
	struct strmap *wanted; /* "namespace/name" -> struct wanted */
};

/* Pool item: first the object is read, then the patch made of it is sent. */
struct podgroup_item {
	char *namespace_, *name, *uid;
	char *patch; /* NULL: to be read first */
	bool exact;  /* not from the server's cache: that was too old */
	uint64_t version;
};

static void wanted_free(void *value)
{
	struct wanted *w = value;

	for (size_t i = 0; i < MAX_TYPES; i++) {
		free(w->conditions[i].type);
		free(w->conditions[i].reason);
		free(w->conditions[i].message);
	}
	free(w->phase);
	free(w);
}

struct podgroup_status *podgroup_status_create(const struct pod_write_target *target)
{
	struct podgroup_status *p = xmalloc_zero(1, sizeof(*p));

	p->target = target;
	pthread_mutex_init(&p->lock, NULL);
	p->wanted = strmap_create(wanted_free);
	return p;
}

void podgroup_status_destroy(struct podgroup_status *p)
{
	if (p == NULL) {
		return;
	}
	strmap_destroy(p->wanted);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

bool podgroup_status_may_send(void *ctx)
{
	const struct podgroup_status *p = ctx;

	return p->target->may_send == NULL || p->target->may_send(p->target->ctx);
}

static void replace_text(char **slot, const char *text)
{
	free(*slot);
	*slot = xmalloc_dup(text == NULL ? "" : text);
}

/* A condition of the same type is replaced; there are places for both types that decisions have. */
static void wanted_set_condition(struct wanted *w, const struct podgroup_change *change)
{
	for (size_t i = 0; i < MAX_TYPES; i++) {
		struct wanted_condition *c = &w->conditions[i];

		if (c->type == NULL || str_streq(c->type, change->type)) {
			replace_text(&c->type, change->type);
			replace_text(&c->reason, change->reason);
			replace_text(&c->message, change->message);
			c->transition = change->transition;
			c->now = change->now;
			return;
		}
	}
}

static struct str item_key(char *buf, size_t size, const char *namespace_, const char *name)
{
	int n = snprintf(buf, size, "%s/%s", namespace_, name);

	return (struct str){ buf, (size_t)n < size ? (size_t)n : size - 1 };
}

void podgroup_status_request(struct podgroup_status *p, struct pool *pool, const struct podgroup *g,
			     const struct podgroup_change *change)
{
	char buf[600];
	struct str key = item_key(buf, sizeof(buf), g->namespace_, g->name);
	struct podgroup_item *item = xmalloc_zero(1, sizeof(*item));
	struct wanted *w;

	pthread_mutex_lock(&p->lock);
	w = strmap_get(p->wanted, key);
	if (w == NULL) {
		w = xmalloc_zero(1, sizeof(*w));
		strmap_set(p->wanted, key, w);
	}
	if (change->phase != NULL) {
		replace_text(&w->phase, change->phase);
	}
	if (change->type != NULL) {
		wanted_set_condition(w, change);
	}
	w->running = g->by_status[TASK_RUNNING];
	w->succeeded = g->by_status[TASK_SUCCEEDED];
	w->failed = g->by_status[TASK_FAILED];
	w->version++;
	pthread_mutex_unlock(&p->lock);
	/* The item has no content: the patch is made when it is sent, from what is wanted then. */
	item->namespace_ = xmalloc_dup(g->namespace_);
	item->name = xmalloc_dup(g->name);
	item->uid = xmalloc_dup(g->uid == NULL ? "" : g->uid);
	/* Without pods it is sent at once: the owner of the PodGroup may create its pods only when
	 * it is Inqueue. */
	pool_add_after(pool, key, item, g->tasks.n == 0 ? 0 : GATHER_NS);
}

static void podgroup_item_free(void *item)
{
	struct podgroup_item *it = item;

	free(it->namespace_);
	free(it->name);
	free(it->uid);
	free(it->patch);
	free(it);
}

static bool podgroup_start(void *ctx UNUSED, void *item, unsigned sends UNUSED,
			   struct http_call *call, struct strbuf *scratch)
{
	struct podgroup_item *it = item;

	sched_kinds_path(SCHED_PODGROUPS, it->namespace_, it->name, NULL, scratch);
	if (it->patch == NULL && !it->exact) {
		/* The API server answers from its cache. If that is too old, the patch is refused
		 * by its version, and the second read is exact. */
		strbuf_add_c(scratch, "?resourceVersion=0");
	}
	call->url = scratch->p;
	call->method = HTTP_GET;
	if (it->patch != NULL) {
		call->method = HTTP_PATCH;
		call->content_type = "application/merge-patch+json";
		call->body = str_of(it->patch);
	}
	return true;
}

static struct jdoc *condition_doc(const struct wanted_condition *c)
{
	struct jdoc *d = jdoc_new_object();
	char when[CLOCK_RFC3339_MAX], transition[24];

	clock_format_time(c->now, when);
	snprintf(transition, sizeof(transition), "%016llx", (unsigned long long)c->transition);
	jdoc_set_str(d, "type", c->type);
	jdoc_set_str(d, "status", "True");
	jdoc_set_str(d, "transitionID", transition);
	jdoc_set_str(d, "lastTransitionTime", when);
	jdoc_set_str(d, "reason", c->reason);
	jdoc_set_str(d, "message", c->message);
	return d;
}

/* Replaces the condition of the same type, or appends. */
static void merge_condition(struct jdoc *conditions, const struct wanted_condition *c)
{
	const struct jdoc *old = jdoc_first(conditions);
	size_t i = 0;

	/* PodGroups have no status subresource: a tenant may have written any number. Each look-up
	 * by index walks from the first one, so there is one. */
	while (old != NULL && !jdoc_is_str(jdoc_get(old, "type"), c->type)) {
		old = jdoc_next(old);
		i++;
	}
	if (old != NULL) {
		jdoc_replace_take(conditions, jdoc_at_mut(conditions, i), condition_doc(c));
	} else {
		jdoc_append_take(conditions, condition_doc(c));
	}
}

static struct jdoc *status_doc(const struct wanted *w, const struct jdoc *object)
{
	struct jdoc *status = jdoc_new_object();
	const struct jdoc *old = jdoc_path(object, "status.conditions");
	/* A merge patch replaces a list as a whole: conditions of others are sent back as they were
	 * read. */
	struct jdoc *conditions = old == NULL ? jdoc_new_array() : jdoc_copy(old);

	for (size_t i = 0; i < MAX_TYPES; i++) {
		if (w->conditions[i].type != NULL) {
			merge_condition(conditions, &w->conditions[i]);
		}
	}
	if (w->phase != NULL) {
		jdoc_set_str(status, "phase", w->phase);
	}
	jdoc_set_int(status, "running", w->running);
	jdoc_set_int(status, "succeeded", w->succeeded);
	jdoc_set_int(status, "failed", w->failed);
	jdoc_set_take(status, "conditions", conditions);
	return status;
}

/* Makes the patch from the object that was read; false: nothing is wanted any more. */
static bool make_patch(struct podgroup_status *p, struct podgroup_item *it,
		       const struct jdoc *object)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct jdoc *patch, *meta;
	const char *version = jdoc_path_str(object, "metadata.resourceVersion");
	char buf[600];
	struct wanted *w;

	pthread_mutex_lock(&p->lock);
	w = strmap_get(p->wanted, item_key(buf, sizeof(buf), it->namespace_, it->name));
	if (w == NULL) {
		pthread_mutex_unlock(&p->lock);
		return false;
	}
	patch = jdoc_new_object();
	jdoc_set_take(patch, "status", status_doc(w, object));
	it->version = w->version;
	pthread_mutex_unlock(&p->lock);
	meta = jdoc_ensure_object(patch, "metadata");
	/* With the version that was read: what another client has written since is not overwritten.
	 */
	jdoc_set_str(meta, "resourceVersion", version == NULL ? "" : version);
	jdoc_format(patch, &text);
	jdoc_destroy(patch);
	it->patch = strbuf_steal(&text, NULL);
	return true;
}

static void post_outcome(struct podgroup_status *p, const struct podgroup_item *it,
			 enum sched_outcome outcome, const struct http_result *result)
{
	struct sched_msg *m = message_new(SCHED_MSG_REQUEST_DONE);
	char buf[600];
	struct str key = item_key(buf, sizeof(buf), it->namespace_, it->name);

	m->resource = SCHED_PODGROUPS;
	m->request = SCHED_REQ_PODGROUP;
	m->outcome = outcome;
	m->key = arena_str(m->arena, key);
	m->uid = arena_dup(m->arena, it->uid);
	m->status = result->status;
	m->text = arena_dup(m->arena, result->error_text);
	p->target->post(p->target->ctx, m);
}

static enum pool_verdict report(struct podgroup_status *p, const struct podgroup_item *it,
				enum sched_outcome outcome, const struct http_result *result)
{
	char buf[600];
	struct str key = item_key(buf, sizeof(buf), it->namespace_, it->name);
	struct wanted *w;

	pthread_mutex_lock(&p->lock);
	w = strmap_get(p->wanted, key);
	/* A change that came in after the patch was made has put a new item into the pool. */
	if (w != NULL && (it->patch == NULL || w->version == it->version)) {
		strmap_remove(p->wanted, key);
	}
	pthread_mutex_unlock(&p->lock);
	post_outcome(p, it, outcome, result);
	return POOL_DONE;
}

/* Rights and policies may change; neither is watched, so the write is retried. */
static enum pool_verdict refused(struct podgroup_status *p, struct podgroup_item *it,
				 const struct http_result *result)
{
	post_outcome(p, it, SCHED_REJECTED, result);
	free(take_ptr(&it->patch));
	return POOL_REFUSED;
}

static enum pool_verdict on_read(struct podgroup_status *p, struct podgroup_item *it,
				 const struct http_result *result)
{
	CLEANUP(jdoc_destroyp) struct jdoc *object = NULL;

	if (jdoc_parse(result->body, &object, NULL) < 0) {
		return POOL_RETRY;
	}
	if (it->uid[0] != '\0' && !jdoc_is_str(jdoc_path(object, "metadata.uid"), it->uid)) {
		/* The cache may still have the PodGroup of that name which was deleted before. */
		if (!it->exact) {
			it->exact = true;
			return POOL_AGAIN;
		}
		return report(p, it, SCHED_GONE, result);
	}
	/* Nothing wanted: the item before this one carried the change, and has reported it. */
	return make_patch(p, it, object) ? POOL_AGAIN : POOL_DONE;
}

/* 1. Read the object, from the API server's cache at first.
 * 2. Make the patch of it, with its version, from what is wanted at that moment.
 * 3. Send the patch; when another client wrote meanwhile, begin again. */
static enum pool_verdict podgroup_finish(void *ctx, void *item, const struct http_result *result)
{
	struct podgroup_status *p = ctx;
	struct podgroup_item *it = item;
	int status = result->status;

	if (result->error == ERR_CANCELLED) {
		return report(p, it, SCHED_CANCELLED, result);
	}
	if (status_is_success(status)) {
		return it->patch == NULL ? on_read(p, it, result)
					 : report(p, it, SCHED_DONE, result);
	}
	if (status == STATUS_NOT_FOUND && it->patch == NULL && !it->exact) {
		it->exact = true;
		return POOL_AGAIN;
	}
	if (status == STATUS_NOT_FOUND) {
		return report(p, it, SCHED_GONE, result);
	}
	if (status == STATUS_CONFLICT) { /* another client wrote meanwhile: read again */
		free(take_ptr(&it->patch));
		it->exact = true;
		return POOL_RETRY;
	}
	if (rest_is_transient(status)) {
		return POOL_RETRY;
	}
	return refused(p, it, result);
}

const struct pool_ops podgroup_status_pool_ops = {
	.start = podgroup_start,
	.finish = podgroup_finish,
	.free_item = podgroup_item_free,
};
