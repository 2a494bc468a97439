/* test/unit/scheduler/workloads/assign/assign_fixture.h: flavor assignment of workload ns/w in
 * queue q of a small world, with a preemption search that the test answers. Owner: the
 * test. */
#ifndef TEST_UNIT_SCHEDULER_WORKLOADS_ASSIGN_ASSIGN_FIXTURE_H
#define TEST_UNIT_SCHEDULER_WORKLOADS_ASSIGN_ASSIGN_FIXTURE_H

#include "base/strbuf.h"
#include "lib/quota/quota_world.h"
#include "scheduler/workloads/assign/assign.h"

struct assign_fixture_answer {
	uint32_t pair;
	enum assign_answer answer;
	unsigned level;
};

struct assign_fixture {
	struct quota_world world;
	struct workload *w;
	struct arena *arena;
	struct assign_request request; /* for the test to change before a run */
	struct assignment result;
	struct strbuf text;
	struct assign_fixture_answer answers[8];
	size_t nanswers;
	struct strbuf asked; /* "flavor/resource=amount " per question to the oracle */
};

/* The world as in quota_world.h. */
void assign_fixture_init(struct assign_fixture *x, const char *world);
void assign_fixture_finish(struct assign_fixture *x);
/* Else there are no targets. */
void assign_fixture_set(struct assign_fixture *x, const char *flavor, const char *resource,
			enum assign_answer answer, unsigned level);
/* Assigns. The result as a text, good until the next run: mode, level, reason of NoFit, then per
 * pod set its count, and for each resource flavor, mode, level, tried: "Preempt 1 | main*2
 * cpu=spot/Reclaim/1/0 memory=spot/Fit/0/0" "NoFit 0 ExceedsMaxQuota | main*1" */
const char *assign_fixture_run(struct assign_fixture *x);
/* All at once: the text of one assignment must be `expected`. answers: "flavor/resource=outside@1"
 * or inside@N, words apart by blanks; NULL: none. */
void assign_fixture_expect(const char *world, const char *answers, const char *expected);

#endif
