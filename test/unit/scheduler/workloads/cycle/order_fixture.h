/* test/unit/scheduler/workloads/cycle/order_fixture.h: entries of a cycle over a small world, and
 * the order they come in. Every workload is an entry unless its name begins with "used"; one with
 * a name that begins with "preemptor" is the preemptor of its queue. Owner: the test. */
#ifndef TEST_UNIT_SCHEDULER_WORKLOADS_CYCLE_ORDER_FIXTURE_H
#define TEST_UNIT_SCHEDULER_WORKLOADS_CYCLE_ORDER_FIXTURE_H

#include "base/strbuf.h"
#include "lib/quota/quota_world.h"
#include "scheduler/workloads/cycle/entry_order.h"

#define ORDER_FIXTURE_MAX 64 /* entries */

struct order_fixture {
	struct quota_world world;
	struct arena *arena;
	struct entry entries[ORDER_FIXTURE_MAX];
	struct entry *given[ORDER_FIXTURE_MAX]; /* for the test to change before a run */
	size_t n;
	struct strbuf text;
};

/* The world as in quota_world.h; flavors are assigned, no preemption is possible. Entries are given
 * in the order of the workloads. */
void order_fixture_init(struct order_fixture *x, const char *world);
void order_fixture_finish(struct order_fixture *x);
/* As a cycle admits an entry that fits: its usage counts for those behind it. */
void order_fixture_admit(struct order_fixture *x, const struct entry *e);
/* The names in order, "a b c"; those that fit are admitted on the way. Usage is as before. */
const char *order_fixture_run(struct order_fixture *x);
/* All at once; the entries are given from first to last, and then from last to first. */
void order_fixture_expect(const char *world, const char *expected);

#endif
