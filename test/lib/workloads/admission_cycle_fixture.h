/* test/lib/workloads/admission_cycle_fixture.h: cycles of the Workload engine on a quota_world, and
 * their decisions as short texts. Workloads of the namespace "ns" are named without it. Owner: the
 * test.
 */
#ifndef TEST_LIB_WORKLOADS_ADMISSION_CYCLE_FIXTURE_H
#define TEST_LIB_WORKLOADS_ADMISSION_CYCLE_FIXTURE_H

#include "base/strbuf.h"
#include "lib/quota/quota_world.h"
#include "scheduler/workloads/cycle/admission_cycle.h"

struct admission_cycle_fixture {
	struct quota_world w;
	struct admission_cycle *cycle;
	const struct admission_decisions *last; /* of the last run; invalid after the next one */
	struct strbuf text;
};

/* Pending workloads are in their queues. */
void admission_cycle_fixture_init(struct admission_cycle_fixture *f, const char *world);
/* Adds to the world; new pending workloads are in their queues. */
void admission_cycle_fixture_add(struct admission_cycle_fixture *f, const char *world);
void admission_cycle_fixture_finish(struct admission_cycle_fixture *f);

/* One cycle, applied. Decisions in their order, "; " between:
 *   "admit W to QUEUE RESOURCE=FLAVOR..." (" xCOUNT" for a pod set that is smaller than it asks)
 *   "preempt V for W REASON" ("ongoing" behind)
 *   "wait W heap|inadmissible REQUEUE REASON" */
const char *admission_cycle_fixture_run(struct admission_cycle_fixture *f);
struct admission_cycle_row {
	const char *world;
	const char *cycles[4]; /* the decisions of each; NULL: no more */
};
/* Asserts each row, in a world of its own. */
void admission_cycle_fixture_rows(const struct admission_cycle_row *rows, size_t n);
/* "a b | c d": the heap in its order, then the inadmissible ones by name. */
const char *admission_cycle_fixture_queue(struct admission_cycle_fixture *f, const char *queue);
/* The workload is deleted: its quota is released, and inadmissible ones of its tree are tried
 * again. */
void admission_cycle_fixture_delete(struct admission_cycle_fixture *f, const char *workload);
/* The jobs of victims stop: their quota is free, they wait again. costly: each
 * preemption raises their preemption cost, as the preemption-cost controller does. */
void admission_cycle_fixture_stop(struct admission_cycle_fixture *f, bool costly);

#endif
