#include "scheduler/pods/writes/podgroup_controller.h"

#include <stdlib.h>

#include "api/core/pod.h"
#include "api/core/resource_amount.h"
#include "api/meta/status.h"
#include "api/volcano/keys.h"
#include "api/volcano/scheduling.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/list.h"
#include "collections/strmap.h"
#include "enc/decode.h"
#include "enc/encode.h"
#include "enc/json/jdoc.h"
#include "kube/recorder.h"
#include "kube/rest.h"
#include "scheduler/base/sched_kinds.h"
#include "scheduler/pods/model/cluster.h"

/* Shorter than POOL_BACKOFF_MAX_NS: a retry is the way to notice that a queue has opened. */
#define RETRY_MAX_NS (5 * CLOCK_NS_PER_S)

/* How long a PodGroup that was created is waited for. */
#define ASK_AGAIN_NS (10 * CLOCK_NS_PER_S)

enum step { STEP_READ_OWNER, STEP_CREATE, STEP_ANNOTATE };

/* A pod without owner, which its PodGroup adopts when it is seen. */
struct asked {
	struct list_node node; /* first */
	char *key, *uid;
	char *queue, *min_member, *priority_class; /* of struct podgroup_controller_pod */
	int64_t due;
};

struct podgroup_controller {
	struct pool *pool;
	struct list_node asked;      /* in the order of their times */
	struct strmap *asked_by_pod; /* the same by key, one of a pod: its user may edit it often */
	const struct clock *clock;
	struct recorder *recorder; /* may be NULL */
	char *default_queue;
	bool (*may_send)(void *ctx);
	void *may_send_ctx;
};

struct amount { /* of a resource that one pod requests */
	char *resource;
	int64_t each;
};

struct item {
	enum step step;
	char *namespace_, *pod, *pod_uid, *group, *queue, *priority_class;
	char *owner_api_version, *owner_kind, *owner_name,
		*owner_uid; /* of the PodGroup: the pod's owner or the pod */
	char *owner_path;   /* NULL: nothing to read */
	int64_t min_member;
	bool adopted; /* the PodGroup is enough, if it is ours */
	struct amount *request;
	size_t nrequest;
};

/* Kinds with annotations that count for the PodGroup, and the resource to read them from. */
static const struct {
	const char *api_version, *kind, *group, *version, *resource;
} owners[] = {
	{ "apps/v1", "ReplicaSet", "apps", "v1", "replicasets" },
	{ "apps/v1", "StatefulSet", "apps", "v1", "statefulsets" },
	{ "apps/v1", "DaemonSet", "apps", "v1", "daemonsets" },
	{ "batch/v1", "Job", "batch", "v1", "jobs" },
};

static void item_free(void *p)
{
	struct item *it = p;
	char *texts[] = { it->namespace_,
			  it->pod,
			  it->pod_uid,
			  it->group,
			  it->queue,
			  it->priority_class,
			  it->owner_api_version,
			  it->owner_kind,
			  it->owner_name,
			  it->owner_uid,
			  it->owner_path };

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		free(texts[i]);
	}
	for (size_t i = 0; i < it->nrequest; i++) {
		free(it->request[i].resource);
	}
	free(it->request);
	free(it);
}

static bool parse_min_member(const char *text, int64_t *ret)
{
	uint64_t n;

	if (text == NULL || !str_to_u64(str_of(text), &n) || n > INT32_MAX) {
		return false;
	}
	*ret = (int64_t)n;
	return true;
}

static struct field_resources min_resources(const struct item *it, struct arena *arena)
{
	struct field_resource *v = arena_zero(arena, it->nrequest, sizeof(*v));

	for (size_t i = 0; i < it->nrequest; i++) {
		int64_t total;

		/* The tenant chooses both factors. */
		if (__builtin_mul_overflow(it->request[i].each, it->min_member, &total)) {
			total = INT64_MAX;
		}
		v[i].name = it->request[i].resource;
		v[i].amount = resource_amount_quantity(v[i].name, total);
	}
	return (struct field_resources){ v, it->nrequest };
}

