/* test/unit/scheduler/workloads/owners/pod_fixture.h: pods that queue and their Workload for unit
 * tests, in a short notation. All in the arena of decode_fixture.h; the world is that of
 * job_fixture.h. */
#ifndef TEST_UNIT_SCHEDULER_WORKLOADS_OWNERS_POD_FIXTURE_H
#define TEST_UNIT_SCHEDULER_WORKLOADS_OWNERS_POD_FIXTURE_H

#include <stddef.h>

#include "api/core/pod.h"
#include "api/kueue/kueue_workload.h"

#define POD_FIXTURE_MAX 32

struct pod_fixture {
	const char *total; /* pods of the group "g"; NULL: no group */
	const char *labels, *annotations,
		*spec; /* members of JSON objects in single quotes, or NULL */
};

/* "a:G b:Rx" are pods a and b, a second apart, with these letters behind their names:
 *   G gated   P ungated, no node yet   R runs   S succeeded   F failed
 *   x without finalizer   d being deleted   t with the reason of its end   2 of role r2 (else r1)
 *   o with another total of the group (9)
 * Returns how many. */
size_t pod_fixture_pods(const struct pod_fixture *f, const char *text, struct api_pod *ret);

struct pod_fixture_workload {
	const char *status;  /* members of the JSON object, or NULL */
	const char *meta;    /* likewise */
	const char *podsets; /* "r1:2 r2:1"; NULL: "main:1" */
	const char *owners;  /* names of pods, by blanks; NULL: the pod "a" controls */
	bool foreign;        /* not made for a group */
};
void pod_fixture_workload(const struct pod_fixture_workload *f, struct api_workload *ret);

#endif
