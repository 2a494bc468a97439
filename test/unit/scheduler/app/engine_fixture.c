#include "unit/scheduler/app/engine_fixture.h"

#include "lib/unit.h"

#include "base/err.h"
#include "kube/pool.h"
#include "lib/net/fake_transport.h"
#include "obs/metric.h"
#include "scheduler/base/message_decode.h"
#include "scheduler/pods/conf/conf.h"
#include "scheduler/pods/cycle/known_names.h"

static void keep(void *ctx, struct sched_msg *m)
{
	struct engine_fixture *f = ctx;

	assert_true(f->ndone < ARRAY_LEN(f->done));
	f->done[f->ndone++] = m;
}

struct sched_conf *engine_fixture_parse(const char *text)
{
	const struct known_names_source from = { plugin_registry, plugin_registry_count,
						 action_registry, action_registry_count };
	struct conf_options co = { .warn = NULL };
	struct known_names names;
	struct sched_conf *conf = NULL;

	known_names_init(&names, &from);
	co.known = known_names_conf(&names);
	assert_int_equal(conf_parse(str_of(text), "test", &co, &conf, NULL), 0);
	known_names_finish(&names);
	conf->gates_admission = true;
	return conf;
}

static void begin(struct engine_fixture *f, struct sched_conf *conf, bool queues,
		  bool podgroup_per_pod)
{
	static const char *const names[] = { "volcano", NULL };
	static const char *const gated[] = { "default-scheduler", NULL };
	struct engine_options eo = { .scheduler_names = names,
				     .gate_schedulers = gated,
				     .default_queue = "default",
				     .gate_workers = 1,
				     .manual = true,
				     .controllers_podgroup = true,
				     .controllers_queue = queues,
				     .podgroup_per_pod = podgroup_per_pod,
				     .min_interval_ns = CLOCK_NS_PER_MS,
				     .period_ns = CLOCK_NS_PER_S,
				     .request_timeout_ns = CLOCK_NS_PER_S,
				     .post = keep,
				     .ctx = f };

	*f = (struct engine_fixture){ 0 };
	clock_fake_init(&f->clock, ENGINE_FIXTURE_WALL);
	clock_fake_advance(&f->clock, CLOCK_NS_PER_S);
	f->transport = fake_transport_create(&f->clock);
	f->counters = metric_registry_create();
	eo.transport = fake_transport_base(f->transport);
	eo.clock = &f->clock.base;
	eo.counters = f->counters;
	assert_int_equal(engine_create(&eo, conf, &f->engine, NULL), 0);
}

void engine_fixture_begin_with(struct engine_fixture *f, bool queues, bool podgroup_per_pod)
{
	begin(f, engine_fixture_parse(conf_default_text()), queues, podgroup_per_pod);
}

void engine_fixture_begin_by(struct engine_fixture *f, struct sched_conf *conf)
{
	begin(f, conf, false, false);
}

void engine_fixture_begin(struct engine_fixture *f)
{
	engine_fixture_begin_with(f, false, false);
}

void engine_fixture_end(struct engine_fixture *f)
{
	engine_destroy(f->engine);
	fake_transport_destroy(f->transport);
	metric_registry_destroy(f->counters);
}

void engine_fixture_see(struct engine_fixture *f, enum sched_resource r, const char *key,
			const char *json)
{
	struct sched_msg *m = message_decode(r, str_of(key), str_of(json), 1);

	m->resource = r;
	engine_handle(f->engine, m);
}

void engine_fixture_synced(struct engine_fixture *f, enum sched_resource r)
{
	struct sched_msg *m = message_new(SCHED_MSG_SYNCED);

	m->resource = r;
	engine_handle(f->engine, m);
}

void engine_fixture_sync_all(struct engine_fixture *f)
{
	for (unsigned i = 0; i < sched_kinds_watched(false); i++) {
		engine_fixture_synced(f, (enum sched_resource)i);
	}
}

void engine_fixture_lead(struct engine_fixture *f, int64_t not_before)
{
	struct sched_msg *m = message_new(SCHED_MSG_LEASE);

	m->flag = true;
	m->not_before = not_before;
	engine_handle(f->engine, m);
}

void engine_fixture_step_pools(struct engine_fixture *f)
{
	struct pool *pools[ENGINE_MAX_POOLS];
	size_t n = engine_pools(f->engine, pools, ENGINE_MAX_POOLS);

	for (size_t i = 0; i < n; i++) {
		while (pool_step(pools[i])) {
		}
	}
}

void engine_fixture_step(struct engine_fixture *f)
{
	clock_fake_advance(&f->clock, 10 * CLOCK_NS_PER_MS);
	engine_step(f->engine);
	engine_fixture_step_pools(f);
}

void engine_fixture_take_outcomes(struct engine_fixture *f)
{
	for (size_t i = 0; i < f->ndone; i++) {
		engine_handle(f->engine, f->done[i]);
	}
	f->ndone = 0;
}
