/* test/unit/scheduler/multikueue/worker/link_fixture.h: the connection to a worker cluster "east",
 * which is an embedded API server with Workloads a (ours) and b, Jobs ja (ours) and jb, and
 * LocalQueue lq, all in namespace team. The transports are stepped by the test, in virtual time.
 * Owner: the test's thread; one at a time. */
#ifndef TEST_UNIT_SCHEDULER_MULTIKUEUE_WORKER_LINK_FIXTURE_H
#define TEST_UNIT_SCHEDULER_MULTIKUEUE_WORKER_LINK_FIXTURE_H

#include "base/clock.h"
#include "base/strbuf.h"
#include "collections/vec.h"
#include "scheduler/multikueue/worker/link.h"

struct apiserver;
struct kubeconfig;
struct mem_transport;
struct metric_registry;
struct sched_msg;

#define LINK_FIXTURE_WALL INT64_C(1767225600000000000) /* at the beginning */
#define LINK_FIXTURE_DOWN "[{fault: drop-before, count: 0}]"
#define LINK_FIXTURE_FORBIDDEN(resource)                                                           \
	"{fault: status, code: 403, count: 0, path: '/apis/.*/" resource "'}"
#define LINK_FIXTURE_WORKLOAD(name, origin)                                                        \
	"{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: " name              \
	", namespace: team, labels: {kueue.x-k8s.io/multikueue-origin: " origin                    \
	"}}, spec: {podSets: [{name: main, count: 1, template: {spec: {containers: [{name: c, "    \
	"image: i}]}}}]}}"
#define LINK_FIXTURE_JOB(name, origin)                                                             \
	"{apiVersion: batch/v1, kind: Job, metadata: {name: " name                                 \
	", namespace: team, labels: {kueue.x-k8s.io/multikueue-origin: " origin                    \
	"}}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}"
#define LINK_FIXTURE_QUEUE(name)                                                                   \
	"{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: " name            \
	", namespace: team}, spec: {clusterQueue: all}}"

struct link_fixture {
	struct apiserver *api;
	struct clock_fake clock;
	struct metric_registry *counters;
	struct link *l;
	struct VEC(struct mem_transport *) transports; /* that exist */
	struct VEC(struct sched_msg *) queue;
	struct strbuf log; /* messages of the present connection: "1 + workloads team/a;" */
	unsigned dropped;  /* messages of earlier ones */
	uint64_t sources;
	bool cannot_connect;
};

/* opt: what is not filled in here. */
void link_fixture_begin_with(struct link_fixture *f, struct link_options opt);
void link_fixture_begin(struct link_fixture *f);
void link_fixture_end(struct link_fixture *f);
/* A kubeconfig for that server, which the caller owns. */
struct kubeconfig *link_fixture_config(const char *server);
void link_fixture_load(struct link_fixture *f, const char *manifest);
void link_fixture_faults(struct link_fixture *f, const char *script); /* of apiserver/faults.h */

/* Hands a message to the link, writes it into the log, and frees it. */
void link_fixture_take(struct link_fixture *f, struct sched_msg *m);
/* Does one thing that can be done now, in a fixed order; false: there is nothing. */
bool link_fixture_half_step(struct link_fixture *f);
/* Does everything that happens within the next ns. */
void link_fixture_run(struct link_fixture *f, int64_t ns);
/* Configures it, and goes on until it is up. */
void link_fixture_connect_up(struct link_fixture *f);

/* These are in the log in any order, and nothing else; it is emptied. */
void link_fixture_expect_log(struct link_fixture *f, const char *const *want, size_t n);
/* message: a part of it. */
void link_fixture_expect_condition(struct link_fixture *f, const char *status, const char *reason,
				   const char *message);
void link_fixture_expect_metric(struct link_fixture *f, const char *line);

#endif
