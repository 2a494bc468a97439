#include "lib/workloads/workload_engine_fixture.h"

#include "base/attrs.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "kube/pool.h"
#include "kube/recorder.h"
#include "lib/net/fake_transport.h"
#include "lib/unit.h"
#include "obs/metric.h"
#include "scheduler/base/message_decode.h"
#include "scheduler/workloads/conf/kueue_conf.h"

static void handle(struct workload_engine_fixture *f, struct sched_msg *m)
{
	workload_engine_handle(f->engine, m);
	message_free(m);
}

static void post(void *ctx, struct sched_msg *m)
{
	handle(ctx, m);
}

static void on_bad(void *ctx, enum sched_resource r UNUSED, struct str key UNUSED,
		   const char *text UNUSED)
{
	struct workload_engine_fixture *f = ctx;

	f->bad++;
}

void workload_engine_fixture_see(struct workload_engine_fixture *f, enum sched_resource r,
				 const char *key, const char *json)
{
	handle(f, message_decode(r, str_of(key), str_of(json), ++f->version));
}

void workload_engine_fixture_gone(struct workload_engine_fixture *f, enum sched_resource r,
				  const char *key)
{
	struct sched_msg *m = message_new(SCHED_MSG_DELETE);

	m->resource = r;
	m->key = str_of(key);
	handle(f, m);
}

void workload_engine_fixture_world(struct workload_engine_fixture *f)
{
	workload_engine_fixture_see(f, SCHED_NAMESPACES, "ns", "{\"metadata\":{\"name\":\"ns\"}}");
	workload_engine_fixture_see(
		f, SCHED_FLAVORS, "default",
		"{\"metadata\":{\"name\":\"default\"," WORKLOAD_ENGINE_FIXTURE_KEPT "}}");
	workload_engine_fixture_see(
		f, SCHED_CLUSTER_QUEUES, "team",
		"{\"metadata\":{\"name\":\"team\",\"generation\":1," WORKLOAD_ENGINE_FIXTURE_KEPT
		"},\"spec\":{\"namespaceSelector\":{},"
		"\"preemption\":{\"withinClusterQueue\":\"LowerPriority\"},\"resourceGroups\":[{"
		"\"coveredResources\":[\"cpu\"],\"flavors\":[{\"name\":\"default\",\"resources\":[{"
		"\"name\":\"cpu\",\"nominalQuota\":\"3\"}]}]}]}}");
	workload_engine_fixture_see(
		f, SCHED_LOCAL_QUEUES, "ns/lq",
		"{\"metadata\":{\"name\":\"lq\",\"namespace\":\"ns\",\"generation\":1},\"spec\":{"
		"\"clusterQueue\":\"team\"}}");
	for (int r = 0; r < SCHED_RESOURCE_COUNT_; r++) {
		struct sched_msg *m = message_new(SCHED_MSG_SYNCED);

		m->resource = (enum sched_resource)r;
		handle(f, m);
	}
}

void workload_engine_fixture_init(struct workload_engine_fixture *f, bool costs)
{
	workload_engine_fixture_init_conf(f, costs, NULL);
}

void workload_engine_fixture_init_conf(struct workload_engine_fixture *f, bool costs,
				       const char *conf)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
	struct pool_options base = { .timeout_ns = CLOCK_NS_PER_S,
				     .backoff_min_ns = CLOCK_NS_PER_MS,
				     .backoff_max_ns = CLOCK_NS_PER_S,
				     .ctx = f };
	struct workload_engine_options opt = {
		.base = &base, .post = post, .costs = costs, .on_bad_object = on_bad, .ctx = f
	};

	*f = (struct workload_engine_fixture){ 0 };
	clock_fake_init(&f->clock, WORKLOAD_ENGINE_FIXTURE_WALL);
	f->transport = fake_transport_create(&f->clock);
	f->counters = metric_registry_create();
	base.transport = fake_transport_base(f->transport);
	base.clock = &f->clock.base;
	f->recorder = recorder_create(&base, "test", "test");
	assert_true(conf == NULL || jdoc_parse(str_of(conf), &d, NULL) == 0);
	assert_int_equal(kueue_conf_read(d, NULL, NULL, &f->conf, NULL), 0);
	opt.conf = f->conf;
	opt.counters = f->counters;
	opt.role = "leader";
	opt.recorder = f->recorder;
	f->engine = workload_engine_create(&opt);
}

void workload_engine_fixture_finish(struct workload_engine_fixture *f)
{
	workload_engine_destroy(f->engine);
	recorder_destroy(f->recorder);
	fake_transport_destroy(f->transport);
	metric_registry_destroy(f->counters);
	kueue_conf_destroy(f->conf);
}

void workload_engine_fixture_step(struct workload_engine_fixture *f)
{
	struct pool *pools[16];
	size_t n = workload_engine_pools(f->engine, pools, ARRAY_LEN(pools) - 1);

	pools[n++] = recorder_pool(f->recorder);
	for (unsigned i = 0; i < 20; i++) {
		f->due = workload_engine_step(f->engine);
		if (f->due > clock_mono(&f->clock.base)) {
			break;
		}
	}
	assert_true(f->due > clock_mono(&f->clock.base));
	for (size_t i = 0; i < n; i++) {
		while (pool_step(pools[i])) {
		}
	}
}

void workload_engine_fixture_answer(struct workload_engine_fixture *f, const char *line, int status)
{
	CLEANUP(xmalloc_freep)
	char *body = xmalloc_printf("{\"metadata\":{\"resourceVersion\":\"%lld\",\"name\":\"x\"}}",
				    (long long)++f->version);

	fake_transport_answer(f->transport, fake_transport_expect(f->transport, line), status,
			      body);
}

void workload_engine_fixture_workload(struct workload_engine_fixture *f, const char *name,
				      int priority, const char *cpu)
{
	CLEANUP(xmalloc_freep) char *key = xmalloc_printf("ns/%s", name);
	CLEANUP(xmalloc_freep)
	char *json = xmalloc_printf(
		"{\"metadata\":{\"name\":\"%s\",\"namespace\":\"ns\",\"uid\":\"u-%s\","
		"\"generation\":1},\"spec\":{\"queueName\":\"lq\",\"priority\":%d,\"podSets\":[{"
		"\"template\":{\"spec\":{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":"
		"\"%s\"}}}]}}}]}}",
		name, name, priority, cpu);

	workload_engine_fixture_see(f, SCHED_WORKLOADS, key, json);
}
