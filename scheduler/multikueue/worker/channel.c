#include "scheduler/multikueue/worker/channel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "api/kueue/kueue_keys.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "kube/pool.h"
#include "kube/reflector/reflector.h"
#include "kube/transport.h"
#include "scheduler/base/gate_fields.h"
#include "scheduler/base/message_decode.h"
#include "scheduler/base/message_json.h"
#include "scheduler/base/object_write.h"
#include "scheduler/multikueue/worker/custom_watch.h"
#include "scheduler/multikueue/worker/link.h"

#define WRITE_SLOTS 32

static const struct {
	enum sched_resource resource;
	bool is_ours; /* only objects with the label of this manager */
} lists[CHANNEL_LIST_COUNT_] = {
	[CHANNEL_WORKLOADS] = { SCHED_WORKLOADS, true },
	[CHANNEL_JOBS] = { SCHED_JOBS, true },
	[CHANNEL_PODS] = { SCHED_PODS, true },
	[CHANNEL_LOCAL_QUEUES] = { SCHED_LOCAL_QUEUES, false },
};

struct watch {
	struct channel *channel;
	enum sched_resource resource;
	struct reflector *reflector;
};

struct channel {
	const struct link_options *opt;
	uint64_t source;
	struct transport *watches, *requests;
	struct watch watch[CHANNEL_LIST_COUNT_];
	struct custom_watch *customs;
	struct object_write_target target;
	struct pool *writes;
	struct gate_fields *gate_fields; /* NULL: answered */
	atomic_int queued;               /* messages about objects that are not handled yet */
	bool cut_off;                    /* there were too many; thread of the watches */
	pthread_t closer;
	bool has_closer;
	atomic_bool closed;
};

enum sched_resource channel_resource(enum channel_list list)
{
	return lists[list].resource;
}

bool channel_has(const struct link_options *opt, enum channel_list list)
{
	return list != CHANNEL_PODS || opt->needs_pods;
}

/* --- messages: any thread ----------------------------------------------------------------------*/

static void post(void *ctx, struct sched_msg *m)
{
	const struct channel *c = ctx;

	m->source = c->source;
	c->opt->post(c->opt->ctx, m);
}

static bool may_send(void *ctx)
{
	const struct channel *c = ctx;

	return c->opt->may_send == NULL || c->opt->may_send(c->opt->ctx);
}

static void on_health(void *ctx, const struct reflector_health *h)
{
	const struct watch *w = ctx;
	struct sched_msg *m = message_new(SCHED_MSG_WATCH);

	m->resource = w->resource;
	m->reason = h->reason;
	m->status = h->status;
	m->text = arena_dup(m->arena, h->text);
	post(w->channel, m);
}

/* From here on the streams are of no use: objects are missing in them. */
static void cut_off(struct channel *c, const char *why)
{
	const struct reflector_health h = { .reason = REFLECTOR_REASON_REFUSED, .text = why };

	c->cut_off = true;
	on_health(&c->watch[CHANNEL_WORKLOADS], &h);
}

static void on_event(void *ctx, const struct reflector_event *event)
{
	struct watch *w = ctx;
	struct channel *c = w->channel;
	struct sched_msg *m;

	if (!c->cut_off && reflector_stats(w->reflector).objects > c->opt->max_objects) {
		cut_off(c, "the cluster has more objects than are allowed");
	}
	m = c->cut_off ? NULL : message_decode_event(w->resource, event);
	if (m == NULL) {
		return;
	}
	if (m->kind == SCHED_MSG_UPSERT && c->opt->needs_jobs &&
	    (w->resource == SCHED_JOBS || w->resource == SCHED_PODS)) {
		message_json_keep_status(m, event->object);
	}
	if (atomic_fetch_add(&c->queued, 1) >= (int)c->opt->max_queued) {
		message_free(m);
		cut_off(c, "objects come faster than they can be handled");
		return;
	}
	post(c, m);
}

static void post_custom(void *ctx, struct sched_msg *m)
{
	struct channel *c = ctx;

	atomic_fetch_add(&c->queued, 1);
	post(c, m);
}

static bool has_room(void *ctx)
{
	const struct channel *c = ctx;

	return atomic_load(&c->queued) < (int)c->opt->max_queued;
}

void channel_note_handled(struct channel *c)
{
	atomic_fetch_sub(&c->queued, 1);
}

/* --- open --------------------------------------------------------------------------------------*/

static void make_watch(struct channel *c, enum channel_list list)
{
	const struct link_options *opt = c->opt;
	struct watch *w = &c->watch[list];
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;
	CLEANUP(xmalloc_freep)
	char *label = xmalloc_printf("%s=%s", KUEUE_MULTIKUEUE_ORIGIN, opt->origin);
	struct reflector_options ro = {
		.label_selector = lists[list].is_ours ? label : NULL,
		.transport = c->watches,
		.clock = opt->clock,
		.on_event = on_event,
		.on_health = on_health,
		.ctx = w,
		.seed = opt->seed ^ (c->source * CHANNEL_LIST_COUNT_ + list),
	};

	w->channel = c;
	w->resource = lists[list].resource;
	sched_kinds_path(w->resource, NULL, NULL, NULL, &path);
	ro.path = path.p;
	w->reflector = reflector_create(&ro);
}

