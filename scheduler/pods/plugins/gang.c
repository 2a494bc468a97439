/* Volcano's gang plugin: a PodGroup counts as ready, pipelined or valid when minMember of its
 * tasks, and the minimum of each role in minTaskMember, have reached that stage
 * (pods/session/gang.h). */
#include "scheduler/pods/plugins/registry.h"

#include "base/arena.h"
#include "scheduler/pods/session/gang.h"

static bool is_met(const struct session *s, const struct podgroup *g, enum gang_stage stage)
{
	return gang_count(s, g, stage) >= g->min_member && gang_roles_are_met(s, g, stage);
}

static bool gang_job_ready(void *state, const struct session *s, const struct podgroup *g)
{
	(void)state;
	return is_met(s, g, GANG_READY);
}

static enum vote gang_job_pipelined(void *state, const struct session *s, const struct podgroup *g)
{
	(void)state;
	return is_met(s, g, GANG_PIPELINED) ? VOTE_PERMIT : VOTE_REJECT;
}

static bool refuse(struct reason *why, const char *code, const char *detail)
{
	if (why != NULL) {
		*why = (struct reason){ .code = code, .detail = detail };
	}
	return false;
}

static bool gang_job_valid(void *state, struct session *s, const struct podgroup *g,
			   struct reason *why)
{
	int32_t count = gang_count(s, g, GANG_VALID);

	(void)state;
	if (!gang_roles_are_met(s, g, GANG_VALID)) {
		return refuse(why, "NotEnoughPodsOfTask",
			      "Not enough valid pods of each task for gang-scheduling");
	}
	if (count < g->min_member) {
		return refuse(why, "NotEnoughTasks",
			      arena_printf(session_arena(s),
					   "Not enough valid tasks for gang-scheduling, valid: "
					   "%d, min: %d",
					   count, g->min_member));
	}
	return true;
}

/* PodGroups that still lack members go first. */
static int gang_job_order(void *state, const struct session *s, const struct podgroup *a,
			  const struct podgroup *b)
{
	bool x = is_met(s, a, GANG_READY), y = is_met(s, b, GANG_READY);

	(void)state;
	return x == y ? 0 : x ? 1 : -1;
}

/* Pods without requests do not count here, as in Volcano. */
static bool gang_job_starving(void *state, const struct session *s, const struct podgroup *g)
{
	(void)state;
	return session_podgroup_ready_count(s, g) +
		       (int32_t)session_podgroup_count(s, g, TASK_PIPELINED) <
	       g->min_member;
}

/* A PodGroup loses pods only as long as minMember of them are left. */
static bool gang_permits(void *state, struct session *s, const struct task *t,
			 const struct task *victim)
{
	const struct podgroup *g = session_cluster(s)->podgroups.v[victim->podgroup];

	(void)state;
	(void)t;
	return session_podgroup_ready_count(s, g) > g->min_member;
}

const struct plugin_ops gang_ops = {
	.name = "gang",
	.job_order = gang_job_order,
	.job_valid = gang_job_valid,
	.job_ready = gang_job_ready,
	.job_pipelined = gang_job_pipelined,
	.job_starving = gang_job_starving,
	.preemptable = gang_permits,
	.reclaimable = gang_permits,
	.keeps_gangs = true,
};
