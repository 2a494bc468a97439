/* test/lib/workloads/workload_engine_fixture.h: a quota engine over a fake transport that the test
 * answers, on a clock that the test moves, with a small world of JSON objects. Workloads are in
 * namespace "ns". Owner: the test.
 */
#ifndef TEST_LIB_WORKLOADS_WORKLOAD_ENGINE_FIXTURE_H
#define TEST_LIB_WORKLOADS_WORKLOAD_ENGINE_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "scheduler/base/message.h"
#include "scheduler/workloads/engine/workload_engine.h"

#define WORKLOAD_ENGINE_FIXTURE_WALL (1700000000 * CLOCK_NS_PER_S)
/* A member of the metadata of queues and flavors, as the webhook leaves them. */
#define WORKLOAD_ENGINE_FIXTURE_KEPT "\"finalizers\":[\"kueue.x-k8s.io/resource-in-use\"]"

struct workload_engine_fixture {
	struct clock_fake clock;
	struct fake_transport *transport;
	struct metric_registry *counters;
	struct recorder *recorder;
	struct kueue_conf *conf;
	struct workload_engine *engine;
	int64_t version; /* resourceVersion of the last object */
	int64_t due;     /* when the engine wants its next step, monotonic */
	unsigned bad;    /* objects that could not be used */
};

/* Without objects. costs: with the preemption-cost controller. */
void workload_engine_fixture_init(struct workload_engine_fixture *f, bool costs);
/* The same with Kueue's configuration file, as JSON; NULL: none. */
void workload_engine_fixture_init_conf(struct workload_engine_fixture *f, bool costs,
				       const char *conf);
void workload_engine_fixture_finish(struct workload_engine_fixture *f);
/* Namespace ns, flavor default, ClusterQueue team with 3 cpu (victims of lower priority),
 * LocalQueue ns/lq; everything is synced. */
void workload_engine_fixture_world(struct workload_engine_fixture *f);
/* An object as the watch brings it. */
void workload_engine_fixture_see(struct workload_engine_fixture *f, enum sched_resource r,
				 const char *key, const char *json);
/* The object is deleted. */
void workload_engine_fixture_gone(struct workload_engine_fixture *f, enum sched_resource r,
				  const char *key);
/* A Workload of lq for cpu. uid: "u-" and its name. */
void workload_engine_fixture_workload(struct workload_engine_fixture *f, const char *name,
				      int priority, const char *cpu);
/* Steps until nothing is due; the resulting writes are sent. */
void workload_engine_fixture_step(struct workload_engine_fixture *f);
/* Answers the oldest request that waits, which must be line. */
void workload_engine_fixture_answer(struct workload_engine_fixture *f, const char *line,
				    int status);

#endif
