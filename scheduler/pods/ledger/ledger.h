/* scheduler/pods/ledger/ledger.h: the rules of the quota ledger: one charge per pod UID through
 * patching -> ungated -> published -> assumed -> bound (or withdrawing), rolled up to every
 * ancestor queue. It is the only account of quota use. The data are in struct task (charge,
 * charge_queue) and struct queue (charged, releasing). Owner: the sched thread. Pure. Which
 * transition is legal is a table in ledger.c; an illegal one asserts. */
#ifndef SCHEDULER_PODS_LEDGER_LEDGER_H
#define SCHEDULER_PODS_LEDGER_LEDGER_H

#include "scheduler/pods/model/model.h"

/* Charges the task's class request to queue and ancestors. Asserts CHARGE_NONE before. */
void ledger_charge(struct cluster *c, struct task *t, struct queue *q, enum charge_state state);
/* To another state of the same charge. */
void ledger_advance(struct cluster *c, struct task *t, enum charge_state state);
void ledger_release(struct cluster *c, struct task *t); /* no effect without a charge */
/* Called before the task's status changes from or to RELEASING: keeps `releasing` sums right. No
 * effect without a charge or when the status is that already. */
void ledger_set_releasing(struct cluster *c, struct task *t, bool releasing);
/* Called after the class of a charged task changed: books the difference. */
void ledger_recharge(struct cluster *c, struct task *t, const struct res *old_request);
/* Likewise, after the pod itself changed (resize in place): marks a charged pod that grew. */
void ledger_resize(struct cluster *c, struct task *t, const struct res *old_request);
/* Takes back a bind that was decided: the pod is pending again, with the charge that it had before.
 * No effect on a task that is not TASK_BINDING. */
void ledger_undo_bind(struct cluster *c, struct task *t);
/* To another queue, whatever its limit: pods/cycle/moves.h decides. */
void ledger_move(struct cluster *c, struct task *t, struct queue *to);
/* Recomputes all sums from the tasks (after the topology changed). */
void ledger_rebuild_sums(struct cluster *c);
/* Whether the transition table allows it; a state may always follow itself, nothing follows NONE.
 */
bool ledger_may_advance(enum charge_state from, enum charge_state to);
/* True for the states that hold quota for a pod that has no node and is to get one. */
bool ledger_is_unbound(enum charge_state s);
/* The pod shows that it was given quota, or its node, by us. Tenants cannot write these marks. */
bool ledger_is_granted(const struct task *t);
/* The next state of a charge that is given up. Autoscalers act on a published pod until its
 * withdrawal is acknowledged: CHARGE_WITHDRAWING keeps the quota until then. */
enum charge_state ledger_state_when_given_up(const struct task *t, enum charge_state charge);
const char *ledger_state_name(enum charge_state s);

#endif
