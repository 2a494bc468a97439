/* test/lib/quota/quota_workloads.h: the workload lines of a quota world's text, for quota_world.c.
 * A workload is complete, and its quota charged, at the line after its pod sets. Owner: the test.
 */
#ifndef TEST_LIB_QUOTA_QUOTA_WORKLOADS_H
#define TEST_LIB_QUOTA_QUOTA_WORKLOADS_H

#include "lib/quota/quota_words.h"
#include "lib/quota/quota_world.h"

/* "workload ..." begins one, "podset ..." adds to it. */
void quota_workloads_add(struct quota_world *w, struct quota_words *l);
void quota_workloads_podset(struct quota_world *w, struct quota_words *l);
void quota_workloads_finish(struct quota_world *w);
/* The workload gets a preemption gate "g". */
void quota_workloads_gate(struct workload *w);

#endif
