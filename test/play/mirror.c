#include "play/mirror.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "collections/vec.h"
#include "enc/json/jdoc.h"
#include "kube/reflector/reflector.h"
#include "kube/transport.h"

#define MAX_LISTENERS 8
#define CHECK_INTERVAL_NS (20 * CLOCK_NS_PER_MS)

struct watch {
	struct mirror *mirror;
	enum mirror_resource resource;
	struct reflector *reflector; /* NULL: not followed */
	struct strmap *objects;
	bool synced;
};

struct waiter {
	mirror_cond_fn cond;
	void *ctx;
	bool held;
};

struct mirror {
	struct transport *transport;
	const struct clock *clock;
	struct watch watch[MIRROR_RESOURCE_COUNT_];
	struct {
		mirror_listen_fn fn;
		void *ctx;
	} listeners[MAX_LISTENERS];
	size_t nlisteners;
	bool keep_history;
	uint64_t changes;
	pthread_mutex_t lock; /* guards waiter, history */
	pthread_cond_t woken;
	struct waiter *waiter;
	struct VEC(struct mirror_record) history;
	struct VEC(struct mirror_record) sorted; /* of the last mirror_history; texts are shared */
};

static void destroy_doc(void *doc)
{
	jdoc_destroy(doc);
}

static const char *const paths[MIRROR_RESOURCE_COUNT_] = {
	[MIRROR_PODS] = "/api/v1/pods",
	[MIRROR_NODES] = "/api/v1/nodes",
	[MIRROR_QUEUES] = "/apis/scheduling.volcano.sh/v1beta1/queues",
	[MIRROR_PODGROUPS] = "/apis/scheduling.volcano.sh/v1beta1/podgroups",
	[MIRROR_JOBS] = "/apis/batch/v1/jobs",
	[MIRROR_WORKLOADS] = "/apis/kueue.x-k8s.io/v1beta2/workloads",
};

static void check_waiter(struct mirror *m)
{
	pthread_mutex_lock(&m->lock);
	if (m->waiter != NULL && !m->waiter->held && m->waiter->cond(m->waiter->ctx, m)) {
		m->waiter->held = true;
		pthread_cond_broadcast(&m->woken);
	}
	pthread_mutex_unlock(&m->lock);
}

static void remember(struct mirror *m, const struct watch *w, const struct reflector_event *event)
{
	struct mirror_record r = { .resource_version = event->resource_version,
				   .at = clock_mono(m->clock),
				   .resource = w->resource };

	if (!m->keep_history) {
		return;
	}
	r.key = xmalloc_dup_n(event->key.p, event->key.len);
	if (event->kind == REFLECTOR_UPSERT) {
		r.text = xmalloc_dup_n(event->object.p, event->object.len);
	}
	pthread_mutex_lock(&m->lock);
	vec_push(&m->history, r);
	pthread_mutex_unlock(&m->lock);
}

static void on_object(struct mirror *m, struct watch *w, const struct reflector_event *event)
{
	struct jdoc *old = strmap_take(w->objects, event->key), *now = NULL;

	if (event->kind == REFLECTOR_UPSERT && jdoc_parse(event->object, &now, NULL) == 0) {
		strmap_set(w->objects, event->key, now);
	}
	remember(m, w, event);
	for (size_t i = 0; i < m->nlisteners; i++) {
		m->listeners[i].fn(m->listeners[i].ctx, w->resource, event->key, old, now);
	}
	jdoc_destroy(old);
}

static void on_event(void *ctx, const struct reflector_event *event)
{
	struct watch *w = ctx;

	w->mirror->changes++;
	switch (event->kind) {
	case REFLECTOR_UPSERT:
	case REFLECTOR_DELETE:
		on_object(w->mirror, w, event);
		break;
	case REFLECTOR_SYNCED:
		w->synced = true;
		break;
	case REFLECTOR_RELISTED:
	case REFLECTOR_REFRESHED:
		break;
	}
	check_waiter(w->mirror);
}

struct mirror *mirror_create(struct transport *t, const struct clock *clock, bool keep_history)
{
	struct mirror *m = xmalloc_zero(1, sizeof(*m));
	pthread_condattr_t attr;

	m->transport = t;
	m->clock = clock;
	m->keep_history = keep_history;
	pthread_mutex_init(&m->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&m->woken, &attr);
	pthread_condattr_destroy(&attr);
	for (unsigned i = 0; i < MIRROR_RESOURCE_COUNT_; i++) {
		m->watch[i].mirror = m;
		m->watch[i].resource = (enum mirror_resource)i;
		m->watch[i].objects = strmap_create(destroy_doc);
	}
	for (unsigned i = 0; i < MIRROR_JOBS; i++) {
		mirror_follow(m, (enum mirror_resource)i);
	}
	return m;
}

void mirror_follow(struct mirror *m, enum mirror_resource r)
{
	struct reflector_options ro = {
		.path = paths[r],
		.transport = m->transport,
		.clock = m->clock,
		.on_event = on_event,
		.ctx = &m->watch[r],
		.seed = r,
	};

	m->watch[r].reflector = reflector_create(&ro);
}

void mirror_listen(struct mirror *m, mirror_listen_fn fn, void *ctx)
{
	assert(m->nlisteners < MAX_LISTENERS);
	m->listeners[m->nlisteners].fn = fn;
	m->listeners[m->nlisteners++].ctx = ctx;
}

