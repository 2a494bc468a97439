/* test/sim/oracles/sim_quota_oracle.h: judges every change of Workloads and Jobs at the server as
 * it happens. It reads the objects at the server, and nothing of the scheduler's model.
 *
 * A scheduler decides by the objects that it has seen, so a decision is allowed when it was right
 * at any moment of the last SIM_QUOTA_GRACE_NS of time in which a leader could write without
 * faults. This is for changes of quota, queues and Jobs by users. There is no such grace for
 * changes by another scheduler: one that was replaced must have no more effect when the next one
 * decides. A reduction of quota evicts nothing. Deactivated Workloads are not charged, even while
 * their Jobs still stop (as in Kueue). Owner: the run. */
#ifndef TEST_SIM_ORACLES_SIM_QUOTA_ORACLE_H
#define TEST_SIM_ORACLES_SIM_QUOTA_ORACLE_H

#include "play/oracle.h"
#include "sim/oracles/sim_tree.h"
#include "sim/world/sim_world.h"

#define SIM_QUOTA_GRACE_NS ORACLE_GRACE_NS

struct sim_quota_oracle;

/* Events that are counted. */
enum sim_quota_event {
	SIM_QUOTA_ADMISSION,
	SIM_QUOTA_BORROWED,    /* an admission beyond the queue's own quota */
	SIM_QUOTA_PARTIAL,     /* an admission of fewer pods */
	SIM_QUOTA_CAME_BACK,   /* an admission after an eviction */
	SIM_QUOTA_WITHDRAWN,   /* a reservation that nothing ran on */
	SIM_QUOTA_STARTED,     /* Jobs */
	SIM_QUOTA_RECLAIMABLE, /* pods that end before their Job do not need quota any more */
	SIM_QUOTA_IN_QUEUE,    /* preemptions by reason */
	SIM_QUOTA_RECLAIMED,
	SIM_QUOTA_WHILE_BORROWING,
	SIM_QUOTA_FAIR,
	SIM_QUOTA_EVICTED_PREEMPTED, /* evictions by reason */
	SIM_QUOTA_EVICTED_CHECK,
	SIM_QUOTA_EVICTED_QUEUE_STOPPED,
	SIM_QUOTA_EVICTED_LOCAL_STOPPED,
	SIM_QUOTA_EVICTED_PODS_READY,
	SIM_QUOTA_DEACTIVATED,
	SIM_QUOTA_DEACTIVATED_CHECK,
	SIM_QUOTA_DEACTIVATED_TIME,
	SIM_QUOTA_DEACTIVATED_RETRIES,
	SIM_QUOTA_SUCCEEDED, /* Workloads finished, by reason */
	SIM_QUOTA_FAILED,
	SIM_QUOTA_LOST_ADMISSION, /* the scheduler died during a write that gives quota */
	SIM_QUOTA_EVENT_COUNT_
};

/* The name for statistics: the reason in a condition, or a word. */
const char *sim_quota_oracle_event_name(enum sim_quota_event e);

/* Listens to the view of the world. */
struct sim_quota_oracle *sim_quota_oracle_create(struct sim_world *w);
void sim_quota_oracle_destroy(struct sim_quota_oracle *o);
/* The scheduler decided to preempt the victim (key) for the Workload of that UID; the write may
 * come later. */
void sim_quota_oracle_preempted(struct sim_quota_oracle *o, const char *victim, const char *uid);
/* Call after time has passed: violations are tolerated for a limited time. */
void sim_quota_oracle_check(struct sim_quota_oracle *o);
/* Monotonic ns of the last change of any of these objects. */
int64_t sim_quota_oracle_changed_at(const struct sim_quota_oracle *o);
uint64_t sim_quota_oracle_count(const struct sim_quota_oracle *o, enum sim_quota_event e);

#endif