static void make_customs(struct channel *c)
{
	const struct link_options *opt = c->opt;
	CLEANUP(xmalloc_freep)
	char *label = xmalloc_printf("%s=%s", KUEUE_MULTIKUEUE_ORIGIN, opt->origin);

	c->customs = custom_watch_create(&(struct custom_watch_options){
		.kinds = opt->customs,
		.transport = c->watches,
		.clock = opt->clock,
		.label_selector = label,
		.max_objects = opt->max_objects,
		.seed = opt->seed ^ (c->source * CHANNEL_LIST_COUNT_ + CHANNEL_LIST_COUNT_),
		.post = post_custom,
		.has_room = has_room,
		.ctx = c });
}

static void make_pools(struct channel *c)
{
	const struct link_options *opt = c->opt;
	struct pool_options base = { .transport = c->requests,
				     .clock = opt->clock,
				     .limiter = opt->limiter,
				     .workers = opt->manual ? 0 : 1,
				     .timeout_ns = opt->request_timeout_ns,
				     .backoff_min_ns = POOL_BACKOFF_MIN_NS,
				     .backoff_max_ns = POOL_BACKOFF_MAX_NS,
				     .refused_max_ns = POOL_REFUSED_MAX_NS,
				     .seed = opt->seed ^ c->source,
				     .may_send = may_send,
				     .ctx = c };

	c->writes = object_write_pool(&base, "worker-write", WRITE_SLOTS, post, &c->target);
	base.limiter = NULL;
	c->gate_fields = gate_fields_create(&base, opt->cluster, post);
	gate_fields_ask(c->gate_fields);
}

int channel_open(const struct link_options *opt, const struct kubeconfig *cfg, struct channel **ret,
		 struct err *err)
{
	struct transport *watches = NULL, *requests = NULL;
	struct channel *c;
	int r = opt->connect(opt->ctx, opt->cluster, cfg, &watches, err);

	r = r < 0 ? r : opt->connect(opt->ctx, opt->cluster, cfg, &requests, err);
	if (r < 0) {
		/* Nothing was asked of it: no name is being resolved. */
		transport_destroy(watches);
		return r;
	}
	c = xmalloc_zero(1, sizeof(*c));
	c->opt = opt;
	c->source = opt->next_source(opt->ctx);
	c->watches = watches;
	c->requests = requests;
	for (int i = 0; i < CHANNEL_LIST_COUNT_; i++) {
		if (channel_has(opt, (enum channel_list)i)) {
			make_watch(c, (enum channel_list)i);
		}
	}
	make_customs(c);
	make_pools(c);
	/* Last: from here on callbacks run. */
	custom_watch_start(c->customs);
	for (int i = 0; i < CHANNEL_LIST_COUNT_; i++) {
		if (c->watch[i].reflector != NULL) {
			reflector_start(c->watch[i].reflector);
		}
	}
	*ret = c;
	return 0;
}

/* --- close -------------------------------------------------------------------------------------*/

/* Pools end before their transport, reflectors after theirs. curl waits for a name that is being
 * resolved when a call that needs it is cancelled, and with it wait the thread of the transport,
 * the workers of its pools, and this one. */
static void *close_all(void *arg)
{
	struct channel *c = arg;

	transport_destroy(c->watches);
	for (int i = 0; i < CHANNEL_LIST_COUNT_; i++) {
		reflector_destroy(c->watch[i].reflector);
	}
	custom_watch_destroy(c->customs);
	gate_fields_destroy(c->gate_fields);
	pool_destroy(c->writes);
	transport_destroy(c->requests);
	atomic_store(&c->closed, true);
	return NULL;
}

void channel_close(struct channel *c)
{
	c->has_closer = !c->opt->manual && pthread_create(&c->closer, NULL, close_all, c) == 0;
	if (!c->has_closer) {
		(void)close_all(c);
	}
}

bool channel_is_closed(const struct channel *c)
{
	return atomic_load(&c->closed);
}

void channel_destroy(struct channel *c)
{
	if (c == NULL) {
		return;
	}
	if (c->has_closer) {
		pthread_join(c->closer, NULL);
	}
	free(c);
}

/* --- for the link ------------------------------------------------------------------------------*/

uint64_t channel_source(const struct channel *c)
{
	return c->source;
}

struct pool *channel_pool(const struct channel *c)
{
	return c->writes;
}

struct transport *channel_transport(const struct channel *c)
{
	return c->requests;
}

int64_t channel_step(struct channel *c)
{
	struct pool *p = c->gate_fields == NULL ? NULL : gate_fields_pool(c->gate_fields);

	if (!c->opt->manual || p == NULL) {
		return CLOCK_NEVER;
	}
	while (pool_step(p)) {
	}
	return pool_wake_at(p);
}

void channel_drop_gate_fields(struct channel *c)
{
	gate_fields_destroy(c->gate_fields);
	c->gate_fields = NULL;
}
