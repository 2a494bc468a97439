#include "scheduler/pods/session/gang.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/xmalloc.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/values/pod_class.h"

static bool is_pending_member(const struct session *s, const struct task *t, enum gang_stage stage)
{
	enum charge_state charge = session_task_charge(s, t);
	uint32_t gates = TASK_FOREIGN_GATE;

	if (t->klass->best_effort) {
		return true;
	}
	/* A charge that is PATCHING has its gate still on: Kubernetes refuses to bind it, and
	 * autoscalers do not count it. */
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

static bool pending_counts(const struct session *s, const struct task *t, enum gang_stage stage)
{
	switch (stage) {
	case GANG_VALID:
		return true;
	case GANG_RESERVED:
	case GANG_PLACEABLE:
		return t->klass != NULL && is_pending_member(s, t, stage);
	case GANG_PIPELINED:
	case GANG_READY:
		break;
	}
	/* A task without requests needs no decision to get ready. */
	return t->klass != NULL && t->klass->best_effort;
}

bool gang_has_reached(const struct session *s, const struct task *t, enum gang_stage stage)
{
	enum task_status status = session_task_status(s, t);

	if (status == TASK_PENDING) {
		return pending_counts(s, t, stage);
	}
	if (status == TASK_PIPELINED) {
		return stage == GANG_PIPELINED ||
		       (stage != GANG_READY && pending_counts(s, t, stage));
	}
	return session_is_ready_status(status);
}

int32_t gang_count(const struct session *s, const struct podgroup *g, enum gang_stage stage)
{
	int32_t count = session_podgroup_ready_count(s, g);

	/* Those two depend on charges and gates, of which a PodGroup has no counts. */
	assert(stage != GANG_RESERVED && stage != GANG_PLACEABLE);
	if (stage != GANG_READY) {
		count += (int32_t)session_podgroup_count(s, g, TASK_PIPELINED);
	}
	return count + (stage == GANG_VALID ? (int32_t)session_podgroup_count(s, g, TASK_PENDING)
					    : session_podgroup_best_effort_pending(s, g));
}

/* Minimums per role are not looked at when they ask for more than minMember does in total. */
static bool has_role_minimums(const struct podgroup *g)
{
	/* A tenant may name many roles, each with the largest minimum: 32 bits would wrap. */
	int64_t sum = 0;

	for (size_t i = 0; i < g->role_min.n && sum <= g->min_member; i++) {
		sum += g->role_min.v[i].min;
	}
	return g->role_min.n > 0 && sum <= g->min_member;
}

/* Of n structs of size bytes that begin with their role, sorted by it, as a PodGroup has them;
 * NULL: no minimum is set for it. */
static const void *find_by_role(const void *v, size_t n, size_t size, uint32_t role)
{
	size_t from = 0, to = n;

	while (from < to) {
		size_t mid = from + (to - from) / 2;
		const char *at = (const char *)v + mid * size;
		uint32_t is;

		memcpy(&is, at, sizeof(is));
		if (is == role) {
			return at;
		}
		*(is < role ? &from : &to) = is < role ? mid + 1 : mid;
	}
	return NULL;
}

static const struct podgroup_role_min *find_minimum(const struct podgroup *g, uint32_t role)
{
	_Static_assert(offsetof(struct podgroup_role_min, role) == 0, "see find_by_role");

	return find_by_role(g->role_min.v, g->role_min.n, sizeof(g->role_min.v[0]), role);
}

bool gang_roles_are_met(const struct session *s, const struct podgroup *g, enum gang_stage stage)
{
	/* Asked about both PodGroups of a comparison: nothing is allocated for few roles, and
	 * nothing stays. */
	CLEANUP(xmalloc_freep) int32_t *many = NULL;
	int32_t few[16] = { 0 };
	int32_t *found = few;
	size_t unmet = 0;

	if (!has_role_minimums(g)) {
		return true;
	}
	for (size_t i = 0; i < g->role_min.n; i++) {
		unmet += g->role_min.v[i].min > 0;
	}
	/* A task has one role. */
	if (unmet == 0 || g->tasks.n < unmet) {
		return unmet == 0;
	}
	if (g->role_min.n > ARRAY_LEN(few)) {
		many = xmalloc_zero(g->role_min.n, sizeof(*many));
		found = many;
	}
	for (size_t i = 0; i < g->tasks.n && unmet > 0; i++) {
		const struct task *t = session_task(s, g->tasks.v[i]);
		const struct podgroup_role_min *role = find_minimum(g, t->role);

		if (role != NULL && gang_has_reached(s, t, stage)) {
			unmet -= ++found[role - g->role_min.v] == role->min;
		}
	}
	return unmet == 0;
}

bool gang_can_spare(const struct session *s, const struct task *t)
{
	const struct podgroup *g = session_cluster(s)->podgroups.v[t->podgroup];
	const struct podgroup_role_min *role;
	int32_t surplus = gang_count(s, g, GANG_READY) - g->min_member, count = 0;

	if (surplus <= 0) {
		return surplus < 0;
	}
	role = has_role_minimums(g) ? find_minimum(g, t->role) : NULL;
	if (role == NULL) {
		return true;
	}
	for (size_t i = 0; i < g->tasks.n && count <= role->min; i++) {
		const struct task *other = session_task(s, g->tasks.v[i]);

		count += other->role == t->role && gang_has_reached(s, other, GANG_READY);
	}
	return count > role->min;
}

static struct gang_role *find_role(const struct gang_need *need, uint32_t role)
{
	const struct gang_role *found =
		find_by_role(need->roles, need->nroles, sizeof(need->roles[0]), role);

	_Static_assert(offsetof(struct gang_role, role) == 0, "see find_by_role");
	return found == NULL ? NULL : &need->roles[found - need->roles];
}

static void copy_roles(const struct session *s, const struct podgroup *g, struct gang_need *need)
{
	if (!has_role_minimums(g)) {
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

		if (!gang_has_reached(s, t, stage)) {
			continue;
		}
		ret->missing--;
		role = find_role(ret, t->role);
		if (role != NULL) {
			role->missing--;
		}
	}
	assert(ret->nroles == 0 || ret->roles != NULL);
	for (size_t i = 0; i < ret->nroles; i++) {
		ret->missing_in_roles += ret->roles[i].missing > 0 ? ret->roles[i].missing : 0;
	}
}

bool gang_is_met(const struct gang_need *need)
{
	return need->missing <= 0 && need->missing_in_roles == 0;
}

/* Where the roles together lack as many members as the gang, one of another role would take the
 * place of one that is needed. */
bool gang_needs_role(const struct gang_need *need, uint32_t role)
{
	const struct gang_role *r = find_role(need, role);

	return (r != NULL && r->missing > 0) || need->missing > need->missing_in_roles;
}

void gang_add_member(struct gang_need *need, uint32_t role)
{
	struct gang_role *r = find_role(need, role);

	need->missing--;
	if (r != NULL) {
		need->missing_in_roles -= r->missing > 0;
		r->missing--;
	}
}

/* Quota that was revoked in this cycle is for others: the pod waits for the next one. */
bool gang_is_candidate(const struct session *s, const struct task *t)
{
	const uint32_t must = TASK_OURS | TASK_OPTED_IN;

	return (t->flags & must) == must && (t->flags & TASK_FOREIGN_GATE) == 0 &&
	       t->klass != NULL && !t->klass->best_effort && t->klass->unsupported == NULL &&
	       session_task_status(s, t) == TASK_PENDING &&
	       session_task_charge(s, t) == CHARGE_NONE && !session_task_was_revoked(s, t) &&
	       !session_task_is_set_aside(s, t);
}