static void fill_create(const struct item *it, struct http_call *call, struct strbuf *scratch)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	const struct field_pair made_by = { KEYS_MADE_BY, KEYS_COMPONENT };
	struct api_owner owner = { .api_version = it->owner_api_version,
				   .kind = it->owner_kind,
				   .name = it->owner_name,
				   .uid = it->owner_uid,
				   .controller = 1,
				   .block_owner_deletion = FIELD_TRI_ABSENT };
	struct api_pod_group o;
	size_t body;

	sched_kinds_path(SCHED_PODGROUPS, it->namespace_, NULL, NULL, scratch);
	strbuf_add_ch(scratch, '\0');
	body = scratch->len;
	decode_init(&scheduling_pod_group_fields, &o);
	o.api_version = KEYS_VOLCANO_API_VERSION;
	o.kind = "PodGroup";
	o.meta.namespace_ = it->namespace_;
	o.meta.name = it->group;
	o.meta.annotations = (struct field_map){ &made_by, 1 };
	o.meta.owners.v = &owner;
	o.meta.owners.n = 1;
	o.spec.min_member = (int32_t)it->min_member;
	o.spec.queue = it->queue;
	o.spec.priority_class_name = it->priority_class;
	o.spec.min_resources = min_resources(it, arena);
	/* The CRD has no status sub-resource: the status is written with the object. */
	o.status.phase = "Pending";
	encode_text(&scheduling_pod_group_fields, &o, scratch);
	rest_fill(call, scratch, body, HTTP_POST, "application/json");
}

static void fill_annotate(const struct item *it, struct http_call *call, struct strbuf *scratch)
{
	const struct field_pair group = { KEYS_GROUP_NAME, it->group };
	struct api_pod patch;
	size_t body;

	sched_kinds_path(SCHED_PODS, it->namespace_, it->pod, NULL, scratch);
	strbuf_add_ch(scratch, '\0');
	body = scratch->len;
	decode_init(&pod_fields, &patch);
	/* The API server refuses a pod that was created again under this name. */
	patch.meta.uid = it->pod_uid;
	patch.meta.annotations = (struct field_map){ &group, 1 };
	encode_text(&pod_fields, &patch, scratch);
	rest_fill(call, scratch, body, HTTP_PATCH, "application/merge-patch+json");
}

static bool start(void *ctx UNUSED, void *item, unsigned sends UNUSED, struct http_call *call,
		  struct strbuf *scratch)
{
	struct item *it = item;

	switch (it->step) {
	case STEP_READ_OWNER:
		call->method = HTTP_GET;
		call->url = it->owner_path;
		break;
	case STEP_CREATE:
		fill_create(it, call, scratch);
		break;
	case STEP_ANNOTATE:
		fill_annotate(it, call, scratch);
		break;
	}
	return true;
}

static void take_owner(struct item *it, const struct http_result *result)
{
	CLEANUP(jdoc_destroyp) struct jdoc *owner = NULL;
	const struct jdoc *annotations;

	if (result->status != STATUS_OK || jdoc_parse(result->body, &owner, NULL) < 0) {
		return;
	}
	annotations = jdoc_path(owner, "metadata.annotations");
	(void)parse_min_member(jdoc_str(jdoc_get(annotations, KEYS_GROUP_MIN_MEMBER)),
			       &it->min_member);
}

/* Without a PodGroup the pod stays gated, and no other part of the scheduler knows why. */
static void report_refused(const struct podgroup_controller *p, const struct item *it,
			   const struct err *err)
{
	const struct recorder_object about = { "v1", "Pod", it->pod, it->pod_uid, it->namespace_ };

	if (p->recorder != NULL) {
		recorder_event(p->recorder, &about, true, "PodGroupRefused", err->text);
	}
}

static enum pool_verdict after_create(const struct podgroup_controller *p, struct item *it,
				      int code, const struct err *err)
{
	/* 409: another pod of the same owner has created it. */
	if (code == 0 && it->adopted) {
		return POOL_DONE;
	}
	if (code == 0 || code == -ERR_CONFLICT) {
		it->step = STEP_ANNOTATE;
		return POOL_AGAIN;
	}
	if (code == -ERR_NOT_FOUND) {
		return POOL_DONE;
	}
	/* At every attempt: the recorder aggregates events that are equal. */
	report_refused(p, it, err);
	return POOL_RETRY;
}

/* 404, 422: the pod was deleted or replaced; 409: a race lost; 403: rights and policies change
 * without the pod. */
static enum pool_verdict after_annotate(const struct podgroup_controller *p, const struct item *it,
					const struct http_result *result, const struct err *err)
{
	if (result->status == STATUS_FORBIDDEN) {
		report_refused(p, it, err);
	}
	return result->status == STATUS_FORBIDDEN || result->status == STATUS_CONFLICT ? POOL_RETRY
										       : POOL_DONE;
}

