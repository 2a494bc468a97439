#include "scheduler/pods/ledger/ledger.h"

#include <assert.h>

#include "base/saturating.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/values/pod_class.h"

#define BIT(state) (1u << (state))

/* Which state may follow which. A watch may hide steps in between (patched, published and bound by
 * the time we look), so every state may become BOUND. Leaving is ledger_release, from anywhere. */
static const struct {
	const char *name;
	uint32_t next;
	bool unbound;
} states[CHARGE_STATE_COUNT_] = {
	[CHARGE_NONE] = { "None", 0, false },
	[CHARGE_PATCHING] = { "Patching", BIT(CHARGE_UNGATED) | BIT(CHARGE_BOUND), true },
	[CHARGE_UNGATED] = { "Ungated",
			     BIT(CHARGE_PUBLISHED) | BIT(CHARGE_AWAITING_VICTIMS) |
				     BIT(CHARGE_ASSUMED) | BIT(CHARGE_BOUND) |
				     BIT(CHARGE_WITHDRAWING),
			     true },
	[CHARGE_PUBLISHED] = { "Published",
			       BIT(CHARGE_UNGATED) | BIT(CHARGE_AWAITING_VICTIMS) |
				       BIT(CHARGE_ASSUMED) | BIT(CHARGE_BOUND) |
				       BIT(CHARGE_WITHDRAWING),
			       true },
	[CHARGE_AWAITING_VICTIMS] = { "AwaitingVictims",
				      BIT(CHARGE_PATCHING) | BIT(CHARGE_UNGATED) |
					      BIT(CHARGE_PUBLISHED) | BIT(CHARGE_ASSUMED) |
					      BIT(CHARGE_BOUND) | BIT(CHARGE_WITHDRAWING),
				      true },
	/* A bind that failed leads back to where the pod was. */
	[CHARGE_ASSUMED] = { "Assumed",
			     BIT(CHARGE_UNGATED) | BIT(CHARGE_PUBLISHED) | BIT(CHARGE_BOUND),
			     false },
	[CHARGE_BOUND] = { "Bound", 0, false },
	/* A withdrawal that was not written leads back; one that was ends the charge. */
	[CHARGE_WITHDRAWING] = { "Withdrawing", BIT(CHARGE_UNGATED) | BIT(CHARGE_BOUND), false },
};

bool ledger_is_unbound(enum charge_state s)
{
	return states[s].unbound;
}

bool ledger_is_granted(const struct task *t)
{
	return (t->flags & ((uint32_t)TASK_RESERVED_MARK | TASK_BOUND_MARK)) != 0;
}

enum charge_state ledger_state_when_given_up(const struct task *t, enum charge_state charge)
{
	/* The pod may show another condition while the publication is in flight, or another client
	 * may have replaced it. */
	return charge == CHARGE_PUBLISHED || cluster_task_may_be_published(t) ? CHARGE_WITHDRAWING
									      : CHARGE_NONE;
}

const char *ledger_state_name(enum charge_state s)
{
	return states[s].name;
}

bool ledger_may_advance(enum charge_state from, enum charge_state to)
{
	return from != CHARGE_NONE && (from == to || (states[from].next & BIT(to)) != 0);
}

/* Adds sign * req to one account, in the dimensions of mask; never below zero. */
static void book(struct cluster *c, struct res *account, const struct res *req, uint32_t mask,
		 int sign)
{
	if ((mask & RES_FURTHER) != 0) {
		account->more_word = res_more_sum(account, req, sign);
	}
	for (uint32_t m = mask & ~RES_FURTHER; m != 0; m &= m - 1) {
		unsigned d = (unsigned)__builtin_ctz(m);

		if (sign > 0) {
			account->v[d] = saturating_add(account->v[d], req->v[d]);
			continue;
		}
		/* Our own mistake, since what is taken off was booked: counted, and shown as a
		 * metric, instead of stopping everything. */
		if (account->v[d] < req->v[d]) {
			c->drift++;
			account->v[d] = 0;
			continue;
		}
		account->v[d] -= req->v[d];
	}
}

/* Books on the queue and every ancestor; a decrease makes room for waiting pods below. */
static void roll_up(struct cluster *c, uint32_t from, const struct res *req, int sign,
		    bool releasing)
{
	uint32_t mask = res_mask(req);
	struct queue *q;

	QUEUE_FOR_EACH_UP (q, c, from) {
		book(c, &q->charged, req, mask, sign);
		if (releasing) {
			book(c, &q->releasing, req, mask, sign);
		}
		if (sign < 0) {
			q->room_gen++;
		}
	}
}

static bool is_at_the_end(const struct queue *q, unsigned dim)
{
	return res_get(&q->charged, dim) == INT64_MAX || res_get(&q->releasing, dim) == INT64_MAX;
}

/* A sum that was cut off at the largest number does not come back by subtraction. */
static bool is_cut_off(const struct cluster *c, uint32_t queue, const struct res *req)
{
	uint32_t mask = res_mask(req);
	const struct queue *q;

	QUEUE_FOR_EACH_UP (q, c, queue) {
		for (uint32_t m = mask & ~RES_FURTHER; m != 0; m &= m - 1) {
			if (is_at_the_end(q, (unsigned)__builtin_ctz(m))) {
				return true;
			}
		}
		for (unsigned d = RES_DENSE; d < res_width(req); d++) {
			if (res_get(req, d) > 0 && is_at_the_end(q, d)) {
				return true;
			}
		}
	}
	return false;
}

