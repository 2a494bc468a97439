/* test/lib/workloads/decided.h: applies a decision to a Workload of a test that keeps no statuses:
 * a status is made from the flags in the model, and the flags follow from the status. Owner: the
 * test.
 */
#ifndef TEST_LIB_WORKLOADS_DECIDED_H
#define TEST_LIB_WORKLOADS_DECIDED_H

#include <stdint.h>

struct admission_decision;
struct admission_decisions;
struct forest;
struct quota_model;

/* The flags of the workload that d is about, after d. */
void decided_flags(const struct quota_model *q, const struct admission_decision *d, int64_t now);
/* All of them, as the scheduler does: first statuses, then quota. */
void decided_apply(struct forest *f, const struct admission_decisions *d, int64_t now);

#endif
