#include "scheduler/pods/core/gang.h"

#include "base/arena.h"
#include "scheduler/pods/core/ledger.h"
#include "scheduler/pods/model/pod_class.h"

static bool is_pending_member(const struct session *s, const struct task *t, enum gang_stage stage)
{
	enum charge_state charge = session_task_charge(s, t);
	uint32_t gates = TASK_FOREIGN_GATE;

	if (t->klass->best_effort) {
		return true;
	}
	if ((t->flags & TASK_OPTED_IN) != 0) {
		return ledger_is_unbound(charge) &&
		       (stage == GANG_RESERVED || charge == CHARGE_UNGATED ||
			charge == CHARGE_PUBLISHED);
	}
	/* It asks the ordinary quota vote when it is placed. A gate of ours on it goes at once. */
	if (stage == GANG_PLACEABLE) {
		gates |= TASK_OUR_GATE;
	}
	return (t->flags & gates) == 0;
}

bool gang_counts(const struct session *s, const struct task *t, enum gang_stage stage)
{
	switch (session_task_status(s, t)) {
	case TASK_BOUND:
	case TASK_BINDING:
	case TASK_RUNNING:
	case TASK_ALLOCATED:
	case TASK_SUCCEEDED:
		return true;
	case TASK_PENDING:
	case TASK_PIPELINED:
		return t->klass != NULL && is_pending_member(s, t, stage);
	case TASK_RELEASING:
	case TASK_FAILED:
	case TASK_UNKNOWN:
	case TASK_STATUS_COUNT_:
		break;
	}
	return false;
}

static struct gang_role *find_role(const struct gang_need *need, uint32_t role)
{
	for (size_t i = 0; i < need->nroles; i++) {
		if (need->roles[i].role == role) {
			return &need->roles[i];
		}
	}
	return NULL;
}

static void copy_roles(const struct session *s, const struct podgroup *g, struct gang_need *need)
{
	int64_t sum = 0;

	for (size_t i = 0; i < g->role_min.n; i++) {
		sum += g->role_min.v[i].min;
	}
	if (g->role_min.n == 0 || sum > g->min_member) {
		return;
	}
	need->nroles = g->role_min.n;
	need->roles = arena_alloc(session_arena(s), need->nroles * sizeof(need->roles[0]));
	for (size_t i = 0; i < need->nroles; i++) {
		need->roles[i].role = g->role_min.v[i].role;
		need->roles[i].missing = g->role_min.v[i].min;
	}
}

void gang_need(const struct session *s, const struct podgroup *g, enum gang_stage stage,
	       struct gang_need *ret)
{
	*ret = (struct gang_need){ .missing = g->min_member };
	copy_roles(s, g, ret);
	for (size_t i = 0; i < g->tasks.n; i++) {
		const struct task *t = session_task(s, g->tasks.v[i]);
		struct gang_role *role;

		if (!gang_counts(s, t, stage)) {
			continue;
		}
		ret->missing--;
		role = find_role(ret, t->role);
		if (role != NULL) {
			role->missing--;
		}
	}
}

static int32_t missing_in_roles(const struct gang_need *need)
{
	int32_t sum = 0;

	for (size_t i = 0; i < need->nroles; i++) {
		sum += need->roles[i].missing > 0 ? need->roles[i].missing : 0;
	}
	return sum;
}

bool gang_is_met(const struct gang_need *need)
{
	return need->missing <= 0 && missing_in_roles(need) == 0;
}

bool gang_wants(const struct gang_need *need, uint32_t role)
{
	const struct gang_role *r = find_role(need, role);

	return (r != NULL && r->missing > 0) || need->missing > missing_in_roles(need);
}

void gang_take(struct gang_need *need, uint32_t role)
{
	struct gang_role *r = find_role(need, role);

	need->missing--;
	if (r != NULL) {
		r->missing--;
	}
}

bool gang_is_candidate(const struct session *s, const struct task *t)
{
	const uint32_t must = TASK_OURS | TASK_OPTED_IN;

	return (t->flags & must) == must && (t->flags & TASK_FOREIGN_GATE) == 0 &&
	       t->klass != NULL && !t->klass->best_effort && t->klass->unsupported == NULL &&
	       session_task_status(s, t) == TASK_PENDING &&
	       session_task_charge(s, t) == CHARGE_NONE && !session_task_was_released(s, t) &&
	       !session_task_is_set_aside(s, t);
}
