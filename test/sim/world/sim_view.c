#include "sim/world/sim_view.h"

#include <stdlib.h>
#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "enc/json/jdoc.h"

struct event {
	enum sim_resource resource;
	int64_t version;
	char *key;
	struct jdoc *object; /* NULL: deleted */
};

struct listener {
	sim_view_fn fn;
	void *ctx;
};

struct sim_view {
	struct sim_world *world;
	struct apiserver_watch *watch[SIM_RESOURCE_COUNT_];
	struct strmap *objects[SIM_RESOURCE_COUNT_];
	struct VEC(const struct jdoc *) list[SIM_RESOURCE_COUNT_]; /* in the order of changes */
	struct strmap *by_uid; /* objects of all kinds, borrowed */
	struct VEC(struct event) events;
	int64_t version; /* of the server, followed up to here */
	uint64_t changes;
	struct VEC(struct listener) listeners;
	unsigned resources; /* how many are followed */
};

#define KUEUE "/apis/" KUEUE_API_VERSION "/"

static const char *const paths[SIM_RESOURCE_COUNT_] = {
	[SIM_PODS] = "/api/v1/pods",
	[SIM_QUEUES] = "/apis/scheduling.volcano.sh/v1beta1/queues",
	[SIM_PODGROUPS] = "/apis/scheduling.volcano.sh/v1beta1/podgroups",
	[SIM_NODES] = "/api/v1/nodes",
	[SIM_BUDGETS] = "/apis/policy/v1/poddisruptionbudgets",
	[SIM_CLAIMS] = "/api/v1/persistentvolumeclaims",
	[SIM_VOLUMES] = "/api/v1/persistentvolumes",
	[SIM_KUBE_PODGROUPS] = "/apis/scheduling.k8s.io/v1beta1/podgroups",
	[SIM_JOBS] = "/apis/batch/v1/jobs",
	[SIM_WORKLOADS] = KUEUE "workloads",
	[SIM_CLUSTER_QUEUES] = KUEUE "clusterqueues",
	[SIM_COHORTS] = KUEUE "cohorts",
	[SIM_LOCAL_QUEUES] = KUEUE "localqueues",
	[SIM_FLAVORS] = KUEUE "resourceflavors",
	[SIM_CLASSES] = KUEUE "workloadpriorityclasses",
	[SIM_CHECKS] = KUEUE "admissionchecks",
};

static void destroy_doc(void *doc)
{
	jdoc_destroy(doc);
}

struct sim_view *sim_view_create(struct sim_world *w)
{
	struct sim_view *v = xmalloc_zero(1, sizeof(*v));

	v->world = w;
	v->by_uid = strmap_create(NULL);
	v->resources = w->quota ? SIM_RESOURCE_COUNT_ : SIM_BASIC_COUNT_;
	for (unsigned i = 0; i < v->resources; i++) {
		struct apiserver_response resp = APISERVER_RESPONSE_INIT;
		struct http_request req = {
			.method = HTTP_GET,
			.path = str_of(paths[i]),
			.query = STR_LIT("watch=1&timeoutSeconds=100000000"),
		};

		apiserver_handle(w->api, &req, clock_wall(&w->clock.base), &resp);
		v->watch[i] = resp.watch;
		v->objects[i] = strmap_create(destroy_doc);
		if (resp.watch == NULL) {
			sim_world_fail(w, "%s: no watch: %d", paths[i], resp.status);
		}
		apiserver_response_finish(&resp);
	}
	return v;
}

void sim_view_destroy(struct sim_view *v)
{
	for (unsigned i = 0; i < v->resources; i++) {
		apiserver_watch_close(v->watch[i]);
		strmap_destroy(v->objects[i]);
		vec_finish(&v->list[i]);
	}
	strmap_destroy(v->by_uid);
	vec_finish(&v->events);
	vec_finish(&v->listeners);
	free(v);
}

void sim_view_listen(struct sim_view *v, sim_view_fn fn, void *ctx)
{
	vec_push(&v->listeners, ((struct listener){ fn, ctx }));
}

static void collect(struct sim_view *v, enum sim_resource r)
{
	struct apiserver_change change;
	int got;

	while ((got = apiserver_watch_next_change(v->watch[r], clock_wall(&v->world->clock.base),
						  &change)) == 1) {
		vec_push(&v->events,
			 ((struct event){ r, change.version, xmalloc_dup(change.key.p),
					  change.deleted ? NULL : jdoc_copy(change.object) }));
	}
	if (got < 0) {
		sim_world_fail(v->world, "the view's own watch of %s ended", paths[r]);
	}
}

static int by_version(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	return (x->version > y->version) - (x->version < y->version);
}

static const char *uid_of(const struct jdoc *object)
{
	return jdoc_str_or(jdoc_path(object, "metadata.uid"), "");
}

/* now, NULL: none, takes the place of old behind all others. */
static void replace(struct sim_view *v, enum sim_resource r, const struct jdoc *old,
		    const struct jdoc *now)
{
	size_t i = 0;

	if (old != NULL) {
		while (v->list[r].v[i] != old) {
			i++;
		}
		v->list[r].n--;
		memmove(&v->list[r].v[i], &v->list[r].v[i + 1],
			(v->list[r].n - i) * sizeof(v->list[r].v[0]));
		(void)strmap_remove(v->by_uid, str_of(uid_of(old)));
	}
	if (now != NULL) {
		vec_push(&v->list[r], now);
		strmap_set(v->by_uid, str_of(uid_of(now)), (void *)(uintptr_t)now);
	}
}

static void apply(struct sim_view *v, struct event *e, enum sim_actor actor)
{
	struct strmap *m = v->objects[e->resource];
	struct jdoc *old = strmap_take(m, str_of(e->key));
	struct sim_change change = { e->resource, actor, e->key, old, e->object };

	v->changes++;
	replace(v, e->resource, old, e->object);
	if (e->object != NULL) {
		strmap_set(m, str_of(e->key), e->object);
	}
	for (size_t i = 0; i < v->listeners.n; i++) {
		v->listeners.v[i].fn(v->listeners.v[i].ctx, &change);
	}
	jdoc_destroy(old);
	free(e->key);
}

uint64_t sim_view_changes(const struct sim_view *v)
{
	return v->changes;
}

void sim_view_follow(struct sim_view *v, enum sim_actor actor)
{
	if (apiserver_version(v->world->api) == v->version) {
		return;
	}
	v->version = apiserver_version(v->world->api);
	vec_clear(&v->events);
	for (unsigned i = 0; i < v->resources; i++) {
		collect(v, (enum sim_resource)i);
	}
	if (v->events.n > 1) {
		qsort(v->events.v, v->events.n, sizeof(v->events.v[0]), by_version);
	}
	for (size_t i = 0; i < v->events.n; i++) {
		apply(v, &v->events.v[i], actor);
	}
	vec_clear(&v->events);
}

const struct jdoc *sim_view_get(const struct sim_view *v, enum sim_resource r, const char *key)
{
	return strmap_get(v->objects[r], str_of(key));
}

const struct jdoc *sim_view_by_uid(const struct sim_view *v, const char *uid)
{
	return strmap_get(v->by_uid, str_of(uid));
}

size_t sim_view_count(const struct sim_view *v, enum sim_resource r)
{
	return v->list[r].n;
}

const struct jdoc *sim_view_at(const struct sim_view *v, enum sim_resource r, size_t i)
{
	return v->list[r].v[i];
}
