/* test/unit/scheduler/ctl/sim_fixture.h: simulations of manifests written into a test. Owner: the
 * test. */
#ifndef TEST_UNIT_SCHEDULER_CTL_SIM_FIXTURE_H
#define TEST_UNIT_SCHEDULER_CTL_SIM_FIXTURE_H

struct err;
struct simulation;
struct strbuf;

/* A queue q of 3 cpu and a node n1 of 8; what tests add follows. */
#define SIM_FIXTURE_CLUSTER                                                                        \
	"{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: q}, "           \
	"spec: {capability: {cpu: 3}}}\n---\n"                                                     \
	"{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 8, "       \
	"memory: 8Gi, "                                                                            \
	"pods: 10}}}\n---\n"
#define SIM_FIXTURE_GROUP(name, min)                                                               \
	"{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: " name       \
	", namespace: ns}, spec: {queue: q, minMember: " min "}}\n---\n"
/* more: further members of spec, each with a comma in front. */
#define SIM_FIXTURE_POD(name, group, cpu, more)                                                    \
	"{apiVersion: v1, kind: Pod, metadata: {name: " name ", namespace: ns, annotations: "      \
	"{scheduling.k8s.io/group-name: " group                                                    \
	", scheduling.volcano.sh/queue-allocation-gate: \"true\"}}, spec: {schedulerName: "        \
	"volcano, containers: [{name: c, resources: {requests: {cpu: " cpu "}}}]" more "}}\n---\n"
#define SIM_FIXTURE_GATED ", schedulingGates: [{name: scheduling.volcano.sh/queue-allocation-gate}]"

/* The built-in configuration; fails the test on bad manifests. */
struct simulation *sim_fixture_create(const char *yaml);
/* Text of the error that the manifests give; fails the test when they give none. */
void sim_fixture_refused(const char *yaml, struct err *ret);
/* "Ungate ns/p1; Bind ns/p2 n1" of all steps but events, since the start. */
void sim_fixture_steps(const struct simulation *s, struct strbuf *out);

#endif
