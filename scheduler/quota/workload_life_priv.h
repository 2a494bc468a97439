/* scheduler/quota/workload_life_priv.h: what the parts of workload_life.h share. Owner: one call of
 * workload_life. */
#ifndef SCHEDULER_QUOTA_WORKLOAD_LIFE_PRIV_H
#define SCHEDULER_QUOTA_WORKLOAD_LIFE_PRIV_H

#include "quota/workload_life.h"

struct workload_life {
	const struct workload_life_in *in;
	const struct quota_times *times;
	struct workload_life_state *s;
	struct conditions *c;
	int64_t now;
	struct workload_life_out *out;
};

/* Sets a condition now; true when anything but the generation changed. */
bool workload_life_set(struct workload_life *l, const char *type, bool is_true, const char *reason,
		       const char *message);
/* Appends an event about the Workload. */
void workload_life_tell(struct workload_life *l, bool warning, const char *reason,
			const char *message);
/* Look again at `at` at the latest. */
void workload_life_wake(struct workload_life *l, int64_t at);
/* Evicted=True and the event for it. cause: underlyingCause, "" when there is none. */
void workload_life_evict(struct workload_life *l, const char *reason, const char *cause,
			 const char *message);
/* The condition is there with this status and reason; reason NULL: any. */
bool workload_life_is(const struct workload_life *l, const char *type, const char *status,
		      const char *reason);

#endif
