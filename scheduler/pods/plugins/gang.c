/* Volcano's gang plugin: a PodGroup counts as ready, pipelined or valid when minMember of its
 * tasks, and of each role the minimum that minTaskMember asks for, have got that far. Minimums per
 * role are not looked at when they ask for more than minMember does in total, as Volcano has it. */
#include "scheduler/pods/plugins/registry.h"

#include "base/arena.h"
#include "scheduler/pods/core/session.h"
#include "scheduler/pods/model/pod_class.h"

#define BIT(status) (1u << (status))

static const uint32_t ready_statuses = BIT(TASK_ALLOCATED) | BIT(TASK_BINDING) | BIT(TASK_BOUND) |
				       BIT(TASK_RUNNING) | BIT(TASK_SUCCEEDED);

static bool counts(const struct session *s, const struct task *t, uint32_t statuses)
{
	enum task_status status = session_task_status(s, t);

	/* A task without requests needs no decision to get ready. */
	return (statuses & BIT(status)) != 0 ||
	       (status == TASK_PENDING && t->klass != NULL && t->klass->best_effort);
}

static const struct podgroup_role_min *find_role(const struct podgroup *g, uint32_t role)
{
	for (size_t i = 0; i < g->role_min.n; i++) {
		if (g->role_min.v[i].role == role) {
			return &g->role_min.v[i];
		}
	}
	return NULL;
}

static bool asks_for_roles(const struct podgroup *g)
{
	int64_t sum = 0;

	for (size_t i = 0; i < g->role_min.n; i++) {
		sum += g->role_min.v[i].min;
	}
	return g->role_min.n > 0 && g->min_member >= sum;
}

/* Whether every role has its minimum of tasks in one of the statuses (or in need of no decision).
 * The walk ends as soon as the last minimum is met, so a big PodGroup that has long been ready
 * costs little. */
static bool roles_met(const struct session *s, const struct podgroup *g, uint32_t statuses)
{
	int32_t few[16] = { 0 };
	int32_t *found = few;
	size_t met = 0;

	if (!asks_for_roles(g)) {
		return true;
	}
	if (g->role_min.n > ARRAY_LEN(few)) {
		found = arena_zero(session_arena(s), g->role_min.n, sizeof(*found));
	}
	for (size_t i = 0; i < g->role_min.n; i++) {
		met += g->role_min.v[i].min <= 0;
	}
	for (size_t i = 0; i < g->tasks.n && met < g->role_min.n; i++) {
		const struct task *t = session_task(s, g->tasks.v[i]);
		const struct podgroup_role_min *role = find_role(g, t->role);

		if (role != NULL && counts(s, t, statuses)) {
			met += ++found[role - g->role_min.v] == role->min;
		}
	}
	return met == g->role_min.n;
}

static bool is_ready(const struct session *s, const struct podgroup *g)
{
	return session_podgroup_ready_count(s, g) + session_podgroup_best_effort_pending(s, g) >=
		       g->min_member &&
	       roles_met(s, g, ready_statuses);
}

static bool gang_job_ready(void *state, const struct session *s, const struct podgroup *g)
{
	(void)state;
	return is_ready(s, g);
}

static enum vote gang_job_pipelined(void *state, const struct session *s, const struct podgroup *g)
{
	int32_t count = session_podgroup_ready_count(s, g) + session_podgroup_waiting_count(s, g) +
			session_podgroup_best_effort_pending(s, g);

	(void)state;
	if (count >= g->min_member && roles_met(s, g, ready_statuses | BIT(TASK_PIPELINED))) {
		return VOTE_PERMIT;
	}
	return VOTE_REJECT;
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
	const uint32_t valid = ready_statuses | BIT(TASK_PIPELINED) | BIT(TASK_PENDING);
	int64_t count = 0;

	(void)state;
	for (int i = 0; i < TASK_STATUS_COUNT_; i++) {
		if ((valid & BIT(i)) != 0) {
			count += session_podgroup_count(s, g, (enum task_status)i);
		}
	}
	if (!roles_met(s, g, valid)) {
		return refuse(why, "NotEnoughPodsOfTask",
			      "Not enough valid pods of each task for gang-scheduling");
	}
	if (count < g->min_member) {
		return refuse(why, "NotEnoughTasks",
			      arena_printf(session_arena(s),
					   "Not enough valid tasks for gang-scheduling, valid: "
					   "%lld, min: %d",
					   (long long)count, g->min_member));
	}
	return true;
}

/* PodGroups that still lack members go first. */
static int gang_job_order(void *state, const struct session *s, const struct podgroup *a,
			  const struct podgroup *b)
{
	bool x = is_ready(s, a), y = is_ready(s, b);

	(void)state;
	return x == y ? 0 : x ? 1 : -1;
}

const struct plugin_ops gang_ops = {
	.name = "gang",
	.job_order = gang_job_order,
	.job_valid = gang_job_valid,
	.job_ready = gang_job_ready,
	.job_pipelined = gang_job_pipelined,
};
