/* Random sequences of messages: whatever comes in whatever order, the accounts of cluster and
 * ledger hold after each. Two bytes choose a message; the objects are few, so that they meet. */
#include <assert.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "lib/pods/ledger_verify.h"
#include "scheduler/base/message.h"
#include "scheduler/base/message_decode.h"
#include "scheduler/pods/cycle/cycle.h"
#include "scheduler/pods/ingest/cache.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/session/decision.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NOW (INT64_C(1750000000) * 1000000000)
#define MAX_STEPS 200

struct input {
	const uint8_t *p, *end;
};

static unsigned take(struct input *in, unsigned bound)
{
	return in->p == in->end ? 0 : *in->p++ % bound;
}

static void check(struct cache *c)
{
	assert(cluster_verify(cache_cluster(c)) == NULL);
	assert(ledger_verify(cache_cluster(c)) == NULL);
}

static void apply(struct cache *c, struct sched_msg *m)
{
	cache_apply(c, m, (struct cache_time){ NOW, NOW });
	message_free(m);
	check(c);
}

static void put_pod(struct input *in, struct strbuf *b, unsigned n)
{
	static const char *const phases[] = { "Pending", "Running", "Succeeded", "Failed", "Odd" };
	static const char *const reasons[] = { "SchedulingGated", "Unschedulable",
					       "NotReadyForScheduling", "SchedulerError" };
	static const char *const cpus[] = { "0", "1", "250m", "3", "-1", "x", "2Ei" };
	unsigned bits = take(in, 256);

	strbuf_printf(b,
		      "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p%u\",\"uid\":\"u%u\","
		      "\"resourceVersion\":\"%u\"%s,\"annotations\":{",
		      n, bits & 1, take(in, 8),
		      bits & 2 ? ",\"deletionTimestamp\":\"2025-06-15T00:00:00Z\"" : "");
	strbuf_printf(b, "\"scheduling.volcano.sh/queue-allocation-gate\":\"%s\"%s",
		      bits & 4 ? "true" : "no", bits & 8 ? ",\"headgate.io/reserved\":\"q\"" : "");
	if (bits & 16) {
		strbuf_printf(b, ",\"scheduling.k8s.io/group-name\":\"g%u\"", take(in, 3));
	}
	strbuf_printf(b, "}},\"spec\":{\"schedulerName\":\"%s\"", bits & 32 ? "other" : "volcano");
	if (bits & 64) {
		unsigned node = take(in, 4);

		strbuf_printf(b, node == 3 ? ",\"nodeName\":%u" : ",\"nodeName\":\"n%u\"", node);
	}
	if (bits & 128) {
		strbuf_add_c(b, ",\"schedulingGates\":[{\"name\":"
				"\"scheduling.volcano.sh/queue-allocation-gate\"}]");
	}
	if (take(in, 3) == 0) {
		strbuf_printf(b,
			      ",\"volumes\":[{\"name\":\"v\",\"persistentVolumeClaim\":{"
			      "\"claimName\":\"v%u\"}},{\"name\":\"x\"%s}]",
			      take(in, 3), take(in, 2) ? ",\"ephemeral\":{}" : "");
	}
	strbuf_printf(
		b,
		",\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"%s\"}}}]},\"status\":"
		"{\"phase\":\"%s\",\"nominatedNodeName\":\"n%u\",\"conditions\":[{\"type\":"
		"\"PodScheduled\",\"status\":\"False\",\"reason\":\"%s\",\"message\":\"m\"}]}}",
		cpus[take(in, 7)], phases[take(in, 5)], take(in, 3), reasons[take(in, 4)]);
}

static void put_claim(struct input *in, struct strbuf *b, unsigned n)
{
	unsigned bits = take(in, 64);

	strbuf_printf(b,
		      "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"v%u\",\"uid\":\"u%u\","
		      "\"resourceVersion\":\"%u\"%s,\"annotations\":{\"x\":\"y\"",
		      n, bits & 1, take(in, 8),
		      bits & 2 ? ",\"deletionTimestamp\":\"2025-06-15T00:00:00Z\"" : "");
	strbuf_printf(b, "%s%s}},\"spec\":{\"accessModes\":[\"%s\"]",
		      bits & 4 ? ",\"pv.kubernetes.io/bind-completed\":\"yes\"" : "",
		      bits & 8 ? ",\"volume.kubernetes.io/selected-node\":\"n0\"" : "",
		      bits & 16 ? "ReadWriteOncePod" : "ReadWriteMany");
	if (bits & 32) {
		strbuf_printf(b, ",\"volumeName\":\"v%u\"", take(in, 3));
	}
	strbuf_printf(b, ",\"storageClassName\":\"s%u\"", take(in, 3));
	strbuf_printf(b, ",\"resources\":{\"requests\":{\"storage\":\"%uGi\"}}%s}}", take(in, 3),
		      take(in, 3) == 0 ? ",\"selector\":{\"matchLabels\":{\"a\":\"b\"}}" : "");
}

