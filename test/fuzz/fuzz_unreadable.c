/* A pod that is bound and charged gets an update of any bytes: whatever can be read of it, accounts
 * agree, and it goes on holding what it held until it is read that it has ended. The first byte
 * chooses whether the pod is known before, and the kind of the object. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "api/core/pod.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "enc/decode.h"
#include "lib/pods/ledger_verify.h"
#include "scheduler/base/message.h"
#include "scheduler/base/message_decode.h"
#include "scheduler/pods/ingest/cache.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/values/pod_class.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NOW (INT64_C(1750000000) * 1000000000)
#define CPU 2000

static void apply(struct cache *c, struct sched_msg *m)
{
	cache_apply(c, m, (struct cache_time){ NOW, NOW });
	message_free(m);
	assert(cluster_verify(cache_cluster(c)) == NULL);
	assert(ledger_verify(cache_cluster(c)) == NULL);
}

static void apply_text(struct cache *c, enum sched_resource r, struct str json)
{
	apply(c, message_decode(r, STR_LIT("ns/p"), json, 0));
}

static void begin(struct cache *c, bool knows_pod)
{
	apply_text(
		c, SCHED_QUEUES,
		STR_LIT("{\"metadata\":{\"name\":\"q\"},\"spec\":{\"capability\":{\"cpu\":1}}}"));
	apply_text(c, SCHED_PODGROUPS,
		   STR_LIT("{\"metadata\":{\"namespace\":\"ns\",\"name\":\"g\",\"uid\":\"g\"},"
			   "\"spec\":{\"queue\":\"q\"}}"));
	if (knows_pod) {
		apply_text(
			c, SCHED_PODS,
			STR_LIT("{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p\",\"uid\":\"u\","
				"\"resourceVersion\":\"5\",\"annotations\":{"
				"\"scheduling.k8s.io/group-name\":\"g\"}},\"spec\":{"
				"\"schedulerName\":\"volcano\",\"nodeName\":\"n\",\"containers\":[{"
				"\"resources\":{\"requests\":{\"cpu\":\"2\"}}}]},\"status\":{"
				"\"phase\":\"Running\"}}"));
	}
}

/* Whether the text lets go of the pod: it decodes, so that it means what it says; or it is of
 * another pod, or of one that has ended. */
static bool lets_go(struct str json)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct api_pod pod;
	int r = decode_partial(&pod_fields, json, &pod, arena, NULL);

	return r == 0 || pod_is_finished(&pod) || pod.meta.uid == NULL ||
	       !str_streq(pod.meta.uid, "u");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum sched_resource kinds[] = { SCHED_PODS, SCHED_PODGROUPS, SCHED_NODES,
						     SCHED_QUEUES };
	static const char *const names[] = { "volcano", NULL };
	struct cache_options opt = { .scheduler_names = names, .default_queue = "default" };
	enum sched_resource kind;
	const struct task *t;
	struct cache *c;
	struct str json;
	bool knows;

	if (size == 0) {
		return 0;
	}
	knows = (data[0] & 1) != 0;
	kind = kinds[(data[0] >> 1) % ARRAY_LEN(kinds)];
	json = (struct str){ (const char *)data + 1, size - 1 };
	c = cache_create(&opt);
	begin(c, knows);
	apply_text(c, kind, json);
	t = cluster_task_find(cache_cluster(c), STR_LIT("ns/p"));
	if (knows && kind == SCHED_PODS && !lets_go(json)) {
		assert(t != NULL && t->charge == CHARGE_BOUND && t->node != MODEL_NONE);
		assert(pod_class_charge(t->klass)->v[RES_CPU] >= CPU);
	}
	cache_rebuild_ledger(c, NOW);
	assert(ledger_verify(cache_cluster(c)) == NULL);
	cache_destroy(c);
	return 0;
}
