#include "lib/multikueue/fleet_core.h"

#include "lib/unit.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/vec.h"
#include "enc/json/jdoc.h"
#include "kube/pool.h"
#include "kube/reflector/reflector.h"
#include "kube/transport.h"
#include "obs/metric.h"
#include "scheduler/app/engine.h"
#include "scheduler/base/message_decode.h"
#include "scheduler/pods/conf/conf.h"
#include "scheduler/pods/cycle/known_names.h"
#include "scheduler/pods/session/plugin.h"
#include "scheduler/workloads/conf/kueue_conf.h"

#define INTERVAL_NS (5 * CLOCK_NS_PER_MS)
#define REQUEST_NS (5 * CLOCK_NS_PER_S)

struct watch {
	struct fleet_core *core;
	enum sched_resource resource;
	struct reflector *reflector;
};

struct fleet_core {
	struct fleet_core_options opt;
	struct metric_registry *counters;
	struct kueue_conf *conf;
	struct engine *engine;
	struct watch watch[SCHED_RESOURCE_COUNT_];
	unsigned watched; /* the first of them are used */
	struct VEC(struct sched_msg *) queue;
	int64_t due; /* monotonic, of the engine */
};

static void post(void *ctx, struct sched_msg *m)
{
	struct fleet_core *c = ctx;

	vec_push(&c->queue, m);
}

static void on_event(void *ctx, const struct reflector_event *event)
{
	struct watch *w = ctx;
	struct sched_msg *m = message_decode_event(w->resource, event);

	if (m != NULL) {
		post(w->core, m);
	}
}

static void start_watches(struct fleet_core *c)
{
	c->watched = sched_kinds_watched(true);
	for (unsigned i = 0; i < c->watched; i++) {
		enum sched_resource r = (enum sched_resource)i;
		CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;
		struct reflector_options ro = { .transport = c->opt.watches,
						.clock = c->opt.clock,
						.on_event = on_event,
						.ctx = &c->watch[i],
						.missing_ok = sched_kinds_may_be_missing(r),
						.seed = c->opt.seed + i };

		sched_kinds_path(r, NULL, NULL, NULL, &path);
		ro.path = path.p;
		c->watch[i] = (struct watch){ c, r, reflector_create(&ro) };
		reflector_start(c->watch[i].reflector);
		reflector_refresh(c->watch[i].reflector);
	}
}

static struct sched_conf *new_conf(void)
{
	const struct known_names_source from = { plugin_registry, plugin_registry_count,
						 action_registry, action_registry_count };
	struct sched_conf *conf = NULL;
	struct conf_options co = { .warn = NULL };
	struct known_names names;

	known_names_init(&names, &from);
	co.known = known_names_conf(&names);
	assert_int_equal(conf_parse(str_of(conf_default_text()), "built in", &co, &conf, NULL), 0);
	known_names_finish(&names);
	return conf;
}

struct fleet_core *fleet_core_create(const struct fleet_core_options *opt)
{
	static const char *const names[] = { "volcano", NULL };
	CLEANUP(jdoc_destroyp) struct jdoc *conf = NULL;
	struct fleet_core *c = xmalloc_zero(1, sizeof(*c));
	struct sched_msg *lease = message_new(SCHED_MSG_LEASE);
	struct engine_options eo = { .scheduler_names = names,
				     .default_queue = "default",
				     .transport = opt->requests,
				     .clock = opt->clock,
				     .standalone = true,
				     .gate_workers = 1,
				     .manual = true,
				     .min_interval_ns = INTERVAL_NS,
				     .period_ns = CLOCK_NS_PER_S,
				     .request_timeout_ns = REQUEST_NS,
				     .seed = opt->seed,
				     .post = post,
				     .ctx = c };

	c->opt = *opt;
	c->counters = metric_registry_create();
	if (opt->conf != NULL) {
		assert_int_equal(jdoc_parse(str_of(opt->conf), &conf, NULL), 0);
	}
	assert_int_equal(kueue_conf_read(conf, NULL, NULL, &c->conf, NULL), 0);
	eo.counters = c->counters;
	eo.kueue_conf = c->conf;
	assert_int_equal(engine_create(&eo, new_conf(), &c->engine, NULL), 0);
	lease->flag = true;
	post(c, lease);
	start_watches(c);
	return c;
}

void fleet_core_destroy(struct fleet_core *c)
{
	if (c == NULL) {
		return;
	}
	engine_stop(c->engine, 0);
	transport_destroy(c->opt.watches);
	transport_destroy(c->opt.requests);
	for (unsigned i = 0; i < c->watched; i++) {
		reflector_destroy(c->watch[i].reflector);
	}
	engine_destroy(c->engine);
	kueue_conf_destroy(c->conf);
	for (size_t i = 0; i < c->queue.n; i++) {
		message_free(c->queue.v[i]);
	}
	vec_finish(&c->queue);
	metric_registry_destroy(c->counters);
	free(c);
}

bool fleet_core_step(struct fleet_core *c)
{
	struct pool *pools[ENGINE_MAX_POOLS];
	size_t n = engine_pools(c->engine, pools, ENGINE_MAX_POOLS);
	bool did = c->queue.n > 0;

	for (size_t i = 0; i < c->queue.n; i++) {
		engine_handle(c->engine, c->queue.v[i]);
	}
	vec_clear(&c->queue);
	if (did || c->due <= clock_mono(c->opt.clock)) {
		c->due = engine_step(c->engine);
	}
	for (size_t i = 0; i < n; i++) {
		did |= pool_step(pools[i]);
	}
	return did;
}

int64_t fleet_core_wake_at(struct fleet_core *c)
{
	struct pool *pools[ENGINE_MAX_POOLS];
	size_t n = engine_pools(c->engine, pools, ENGINE_MAX_POOLS);
	int64_t at = c->due;

	for (size_t i = 0; i < n; i++) {
		at = clock_earlier(at, pool_wake_at(pools[i]));
	}
	return at;
}
