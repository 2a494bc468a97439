#include <stdlib.h>

#include "api/core/pod.h"
#include "api/kueue/kueue.h"
#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "scheduler/workloads/controller/owner_controller_priv.h"
#include "scheduler/workloads/owners/kueue_pod_group.h"

struct believed {          /* a pod that was judged by its labels alone */
	char *owner, *uid; /* key; UID of a controlling owner or NULL */
	bool has_node;
};

static void believed_free(void *p)
{
	struct believed *b = p;

	free(b->owner);
	free(b->uid);
	free(b);
}

/* The key of the owner that a pod belongs to by its labels and owner references. */
static struct str make_owner(struct strbuf *b, const struct api_pod *pod, const char **ret_uid)
{
	const struct api_owner *ref = meta_controller(&pod->meta);
	const char *group = kueue_pod_group_name(pod);

	*ret_uid = NULL;
	/* A pod that queues by itself is not its Job's, whatever its owner reference says. */
	if (!kueue_pod_group_is_managed(pod) && ref != NULL && str_streq(ref->kind, "Job") &&
	    str_streq(ref->api_version, "batch/v1")) {
		*ret_uid = ref->uid;
		return owner_controller_plan_owner(b, OWNERS_JOB, pod->meta.namespace_, ref->name);
	}
	if (group != NULL) {
		return owner_controller_plan_owner(b, OWNERS_GROUP, pod->meta.namespace_, group);
	}
	*ret_uid = pod->meta.uid;
	return owner_controller_plan_owner(b, OWNERS_POD, pod->meta.namespace_, pod->meta.name);
}

static bool holds(const struct owner_controller *o, struct str owner, const char *uid,
		  bool has_node)
{
	const struct owner *e = strmap_get(o->owners, owner);

	for (size_t i = 0; e != NULL && i < e->workloads.n; i++) {
		const struct api_workload *w = e->workloads.v[i]->w;
		const struct api_owner *ref = meta_controller(&w->meta);

		/* A group has no UID. With a node, the pod uses what it was admitted for until it
		 * is gone. */
		if ((uid == NULL || (ref != NULL && str_streq(ref->uid, uid))) &&
		    (has_node || kueue_workload_is_reserving(w))) {
			return true;
		}
	}
	return false;
}

/* The labels may be forged, or older than the loss of the quota: the data by which the pod is
 * judged again is kept. */
static void believe(struct owner_controller *o, const struct api_pod *pod, struct str owner,
		    const char *uid)
{
	struct believed *b = xmalloc_zero(1, sizeof(*b));
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;

	b->owner = xmalloc_dup_n(owner.p, owner.len);
	b->uid = uid == NULL ? NULL : xmalloc_dup(uid);
	b->has_node = pod->spec.node_name != NULL;
	if (o->believed == NULL) {
		o->believed = strmap_create(believed_free);
	}
	strmap_set(o->believed,
		   owner_controller_plan_name(&key, pod->meta.namespace_, pod->meta.name), b);
}

bool owner_controller_hold(struct owner_controller *o, const struct api_pod *pod)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	struct str owner;
	const char *uid;

	/* The start of an owner writes these on its pods. */
	if (!field_map_is(&pod->meta.labels, KUEUE_MANAGED, "true") ||
	    field_map_get(&pod->meta.labels, KUEUE_PODSET) == NULL) {
		return false;
	}
	owner = make_owner(&key, pod, &uid);
	/* Before that a Workload that is not known may still come. Charged to a Queue meanwhile,
	 * its pod would count twice. */
	if (o->synced) {
		return holds(o, owner, uid, pod->spec.node_name != NULL);
	}
	believe(o, pod, owner, uid);
	return true;
}

void owner_controller_hold_gone(struct owner_controller *o, struct str pod)
{
	if (o->believed != NULL) {
		(void)strmap_remove(o->believed, pod);
	}
}

struct recheck {
	const struct owner_controller *o;
	void (*fn)(void *ctx, struct str key);
	void *ctx;
};

/* Only reported: to charge it to a Queue is the caller's part. */
static bool recheck_one(struct str key, void *value, void *ctx)
{
	const struct believed *b = value;
	const struct recheck *r = ctx;

	if (!holds(r->o, str_of(b->owner), b->uid, b->has_node)) {
		r->fn(r->ctx, key);
	}
	return true;
}

void owner_controller_hold_recheck(struct owner_controller *o,
				   void (*fn)(void *ctx, struct str key), void *ctx)
{
	struct recheck r = { o, fn, ctx };

	if (o->believed != NULL) {
		strmap_each(o->believed, recheck_one, &r);
		strmap_destroy(o->believed);
		o->believed = NULL;
	}
}
