/* test/lib/workloads/workload_cache_fixture.h: a Workload cache with a small world of JSON objects,
 * and cycles with decisions that become statuses as in the scheduler. Workloads are in namespace
 * "ns". Owner: the test.
 */
#ifndef TEST_LIB_WORKLOADS_WORKLOAD_CACHE_FIXTURE_H
#define TEST_LIB_WORKLOADS_WORKLOAD_CACHE_FIXTURE_H

#include "scheduler/workloads/ingest/workload_cache.h"

struct workload_cache_fixture {
	struct workload_cache *cache;
	struct kueue_conf *conf;
	struct admission_cycle *cycle;
	int64_t now;
	int64_t version; /* resourceVersion of the next object */
	char bad[512];   /* the error of the last object that cannot be used */
	int status;      /* of the outcomes of writes */
	unsigned nbad, seen, gone, written, failed, changed; /* calls of the listener */
};

/* Without objects, and no kind is synced. */
void workload_cache_fixture_init(struct workload_cache_fixture *f);
/* Namespace ns, flavor default, ClusterQueue team with 3 cpu (victims of lower priority),
 * LocalQueue ns/lq; everything is synced. */
void workload_cache_fixture_world(struct workload_cache_fixture *f);
void workload_cache_fixture_finish(struct workload_cache_fixture *f);

void workload_cache_fixture_see(struct workload_cache_fixture *f, enum sched_resource r,
				const char *key, const char *json);
void workload_cache_fixture_gone(struct workload_cache_fixture *f, enum sched_resource r,
				 const char *key);
void workload_cache_fixture_sync(struct workload_cache_fixture *f, enum sched_resource r);
void workload_cache_fixture_sync_all(struct workload_cache_fixture *f);
/* A Workload of lq that requests cpu, which need not be a valid amount; status: members of the JSON
 * object, "" for none. uid: "u-" and its name. */
void workload_cache_fixture_workload(struct workload_cache_fixture *f, const char *name,
				     int priority, const char *cpu, const char *status);
/* The same of 1 cpu, with the preemption gate g in its spec. */
void workload_cache_fixture_gated(struct workload_cache_fixture *f, const char *name,
				  const char *status);
/* The same with an older or newer resourceVersion, and a UID. */
void workload_cache_fixture_workload_at(struct workload_cache_fixture *f, const char *name,
					const char *uid, const char *cpu, const char *status,
					int64_t version);
/* The same as the answer of a GET. */
void workload_cache_fixture_read_again(struct workload_cache_fixture *f, const char *name,
				       const char *uid, const char *cpu, const char *status,
				       int64_t version);
/* NULL: not in the cache. */
struct workload *workload_cache_fixture_get(const struct workload_cache_fixture *f,
					    const char *name);
/* Settles and runs one cycle; its decisions are applied and become statuses. */
void workload_cache_fixture_cycle(struct workload_cache_fixture *f);
/* Reason of a condition in the status; "" without the condition. */
const char *workload_cache_fixture_reason(const struct workload_cache_fixture *f, const char *name,
					  const char *type);
/* The next write must be of this Workload; returns its version. */
uint64_t workload_cache_fixture_write(struct workload_cache_fixture *f, const char *name);
void workload_cache_fixture_no_write(struct workload_cache_fixture *f);
/* The outcome of a write; resource_version of the answer. */
void workload_cache_fixture_done(struct workload_cache_fixture *f, const char *name, uint64_t write,
				 enum sched_outcome outcome, int64_t version);
/* Moves the time on. */
void workload_cache_fixture_later(struct workload_cache_fixture *f, int64_t seconds);

/* status of a Workload with one condition, which is True. */
#define WORKLOAD_CACHE_FIXTURE_CONDITION(type)                                                     \
	"\"conditions\":[{\"type\":\"" type "\",\"status\":\"True\",\"reason\":\"r\","             \
	"\"message\":\"m\",\"lastTransitionTime\":\"2023-01-01T00:00:00Z\"}]"
/* status of a Workload that a ClusterQueue admitted with so much cpu. */
#define WORKLOAD_CACHE_FIXTURE_ADMITTED(cpu) WORKLOAD_CACHE_FIXTURE_ADMITTED_BY("team", cpu)
#define WORKLOAD_CACHE_FIXTURE_ADMITTED_BY(queue, cpu)                                             \
	"\"conditions\":[{\"type\":\"QuotaReserved\",\"status\":\"True\",\"reason\":"              \
	"\"QuotaReserved\",\"message\":\"m\",\"lastTransitionTime\":\"2023-01-01T00:00:00Z\"},"    \
	"{\"type\":\"Admitted\",\"status\":\"True\",\"reason\":\"Admitted\",\"message\":\"m\","    \
	"\"lastTransitionTime\":\"2023-01-01T00:00:00Z\"}],\"admission\":{\"clusterQueue\":"       \
	"\"" queue                                                                                 \
	"\",\"podSetAssignments\":[{\"name\":\"main\",\"flavors\":{\"cpu\":\"default\"},"          \
	"\"resourceUsage\":{\"cpu\":\"" cpu "\"},\"count\":1}]}"

#endif