static enum pool_verdict finish(void *ctx, void *item, const struct http_result *result)
{
	struct item *it = item;
	struct err err = ERR_INIT;
	int code = rest_result(result, &err);
	/* 401 is among them: the token may have been renewed by the next attempt. */
	bool again_later = code == -ERR_UNAVAILABLE || code == -ERR_TIMEOUT || code == -ERR_IO ||
			   code == -ERR_INTERNAL || result->status == STATUS_UNAUTHORIZED;

	/* Cancelled: writing is not allowed at present. Nothing else would bring the pod back here
	 * before it changes. */
	if (again_later || result->error == ERR_CANCELLED) {
		return POOL_RETRY;
	}
	switch (it->step) {
	case STEP_READ_OWNER: /* an owner that cannot be read counts as one without annotation */
		take_owner(it, result);
		it->step = STEP_CREATE;
		return POOL_AGAIN;
	case STEP_CREATE:
		return after_create(ctx, it, code, &err);
	case STEP_ANNOTATE:
		return after_annotate(ctx, it, result, &err);
	}
	return POOL_DONE;
}

static bool may_send(void *ctx)
{
	const struct podgroup_controller *p = ctx;

	return p->may_send == NULL || p->may_send(p->may_send_ctx);
}

static const struct pool_ops ops = { .start = start, .finish = finish, .free_item = item_free };

struct podgroup_controller *podgroup_controller_create(const struct pool_options *base,
						       const char *default_queue,
						       struct recorder *recorder)
{
	struct podgroup_controller *p = xmalloc_zero(1, sizeof(*p));
	struct pool_options po = *base;

	list_init(&p->asked);
	p->asked_by_pod = strmap_create(NULL);
	p->clock = base->clock;
	p->recorder = recorder;
	p->default_queue = xmalloc_dup(default_queue);
	p->may_send = base->may_send;
	p->may_send_ctx = base->ctx;
	po.name = "podgroup";
	po.ops = &ops;
	po.ctx = p;
	po.may_send = may_send;
	po.slots = 16;
	if (po.backoff_max_ns > RETRY_MAX_NS) {
		po.backoff_max_ns = RETRY_MAX_NS;
	}
	p->pool = pool_create(&po);
	return p;
}

static void asked_free(struct asked *a)
{
	list_remove(&a->node);
	free(a->key);
	free(a->uid);
	free(a->queue);
	free(a->min_member);
	free(a->priority_class);
	free(a);
}

void podgroup_controller_destroy(struct podgroup_controller *p)
{
	if (p != NULL) {
		pool_destroy(p->pool);
		LIST_FOR_EACH (n, &p->asked) {
			asked_free(LIST_ENTRY(n, struct asked, node));
		}
		strmap_destroy(p->asked_by_pod);
		free(p->default_queue);
		free(p);
	}
}

struct pool *podgroup_controller_pool(struct podgroup_controller *p)
{
	return p->pool;
}

/* The item may be sent when the task is gone. */
static void copy_request(const struct cluster *c, const struct task *t, struct item *it)
{
	it->request = xmalloc_zero(res_names_count(c->res), sizeof(*it->request));
	for (unsigned i = 0; i < res_names_count(c->res); i++) {
		int64_t each = res_get(&t->klass->request, i);

		if (each > 0) {
			it->request[it->nrequest++] =
				(struct amount){ xmalloc_dup(res_names_get(c->res, i)), each };
		}
	}
}

static char *owner_path(const struct podgroup_controller_pod *pod, const char *namespace_)
{
	struct strbuf path = STRBUF_INIT;

	for (size_t i = 0; i < ARRAY_LEN(owners); i++) {
		if (str_streq(owners[i].api_version, pod->owner_api_version) &&
		    str_streq(owners[i].kind, pod->owner_kind)) {
			rest_path(&path, owners[i].group, owners[i].version, namespace_,
				  owners[i].resource, pod->owner_name, NULL);
			return strbuf_steal(&path, NULL);
		}
	}
	return NULL;
}

static void remember(struct podgroup_controller *p, const struct task *t,
		     const struct podgroup_controller_pod *pod)
{
	struct asked *a = xmalloc_zero(1, sizeof(*a)), *old;

	a->key = xmalloc_printf("%s/%s", t->namespace_, t->name);
	a->uid = xmalloc_dup(t->uid);
	a->queue = xmalloc_dup_or_null(pod->queue);
	a->min_member = xmalloc_dup_or_null(pod->min_member);
	a->priority_class = xmalloc_dup_or_null(pod->priority_class);
	a->due = clock_mono(p->clock) + ASK_AGAIN_NS;
	/* Its time begins again, so that it goes to the end of the list, which is in the order of
	 * times. */
	old = strmap_take(p->asked_by_pod, str_of(a->key));
	if (old != NULL) {
		asked_free(old);
	}
	strmap_set(p->asked_by_pod, str_of(a->key), a);
	list_append(&p->asked, &a->node);
}

