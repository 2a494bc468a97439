/* Bytes per cached pod, and pods per second from JSON text to the cluster, at 100,000 and 150,000
 * pods of 100 templates in 5,000 PodGroups. malloc's own count is used: the figure includes every
 * index and what allocation itself costs. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "scheduler/app/standby.h"
#include "scheduler/base/message.h"
#include "scheduler/base/message_decode.h"
#include "scheduler/pods/ingest/cache.h"
#include "scheduler/pods/model/cluster.h"

#define TEMPLATES 100
#define GROUPS 5000
#define LIMIT_BYTES 600

static size_t heap_used(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

static void put_pod(struct strbuf *b, unsigned i)
{
	strbuf_reset(b);
	strbuf_printf(
		b,
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":"
		"\"job-%u-worker-%u\",\"namespace\":\"team-%u\",\"uid\":"
		"\"%08x-1111-4222-8333-444455556666\",\"resourceVersion\":\"%u\","
		"\"creationTimestamp\":\"2025-06-15T00:00:00Z\",\"labels\":{\"app\":\"job-%u\","
		"\"pod-template-hash\":\"5d4f8c7b9\"},\"annotations\":{"
		"\"scheduling.k8s.io/group-name\":\"job-%u\","
		"\"scheduling.volcano.sh/queue-allocation-gate\":\"true\","
		"\"volcano.sh/task-spec\":\"worker\"},\"managedFields\":[{\"manager\":"
		"\"kube-controller-manager\",\"operation\":\"Update\",\"fieldsV1\":{\"f:spec\":{"
		"\"f:containers\":{}}}}]},",
		i % GROUPS, i, i % 50, i, i + 1, i % GROUPS, i % GROUPS);
	strbuf_printf(
		b,
		"\"spec\":{\"schedulerName\":\"volcano\",\"priority\":10,\"schedulingGates\":"
		"[{\"name\":\"scheduling.volcano.sh/queue-allocation-gate\"}],\"nodeSelector\":{"
		"\"pool\":\"batch\"},\"tolerations\":[{\"key\":\"dedicated\",\"operator\":"
		"\"Exists\",\"effect\":\"NoSchedule\"}],\"containers\":[{\"name\":\"main\","
		"\"image\":\"registry.example.com/job:1\",\"env\":[{\"name\":\"RANK\",\"value\":"
		"\"%u\"},{\"name\":\"MASTER\",\"value\":\"job-%u-master-0\"}],\"resources\":{"
		"\"requests\":{\"cpu\":\"%um\",\"memory\":\"1Gi\"}}}]},\"status\":{\"phase\":"
		"\"Pending\",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\","
		"\"reason\":\"SchedulingGated\",\"message\":\"Scheduling is blocked due to "
		"non-empty scheduling gates\",\"lastTransitionTime\":\"2025-06-15T00:00:00Z\"}]}}",
		i, i % GROUPS, 100 + i % TEMPLATES);
}

static bool run(unsigned pods)
{
	static const char *const names[] = { "volcano", NULL };
	struct cache_options opt = { .scheduler_names = names, .default_queue = "default" };
	struct strbuf json = STRBUF_INIT;
	size_t before = heap_used(), held;
	struct cache *c = cache_create(&opt);
	const struct clock *clock = clock_real();
	int64_t spent = 0, bytes = 0;

	for (unsigned i = 0; i < pods; i++) {
		struct sched_msg *m;
		int64_t began;

		put_pod(&json, i);
		bytes += (int64_t)json.len;
		began = clock_mono(clock);
		m = message_decode(SCHED_PODS, STR_LIT(""), strbuf_str(&json), i + 1);
		cache_apply(c, m, (struct cache_time){ 0, 0 });
		message_free(m);
		spent += clock_mono(clock) - began;
	}
	strbuf_finish(&json);
	held = (heap_used() - before) / pods;
	printf("%u pods: %zu bytes per cached pod (limit %d), %.0f pods/s from JSON of %.1f KB to "
	       "the cache, %zu classes\n",
	       pods, held, LIMIT_BYTES, pods * 1e9 / (double)spent, (double)bytes / pods / 1e3,
	       cache_cluster(c)->class_by_id.n);
	cache_destroy(c);
	return held < LIMIT_BYTES;
}

/* Memory of a standby. */
static void run_standby(unsigned pods)
{
	struct standby *s = standby_create();
	struct strbuf json = STRBUF_INIT;
	size_t before = heap_used();

	standby_add(s, SCHED_PODS);
	for (unsigned i = 0; i < pods; i++) {
		CLEANUP(xmalloc_freep) char *key = xmalloc_printf("team-%u/pod-%u", i % 50, i);

		put_pod(&json, i);
		(void)standby_take(
			s, message_decode(SCHED_PODS, str_of(key), strbuf_str(&json), i + 1));
	}
	strbuf_finish(&json);
	printf("%u pods: %zu bytes per pod in a standby\n", pods, (heap_used() - before) / pods);
	standby_destroy(s);
}

int main(void)
{
	bool ok = run(100000);

	run_standby(100000);
	ok &= run(150000);
	return ok ? 0 : 1;
}
