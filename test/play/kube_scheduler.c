#include "play/kube_scheduler.h"

#include <stdlib.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "enc/json/jdoc.h"
#include "kube/rest.h"
#include "kube/transport.h"
#include "play/mirror.h"
#include "play/node_room.h"

#define TIMEOUT_NS (60 * CLOCK_NS_PER_S)
#define SOON_NS (10 * CLOCK_NS_PER_MS) /* changes that come together are looked at once */
#define UNSCHEDULABLE ""

struct kube_scheduler {
	struct mirror *mirror;
	struct strmap *written; /* UID -> the node of the last write, or UNSCHEDULABLE */
	struct node_rooms rooms;
	bool is_due;
};

static void on_done(void *ctx UNUSED, const struct http_result *result UNUSED)
{
	/* A pod that was changed or deleted meanwhile is looked at again when that is seen. */
}

static void send(struct kube_scheduler *k, const struct jdoc *pod, const char *sub,
		 struct http_call *call)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

	rest_path(&path, "", "v1", jdoc_path_str(pod, "metadata.namespace"), "pods",
		  jdoc_path_str(pod, "metadata.name"), sub);
	call->url = path.p;
	call->timeout_ns = TIMEOUT_NS;
	call->on_done = on_done;
	transport_submit(mirror_transport(k->mirror), call);
}

static void bind(struct kube_scheduler *k, const struct jdoc *pod, const char *node)
{
	CLEANUP(xmalloc_freep)
	char *body = xmalloc_printf(
		"{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{\"name\":\"%s\","
		"\"uid\":\"%s\"},\"target\":{\"kind\":\"Node\",\"name\":\"%s\"}}",
		jdoc_path_str(pod, "metadata.name"), jdoc_path_str(pod, "metadata.uid"), node);
	struct http_call call = { .method = HTTP_POST,
				  .content_type = "application/json",
				  .body = str_of(body) };

	send(k, pod, "binding", &call);
}

static void report(struct kube_scheduler *k, const struct jdoc *pod)
{
	char when[CLOCK_RFC3339_MAX];
	CLEANUP(xmalloc_freep) char *body = NULL;
	struct http_call call = { .method = HTTP_PATCH,
				  .content_type = "application/strategic-merge-patch+json" };

	clock_format_time(clock_wall(mirror_clock(k->mirror)), when);
	body = xmalloc_printf("{\"metadata\":{\"uid\":\"%s\"},\"status\":{\"conditions\":[{"
			      "\"type\":\"PodScheduled\",\"status\":\"False\",\"reason\":"
			      "\"Unschedulable\",\"message\":\"no node has room\","
			      "\"lastTransitionTime\":\"%s\"}]}}",
			      jdoc_path_str(pod, "metadata.uid"), when);
	call.body = str_of(body);
	send(k, pod, "status", &call);
}

static bool is_ours(const struct jdoc *pod)
{
	return jdoc_is_str(jdoc_path(pod, "spec.schedulerName"), "default-scheduler") &&
	       jdoc_path_str(pod, "spec.nodeName") == NULL &&
	       jdoc_path(pod, "metadata.deletionTimestamp") == NULL &&
	       jdoc_count(jdoc_path(pod, "spec.schedulingGates")) == 0;
}

static const char *find_node(struct kube_scheduler *k, const struct jdoc *pod)
{
	for (size_t i = 0; i < k->rooms.n; i++) {
		if (node_room_take(&k->rooms.v[i], pod)) {
			return k->rooms.v[i].name;
		}
	}
	return NULL;
}

/* One that is being bound keeps its room until that is seen. */
static bool place(void *ctx, struct str key UNUSED, const struct jdoc *pod)
{
	struct kube_scheduler *k = ctx;
	const char *node, *before;
	struct str uid;

	if (!is_ours(pod)) {
		return true;
	}
	uid = str_of(jdoc_path_str(pod, "metadata.uid"));
	before = strmap_get(k->written, uid);
	node = find_node(k, pod);
	node = node == NULL ? UNSCHEDULABLE : node;
	if (before != NULL && (before[0] != '\0' || node[0] == '\0')) {
		return true;
	}
	if (node[0] == '\0') {
		report(k, pod);
	} else {
		bind(k, pod, node);
	}
	strmap_set(k->written, uid, xmalloc_dup(node));
	return true;
}

static void schedule(void *ctx)
{
	struct kube_scheduler *k = ctx;

	k->is_due = false;
	if (!atomic_load(&mirror_transport(k->mirror)->stopping)) {
		node_room_read(&k->rooms, k->mirror);
		mirror_each(k->mirror, MIRROR_PODS, place, k);
	}
}

static void on_change(void *ctx, enum mirror_resource r, struct str key UNUSED,
		      const struct jdoc *old, const struct jdoc *now)
{
	struct kube_scheduler *k = ctx;

	if (r != MIRROR_PODS && r != MIRROR_NODES) {
		return;
	}
	if (r == MIRROR_PODS && now == NULL) {
		free(strmap_take(k->written, str_of(jdoc_path_str(old, "metadata.uid"))));
	}
	if (!k->is_due) {
		k->is_due = true;
		transport_call(mirror_transport(k->mirror), SOON_NS, schedule, k);
	}
}

struct kube_scheduler *kube_scheduler_create(struct mirror *m)
{
	struct kube_scheduler *k = xmalloc_zero(1, sizeof(*k));

	k->mirror = m;
	k->written = strmap_create(free);
	mirror_listen(m, on_change, k);
	return k;
}

void kube_scheduler_destroy(struct kube_scheduler *k)
{
	if (k != NULL) {
		strmap_destroy(k->written);
		vec_finish(&k->rooms);
		free(k);
	}
}