/* A claimRef may be to a claim that is not there, or was another one. */
static void put_volume(struct input *in, struct strbuf *b, unsigned n)
{
	unsigned bits = take(in, 64);

	strbuf_printf(b,
		      "{\"metadata\":{\"name\":\"v%u\",\"uid\":\"u%u\",\"resourceVersion\":\"%u\","
		      "\"labels\":{\"%s\":\"b\",\"topology.kubernetes.io/zone\":\"%s\"}},\"spec\":{"
		      "\"capacity\":{\"storage\":\"%uGi\"},\"accessModes\":[\"ReadWriteMany\","
		      "\"ReadWriteOncePod\"],\"storageClassName\":\"s%u\"",
		      n, bits & 1, take(in, 8), bits & 2 ? "a" : "c", bits & 4 ? "a__b" : "a__",
		      take(in, 3), take(in, 3));
	if (bits & 8) {
		strbuf_printf(b, ",\"claimRef\":{\"namespace\":\"ns\",\"name\":\"v%u\"%s}",
			      take(in, 4), take(in, 2) ? ",\"uid\":\"u0\"" : "");
	}
	if (bits & 16) {
		strbuf_printf(b,
			      ",\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":[{"
			      "\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\","
			      "\"values\":[\"n%u\"]}]}]}}",
			      take(in, 3));
	}
	strbuf_printf(b, ",\"csi\":{\"driver\":\"d%u\"}},\"status\":{\"phase\":\"%s\"}}",
		      take(in, 2), bits & 32 ? "Available" : "Bound");
}

static void put_capacity(struct input *in, struct strbuf *b, unsigned n)
{
	strbuf_printf(b,
		      "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p%u\"},\"storageClassName\":"
		      "\"s%u\","
		      "\"capacity\":\"%uGi\"%s}",
		      n, take(in, 3), take(in, 3),
		      take(in, 3) == 0 ? "" : ",\"nodeTopology\":{\"matchLabels\":{\"a\":\"b\"}}");
}

static void put_storage(struct input *in, struct strbuf *b, enum sched_resource r, unsigned n)
{
	if (r == SCHED_CLAIMS) {
		put_claim(in, b, n);
	} else if (r == SCHED_VOLUMES) {
		put_volume(in, b, n);
	} else if (r == SCHED_STORAGE_CLASSES) {
		strbuf_printf(b,
			      "{\"metadata\":{\"name\":\"s%u\"},\"provisioner\":\"d%u\","
			      "\"volumeBindingMode\":\"%s\"}",
			      n, take(in, 2), take(in, 2) ? "WaitForFirstConsumer" : "Immediate");
	} else if (r == SCHED_CSI_DRIVERS) {
		strbuf_printf(b,
			      "{\"metadata\":{\"name\":\"d%u\"},\"spec\":{\"storageCapacity\":%s}}",
			      n, take(in, 2) ? "true" : "false");
	} else if (r == SCHED_STORAGE_CAPACITIES) {
		put_capacity(in, b, n);
	} else {
		strbuf_printf(b,
			      "{\"metadata\":{\"name\":\"n%u\"},\"spec\":{\"drivers\":[{\"name\":"
			      "\"d%u\",\"allocatable\":{\"count\":%u}}]}}",
			      n, take(in, 2), take(in, 3));
	}
}

static void put_node(struct input *in, struct strbuf *b, unsigned n)
{
	strbuf_printf(b,
		      "{\"metadata\":{\"name\":\"n%u\"},\"spec\":{\"unschedulable\":%s},"
		      "\"status\":{\"allocatable\":{\"cpu\":\"%u\",\"pods\":\"9\"}}}",
		      n, take(in, 2) ? "true" : "false", take(in, 9));
}

static void put_object(struct input *in, struct strbuf *b, enum sched_resource r, unsigned n)
{
	switch (r) {
	case SCHED_PODS:
		put_pod(in, b, n);
		break;
	case SCHED_NODES:
		put_node(in, b, n);
		break;
	case SCHED_QUEUES:
		strbuf_printf(
			b,
			"{\"metadata\":{\"name\":\"q%u\",\"resourceVersion\":\"%u\"},\"spec\":{"
			"\"parent\":\"q%u\",\"capability\":{\"cpu\":\"%u\"}}}",
			n, take(in, 4), take(in, 5), take(in, 9));
		break;
	case SCHED_PODGROUPS:
		strbuf_printf(b,
			      "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"g%u\","
			      "\"resourceVersion\":\"%u\"},\"spec\":{\"minMember\":%u,\"queue\":"
			      "\"q%u\",\"priorityClassName\":\"c%u\",\"minResources\":{\"cpu\":"
			      "\"%s\"}}}",
			      n, take(in, 4), take(in, 4), take(in, 5), take(in, 3),
			      take(in, 4) == 0 ? "-1" : "1");
		break;
	case SCHED_PRIORITY_CLASSES:
		strbuf_printf(b,
			      "{\"metadata\":{\"name\":\"c%u\"},\"value\":%u,"
			      "\"globalDefault\":%s}",
			      n, take(in, 9), take(in, 2) ? "true" : "false");
		break;
	case SCHED_CLAIMS:
	case SCHED_VOLUMES:
	case SCHED_STORAGE_CLASSES:
	case SCHED_CSI_NODES:
	case SCHED_CSI_DRIVERS:
	case SCHED_STORAGE_CAPACITIES:
		put_storage(in, b, r, n);
		break;
	case SCHED_KUBE_PODGROUPS:
	case SCHED_NAMESPACES:
	case SCHED_FLAVORS:
	case SCHED_CLUSTER_QUEUES:
	case SCHED_COHORTS:
	case SCHED_LOCAL_QUEUES:
	case SCHED_WORKLOADS:
	case SCHED_WORKLOAD_PRIORITY_CLASSES:
	case SCHED_ADMISSION_CHECKS:
	case SCHED_LIMIT_RANGES:
	case SCHED_RUNTIME_CLASSES:
	case SCHED_JOBS:
	case SCHED_MULTIKUEUE_CONFIGS:
	case SCHED_MULTIKUEUE_CLUSTERS:
	case SCHED_SECRETS:
	case SCHED_BUDGETS:
	case SCHED_TOPOLOGIES:
	case SCHED_RESOURCE_COUNT_:
	case SCHED_CUSTOM:
		strbuf_add_c(b, "{}");
		break;
	}
}

static const char *key_of(struct sched_msg *m, enum sched_resource r, unsigned n)
{
	static const char *const formats[] = {
		[SCHED_PODS] = "ns/p",          [SCHED_NODES] = "n",
		[SCHED_QUEUES] = "q",           [SCHED_PODGROUPS] = "ns/g",
		[SCHED_PRIORITY_CLASSES] = "c", [SCHED_NAMESPACES] = "",
		[SCHED_CLAIMS] = "ns/v",        [SCHED_VOLUMES] = "v",
		[SCHED_STORAGE_CLASSES] = "s",  [SCHED_CSI_NODES] = "n",
		[SCHED_CSI_DRIVERS] = "d",      [SCHED_STORAGE_CAPACITIES] = "ns/p",
	};

	return arena_printf(m->arena, "%s%u", formats[r], n);
}

static void request_done(struct input *in, struct cache *c)
{
	static const enum sched_resource of[SCHED_REQ_COUNT_] = {
		[SCHED_REQ_UNGATE] = SCHED_PODS,        [SCHED_REQ_BIND] = SCHED_PODS,
		[SCHED_REQ_EVICT] = SCHED_PODS,         [SCHED_REQ_POD_STATUS] = SCHED_PODS,
		[SCHED_REQ_PODGROUP] = SCHED_PODGROUPS, [SCHED_REQ_QUEUE] = SCHED_QUEUES,
		[SCHED_REQ_CLAIM] = SCHED_CLAIMS,       [SCHED_REQ_WORKLOAD] = SCHED_PODS,
		[SCHED_REQ_QUOTA_STATUS] = SCHED_PODS,  [SCHED_REQ_VOLUME] = SCHED_VOLUMES,
	};
	struct sched_msg *m = message_new(SCHED_MSG_REQUEST_DONE);

	m->request = (enum sched_request)take(in, SCHED_REQ_COUNT_);
	m->outcome = (enum sched_outcome)take(in, SCHED_STALE + 1);
	m->key = str_of(key_of(m, of[m->request], take(in, 4)));
	apply(c, m);
}

/* A volume and a claim that a cycle might bring together. */
static bool find_match(const struct cluster *c, struct decision *d)
{
	const struct volume *v = c->volumes.n == 0 ? NULL : c->volumes.v[0];
	const struct claim *cl = c->claims.n == 0 ? NULL : c->claims.v[0];

	if (v == NULL || cl == NULL || !v->exists || v->ref != NULL || v->taker != NULL ||
	    v->writing || !cl->exists || cl->bound || cl->taken != NULL) {
		return false;
	}
	d->volume = v->id;
	d->claim = cl->id;
	return true;
}

static struct decision decide(const struct cluster *c, const struct task *t, unsigned what)
{
	struct decision d = { .task = t->id,
			      .podgroup = t->podgroup,
			      .queue = MODEL_NONE,
			      .node = MODEL_NONE,
			      .retry_at = MODEL_TIME_NONE };
	bool may_reserve = t->status == TASK_PENDING && t->charge == CHARGE_NONE;
	/* As a cycle has it: a pod with a charge in any other state is not placed. */
	bool may_bind = t->status == TASK_PENDING &&
			(t->charge == CHARGE_NONE || t->charge == CHARGE_UNGATED ||
			 t->charge == CHARGE_PUBLISHED);

	d.kind = DECISION_KIND_COUNT_;
	if (t->podgroup != MODEL_NONE) {
		d.queue = c->podgroups.v[t->podgroup]->queue;
	}
	if (d.queue == MODEL_NONE || (t->flags & TASK_OURS) == 0 || t->klass->best_effort) {
		return d;
	}
	if (what == 0 && may_reserve) {
		d.kind = (t->flags & TASK_OUR_GATE) != 0 ? DECISION_UNGATE : DECISION_RESERVE;
	} else if ((t->flags & TASK_GATE_ONLY) != 0) {
		return d;
	} else if (what == 1 && ledger_is_unbound((enum charge_state)t->charge) &&
		   t->charge != CHARGE_PATCHING) {
		d.kind = DECISION_REVOKE;
	} else if (what == 2 && t->charge == CHARGE_UNGATED && t->status == TASK_PENDING) {
		d.kind = DECISION_PUBLISH;
		d.message = "no";
	} else if (what == 3 && may_bind && c->nodes.n > 0 && c->nodes.v[0] != NULL) {
		d.kind = DECISION_BIND;
		d.node = 0;
	} else if (what == 4 && t->status == TASK_RUNNING && t->podgroup != MODEL_NONE) {
		d.kind = DECISION_EVICT;
		d.by = t->id;
	} else if (what == 7 && may_bind && find_match(c, &d)) {
		d.kind = DECISION_TAKE_VOLUME;
	} else if (what >= 5 && t->bind_by != MODEL_TIME_NONE) {
		d.kind = what == 5 ? DECISION_FINISH_BIND : DECISION_GIVE_BACK;
	}
	return d;
}

/* Assumes decisions that a cycle might make, as the engine does. */
static void assume(struct input *in, struct cache *c)
{
	struct cluster *cluster = cache_cluster(c);
	unsigned n = take(in, 8), what = take(in, 8);
	struct decision d;

	if (n >= cluster->tasks.n || cluster->tasks.v[n] == NULL) {
		return;
	}
	d = decide(cluster, cluster->tasks.v[n], what);
	if (d.kind != DECISION_KIND_COUNT_) {
		cycle_assume(cluster, &(struct decisions){ &d, 1, 1 }, NOW);
		check(c);
	}
}

static void step(struct input *in, struct cache *c)
{
	CLEANUP(strbuf_finish) struct strbuf json = STRBUF_INIT;
	unsigned what = take(in, 16), n;
	enum sched_resource r = (enum sched_resource)take(in, sched_kinds_watched(false));
	struct sched_msg *m;

	if (what < 2) {
		request_done(in, c);
		return;
	}
	if (what < 5) {
		assume(in, c);
		return;
	}
	if (what == 5) {
		cache_rebuild_ledger(c, NOW);
		check(c);
		return;
	}
	n = take(in, 4);
	if (what < 8) {
		m = message_new(what == 6 ? SCHED_MSG_DELETE : SCHED_MSG_SYNCED);
		m->resource = r;
		m->key = str_of(key_of(m, r, n));
		apply(c, m);
		return;
	}
	put_object(in, &json, r, n);
	apply(c, message_decode(r, STR_LIT("key"), strbuf_str(&json), 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "volcano", NULL }, *const gated[] = { "other", NULL };
	struct cache_options opt = { .scheduler_names = names,
				     .gate_schedulers = gated,
				     .default_queue = "q0" };
	struct cache *c = cache_create(&opt);
	struct input in = { data, data + size };

	for (int i = 0; i < MAX_STEPS && in.p != in.end; i++) {
		step(&in, c);
	}
	cache_destroy(c);
	return 0;
}
