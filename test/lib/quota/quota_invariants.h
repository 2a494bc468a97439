/* test/lib/quota/quota_invariants.h: invariants of a world of the Workload engine between cycles,
 * and of the decisions of a cycle. Violations are appended to `problems`, one line each. Owner: the
 * test. */
#ifndef TEST_LIB_QUOTA_QUOTA_INVARIANTS_H
#define TEST_LIB_QUOTA_QUOTA_INVARIANTS_H

#include "lib/workloads/admission_cycle_fixture.h"

/* Every workload that waits is in the one list that its place names; the forest has nothing to
 * undo, and its sums are those of quota_naive. */
void quota_invariants_check_forest(const struct forest *f, struct strbuf *problems);
/* The same, and every workload waits or holds quota. */
void quota_invariants_check(const struct admission_cycle_fixture *f, struct strbuf *problems);

/* By how much the usage without victims is above quota, per node and pair: nowhere, except after
 * quota in use was lowered. */
struct quota_excess {
	int64_t *v;
	size_t n;
};
void quota_invariants_excess(const struct admission_cycle_fixture *f, struct quota_excess *ret);
void quota_invariants_excess_finish(struct quota_excess *e);

/* After a run was applied: the world agrees with each decision, policies allow the victims, and
 * usage is nowhere further above quota than before. */
void quota_invariants_check_run(const struct admission_cycle_fixture *f,
				const struct quota_excess *before, struct strbuf *problems);

#endif