void mirror_start(struct mirror *m)
{
	for (unsigned i = 0; i < MIRROR_RESOURCE_COUNT_; i++) {
		if (m->watch[i].reflector != NULL) {
			reflector_start(m->watch[i].reflector);
		}
	}
}

void mirror_destroy(struct mirror *m)
{
	if (m == NULL) {
		return;
	}
	for (unsigned i = 0; i < MIRROR_RESOURCE_COUNT_; i++) {
		if (m->watch[i].reflector != NULL) {
			reflector_destroy(m->watch[i].reflector);
		}
		strmap_destroy(m->watch[i].objects);
	}
	for (size_t i = 0; i < m->history.n; i++) {
		free(m->history.v[i].key);
		free(m->history.v[i].text);
	}
	vec_finish(&m->history);
	vec_finish(&m->sorted);
	pthread_cond_destroy(&m->woken);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

const struct jdoc *mirror_get(const struct mirror *m, enum mirror_resource r, const char *key)
{
	return strmap_get(m->watch[r].objects, str_of(key));
}

size_t mirror_count(const struct mirror *m, enum mirror_resource r)
{
	return strmap_count(m->watch[r].objects);
}

struct each {
	mirror_each_fn fn;
	void *ctx;
};

static bool each_object(struct str key, void *value, void *ctx)
{
	struct each *e = ctx;

	return e->fn(e->ctx, key, value);
}

void mirror_each(const struct mirror *m, enum mirror_resource r, mirror_each_fn fn, void *ctx)
{
	struct each e = { fn, ctx };

	strmap_each(m->watch[r].objects, each_object, &e);
}

bool mirror_is_synced(const struct mirror *m)
{
	for (unsigned i = 0; i < MIRROR_RESOURCE_COUNT_; i++) {
		if (m->watch[i].reflector != NULL && !m->watch[i].synced) {
			return false;
		}
	}
	return true;
}

uint64_t mirror_changes(const struct mirror *m)
{
	return m->changes;
}

struct transport *mirror_transport(const struct mirror *m)
{
	return m->transport;
}

const struct clock *mirror_clock(const struct mirror *m)
{
	return m->clock;
}

static void on_check(void *ctx)
{
	check_waiter(ctx);
}

bool mirror_wait(struct mirror *m, mirror_cond_fn cond, void *ctx, int64_t timeout_ns)
{
	struct waiter w = { .cond = cond, .ctx = ctx };
	int64_t deadline = clock_mono(clock_real()) + timeout_ns;

	pthread_mutex_lock(&m->lock);
	m->waiter = &w;
	while (!w.held && clock_mono(clock_real()) < deadline) {
		int64_t until = clock_mono(clock_real()) + CHECK_INTERVAL_NS;
		struct timespec ts = { until / CLOCK_NS_PER_S, until % CLOCK_NS_PER_S };

		/* The condition is looked at on the transport's thread only, which owns the
		 * objects. */
		transport_call(m->transport, 0, on_check, m);
		pthread_cond_timedwait(&m->woken, &m->lock, &ts);
	}
	m->waiter = NULL;
	pthread_mutex_unlock(&m->lock);
	return w.held;
}

static int by_version(const void *a, const void *b)
{
	const struct mirror_record *x = a, *y = b;

	return x->resource_version < y->resource_version
		       ? -1
		       : x->resource_version > y->resource_version;
}

const struct mirror_record *mirror_history(struct mirror *m, size_t *ret_count)
{
	pthread_mutex_lock(&m->lock);
	m->sorted.n = 0;
	for (size_t i = 0; i < m->history.n; i++) {
		vec_push(&m->sorted, m->history.v[i]);
	}
	pthread_mutex_unlock(&m->lock);
	if (m->sorted.n > 0) {
		qsort(m->sorted.v, m->sorted.n, sizeof(m->sorted.v[0]), by_version);
	}
	*ret_count = m->sorted.n;
	return m->sorted.v;
}

bool mirror_pod_is_gated(const struct jdoc *pod)
{
	return jdoc_count(jdoc_path(pod, "spec.schedulingGates")) > 0;
}

const struct jdoc *mirror_pod_condition(const struct jdoc *pod, const char *type)
{
	const struct jdoc *conditions = jdoc_path(pod, "status.conditions");

	for (const struct jdoc *c = jdoc_first(conditions); c != NULL; c = jdoc_next(c)) {
		if (jdoc_is_str(jdoc_get(c, "type"), type)) {
			return c;
		}
	}
	return NULL;
}

bool mirror_pod_triggers_scale_up(const struct jdoc *pod)
{
	const struct jdoc *c = mirror_pod_condition(pod, "PodScheduled");
	const char *phase = jdoc_path_str(pod, "status.phase");
	const char *node = jdoc_path_str(pod, "spec.nodeName"),
		   *nominated = jdoc_path_str(pod, "status.nominatedNodeName");

	return !str_streq(phase, "Succeeded") && !str_streq(phase, "Failed") &&
	       (node == NULL || node[0] == '\0') &&
	       jdoc_path(pod, "metadata.deletionTimestamp") == NULL &&
	       (nominated == NULL || nominated[0] == '\0') &&
	       jdoc_is_str(jdoc_get(c, "status"), "False") &&
	       jdoc_is_str(jdoc_get(c, "reason"), "Unschedulable");
}
