/* test/sim/sim_quota.h: the part of a run that is about Workloads: users of queues and Jobs, users
 * that set preemption costs, the Job controller, the controller of a check, the oracles.
 * Owner: the run. */
#ifndef TEST_SIM_SIM_QUOTA_H
#define TEST_SIM_SIM_QUOTA_H

#include "sim/oracles/sim_quota_oracle.h"
#include "sim/oracles/sim_victims.h"
#include "sim/users/sim_costs.h"
#include "sim/users/sim_groups.h"
#include "sim/world/sim_world.h"

struct admission_decisions;
struct forest;
struct kueue_conf;
struct sim_quota;

/* ClusterQueues are full most of the time: see sim_quota_random.h. Every second run is so. */
bool sim_quota_is_contended(const struct sim_world *w);
/* Workloads get the annotation SIM_QUOTA_NOTE of their Jobs. */
#define SIM_QUOTA_NOTE "sim.example.com/job"
bool sim_quota_copies_note(const struct sim_world *w);
/* Chooses the options of this run; listens to the view of the world. */
struct sim_quota *sim_quota_create(struct sim_world *w);
void sim_quota_destroy(struct sim_quota *q); /* NULL is fine */
/* The configuration for the scheduler; lives as long as q. */
const struct kueue_conf *sim_quota_conf(const struct sim_quota *q);
/* Changes it: with fair sharing, or without. The old one stays for processes that have it. */
void sim_quota_reconfigure(struct sim_quota *q);
void sim_quota_begin(struct sim_quota *q);
/* One random act of a user. */
void sim_quota_act(struct sim_quota *q);
void sim_quota_offer(struct sim_quota *q, struct sim_choices *out);
/* From now on users and the check do nothing that keeps Workloads from running. */
void sim_quota_end(struct sim_quota *q);
/* The decisions of a cycle of the scheduler, before they are applied. */
void sim_quota_decided(struct sim_quota *q, const struct forest *f,
		       const struct admission_decisions *d);
/* Call after time has passed. */
void sim_quota_check(struct sim_quota *q);
/* Nothing has changed and nothing was written for that long, and no Workload is in backoff. */
bool sim_quota_is_quiet(const struct sim_quota *q, int64_t ns);
/* Judges the end of the run; deletes all objects; judges the state after that. */
void sim_quota_judge(struct sim_quota *q);
void sim_quota_leave(struct sim_quota *q);
void sim_quota_judge_left(struct sim_quota *q);

struct sim_quota_stats {
	uint64_t seen[SIM_QUOTA_EVENT_COUNT_];
	uint64_t answers[3]; /* of the check: Ready, Retry, Rejected */
	uint64_t groups[SIM_GROUPS_COUNT_];
	uint64_t costs[SIM_COSTS_COUNT_];
	uint64_t victims[SIM_VICTIMS_COUNT_];
};
void sim_quota_add_stats(const struct sim_quota *q, struct sim_quota_stats *stats);
/* As comments of TAP. */
void sim_quota_print_stats(const struct sim_quota_stats *stats);
bool sim_quota_all_seen(const struct sim_quota_stats *stats);

#endif
