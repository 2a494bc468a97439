/* test/sim/oracles/sim_quota_rules.h: rules for the status of a Workload, checked on one change by
 * the scheduler: consistent conditions, allowed transitions of states, evictions counted once.
 * Pure. */
#ifndef TEST_SIM_ORACLES_SIM_QUOTA_RULES_H
#define TEST_SIM_ORACLES_SIM_QUOTA_RULES_H

#include <stdint.h>

struct jdoc;

enum sim_quota_state {
	SIM_QUOTA_PENDING,
	SIM_QUOTA_RESERVING, /* holds quota, checks are not Ready */
	SIM_QUOTA_ADMITTED,
	SIM_QUOTA_EVICTING, /* evicted, its Job has not stopped */
	SIM_QUOTA_FINISHED,
	SIM_QUOTA_STATE_COUNT_
};

enum sim_quota_state sim_quota_rules_state(const struct jdoc *w);
const char *sim_quota_rules_state_name(enum sim_quota_state s);
/* The rule that a change by the scheduler breaks; NULL: none. now: wall ns; slack: by how much the
 * wall time of the scheduler's machine was set back and forth. */
const char *sim_quota_rules_breach(const struct jdoc *old, const struct jdoc *w, int64_t now,
				   int64_t slack);
/* All evictions that the status counts. */
int64_t sim_quota_rules_evictions(const struct jdoc *w);

#endif