/* 1. The PodGroup has the name that Volcano's controller would give it, so that pods of one owner
 *    share it.
 * 2. The owner is read if the pod does not say minMember itself, and only for kinds that may have
 *    it.
 * 3. A PodGroup that is known already is not created: the pod is annotated alone.
 * 4. A pod without an owner is adopted instead; it is remembered, and looked at again after
 *    ASK_AGAIN_NS. */
void podgroup_controller_pod(struct podgroup_controller *p, const struct cluster *c,
			     const struct task *t, const struct podgroup_controller_pod *pod)
{
	struct item *it = xmalloc_zero(1, sizeof(*it));
	bool owned = pod->owner_uid != NULL;
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	const struct podgroup *g;

	it->namespace_ = xmalloc_dup(t->namespace_);
	it->pod = xmalloc_dup(t->name);
	it->pod_uid = xmalloc_dup(t->uid);
	it->group = xmalloc_printf("podgroup-%s", owned ? pod->owner_uid : t->uid);
	it->queue = xmalloc_dup(pod->queue == NULL || pod->queue[0] == '\0' ? p->default_queue
									    : pod->queue);
	it->priority_class = xmalloc_dup_or_null(pod->priority_class);
	it->owner_api_version = xmalloc_dup(owned ? pod->owner_api_version : "v1");
	it->owner_kind = xmalloc_dup(owned ? pod->owner_kind : "Pod");
	it->owner_name = xmalloc_dup(owned ? pod->owner_name : t->name);
	it->owner_uid = xmalloc_dup(owned ? pod->owner_uid : t->uid);
	it->adopted = !owned && cluster_task_may_be_adopted(t);
	it->min_member = 1;
	copy_request(c, t, it);
	it->step = STEP_CREATE;
	if (!parse_min_member(pod->min_member, &it->min_member) && owned) {
		it->owner_path = owner_path(pod, t->namespace_);
		it->step = it->owner_path == NULL ? STEP_CREATE : STEP_READ_OWNER;
	}
	strbuf_printf(&key, "%s/%s", t->namespace_, it->group);
	g = cluster_podgroup_find(c, strbuf_str(&key));
	if (g != NULL && g->exists) {
		it->step = STEP_ANNOTATE;
	}
	if (it->adopted) {
		remember(p, t, pod);
	}
	strbuf_reset(&key);
	strbuf_printf(&key, "%s/%s", t->namespace_, t->name);
	pool_add(p->pool, strbuf_str(&key), it);
}

static void ask_again(struct podgroup_controller *p, const struct cluster *c, const struct asked *a)
{
	const struct podgroup_controller_pod pod = { .queue = a->queue,
						     .min_member = a->min_member,
						     .priority_class = a->priority_class };
	const struct task *t = cluster_task_find(c, str_of(a->key));

	if (t != NULL && str_streq(t->uid, a->uid) && t->status == TASK_PENDING &&
	    cluster_task_may_be_adopted(t) &&
	    (t->podgroup == MODEL_NONE ||
	     ((t->flags & TASK_ADOPTED) != 0 && !c->podgroups.v[t->podgroup]->exists))) {
		podgroup_controller_pod(p, c, t, &pod);
	}
}

void podgroup_controller_ask_again(struct podgroup_controller *p, const struct cluster *c)
{
	int64_t now = clock_mono(p->clock);

	LIST_FOR_EACH (n, &p->asked) {
		struct asked *a = LIST_ENTRY(n, struct asked, node);

		if (a->due > now) {
			break;
		}
		(void)strmap_take(p->asked_by_pod, str_of(a->key));
		ask_again(p, c, a);
		asked_free(a);
	}
}

void podgroup_controller_annotate(struct podgroup_controller *p, const struct task *t,
				  const char *group)
{
	struct item *it = xmalloc_zero(1, sizeof(*it));
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;

	it->step = STEP_ANNOTATE;
	it->namespace_ = xmalloc_dup(t->namespace_);
	it->pod = xmalloc_dup(t->name);
	it->pod_uid = xmalloc_dup(t->uid);
	it->group = xmalloc_dup(group);
	strbuf_printf(&key, "%s/%s", t->namespace_, t->name);
	pool_add(p->pool, strbuf_str(&key), it);
}