static bool is_releasing(const struct task *t)
{
	return t->status == TASK_RELEASING;
}

/* q: of the charge, which need not be the one of its PodGroup. demand: other PodGroups may get more
 * or less by it. */
static void changed(struct cluster *c, struct task *t, struct queue *q, bool demand)
{
	q->podgroups_gen++;
	c->demand_gen += demand;
	cluster_task_changed(c, t);
}

void ledger_charge(struct cluster *c, struct task *t, struct queue *q, enum charge_state state)
{
	assert(t->charge == CHARGE_NONE && state != CHARGE_NONE);
	t->charge = (uint8_t)state;
	t->charge_queue = q->id;
	changed(c, t, q, true);
	roll_up(c, q->id, pod_class_charge(t->klass), 1, is_releasing(t));
}

void ledger_advance(struct cluster *c, struct task *t, enum charge_state state)
{
	bool unbound;

	assert(ledger_may_advance((enum charge_state)t->charge, state));
	if (t->charge == (uint8_t)state) {
		return;
	}
	unbound = ledger_is_unbound((enum charge_state)t->charge);
	t->charge = (uint8_t)state;
	changed(c, t, c->queues.v[t->charge_queue], ledger_is_unbound(state) != unbound);
}

void ledger_release(struct cluster *c, struct task *t)
{
	struct queue *q;

	if (t->charge == CHARGE_NONE) {
		return;
	}
	q = c->queues.v[t->charge_queue];
	t->charge = CHARGE_NONE;
	t->charge_queue = MODEL_NONE;
	changed(c, t, q, true);
	/* A walk over all tasks, but only for sums that have reached the largest number. */
	if (is_cut_off(c, q->id, pod_class_charge(t->klass))) {
		ledger_rebuild_sums(c);
		return;
	}
	roll_up(c, q->id, pod_class_charge(t->klass), -1, is_releasing(t));
}

void ledger_set_releasing(struct cluster *c, struct task *t, bool releasing)
{
	struct queue *q;
	uint32_t mask;

	if (t->charge == CHARGE_NONE || releasing == is_releasing(t)) {
		return;
	}
	mask = res_mask(pod_class_charge(t->klass));
	QUEUE_FOR_EACH_UP (q, c, t->charge_queue) {
		/* A sum at the end of the range stays there until the charge is released. */
		if (releasing || !is_cut_off(c, q->id, pod_class_charge(t->klass))) {
			book(c, &q->releasing, pod_class_charge(t->klass), mask,
			     releasing ? 1 : -1);
		}
		/* Pods that did not opt in are placed against charged - releasing. */
		q->room_gen++;
	}
}

void ledger_recharge(struct cluster *c, struct task *t, const struct res *old_request)
{
	struct queue *q;

	if (t->charge == CHARGE_NONE || res_eq(old_request, pod_class_charge(t->klass))) {
		return;
	}
	q = c->queues.v[t->charge_queue];
	changed(c, t, q, true);
	if (is_cut_off(c, q->id, old_request)) {
		ledger_rebuild_sums(c);
		return;
	}
	/* Down first: in the other order a sum could be cut off in between. */
	roll_up(c, q->id, old_request, -1, is_releasing(t));
	roll_up(c, q->id, pod_class_charge(t->klass), 1, is_releasing(t));
}

void ledger_resize(struct cluster *c, struct task *t, const struct res *old_request)
{
	ledger_recharge(c, t, old_request);
	if (t->charge == CHARGE_NONE ||
	    res_exceeds(pod_class_charge(t->klass), old_request, UINT32_MAX) == 0) {
		return;
	}
	t->flags |= TASK_GREW;
	if (t->refused_queue == t->charge_queue) {
		cluster_task_set_refused(c, t, MODEL_NONE); /* this growth is reported, too */
	}
}

void ledger_move(struct cluster *c, struct task *t, struct queue *to)
{
	enum charge_state state = (enum charge_state)t->charge;

	if (state == CHARGE_NONE || t->charge_queue == to->id) {
		return;
	}
	/* Both in one step of the sched thread: no cycle sees the pod without its charge. */
	ledger_release(c, t);
	ledger_charge(c, t, to, state);
}

/* Any queue may have room afterwards, so that all are looked at again. */
void ledger_rebuild_sums(struct cluster *c)
{
	for (size_t i = 0; i < c->queues.n; i++) {
		struct queue *q = c->queues.v[i];

		if (q != NULL) {
			res_fill(&q->charged, 0);
			res_fill(&q->releasing, 0);
			q->room_gen++;
		}
	}
	for (size_t i = 0; i < c->tasks.n; i++) {
		struct task *t = c->tasks.v[i];

		if (t != NULL && t->charge != CHARGE_NONE) {
			roll_up(c, t->charge_queue, pod_class_charge(t->klass), 1, is_releasing(t));
		}
	}
}

void ledger_undo_bind(struct cluster *c, struct task *t)
{
	if (t->status != TASK_BINDING) {
		return;
	}
	cluster_task_set_status(c, t, TASK_PENDING, NULL);
	if (t->charge != CHARGE_ASSUMED) {
		return;
	}
	/* Pods that did not opt in and best-effort pods are placed without a reservation. */
	if ((t->flags & TASK_OPTED_IN) == 0 || t->klass->best_effort) {
		ledger_release(c, t);
		return;
	}
	ledger_advance(c, t, t->cond == POD_COND_UNSCHEDULABLE ? CHARGE_PUBLISHED : CHARGE_UNGATED);
}
