#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/intern.h"
#include "collections/strmap.h"
#include "scheduler/pods/model/budgets.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/model/selectors.h"
#include "scheduler/pods/model/volumes.h"

#define PAUSE_MAX_SHIFT 8

int64_t cluster_task_pause(unsigned failures)
{
	return CLOCK_NS_PER_S << (failures < PAUSE_MAX_SHIFT ? failures : PAUSE_MAX_SHIFT);
}

static void put_key(struct strbuf *key, struct str namespace_, struct str name)
{
	strbuf_add_str(key, namespace_);
	strbuf_add_ch(key, '/');
	strbuf_add_str(key, name);
}

size_t cluster_task_key(const struct task *t, char *buf, size_t size)
{
	return (size_t)snprintf(buf, size, "%s/%s", t->namespace_, t->name);
}

struct task *cluster_task_find(const struct cluster *c, struct str key)
{
	return strmap_get(c->task_by_key, key);
}

struct task *cluster_task_add(struct cluster *c, struct str namespace_, struct str name,
			      struct str uid)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	struct task *t = xmalloc_zero(1, sizeof(*t));
	uint32_t ns = intern_id(c->names, namespace_);

	assert(ns != INTERN_NONE);
	put_key(&key, namespace_, name);
	assert(!strmap_has(c->task_by_key, strbuf_str(&key)));
	t->namespace_ = intern_name(c->names, ns);
	/* Name and UID in one block: there are many pods. */
	t->name = xmalloc_zero(name.len + uid.len + 2, 1);
	memcpy(t->name, name.p, name.len);
	if (uid.len > 0) {
		memcpy(t->name + name.len + 1, uid.p, uid.len);
	}
	t->uid = t->name + name.len + 1;
	t->podgroup = t->node = t->nominated = t->role = t->charge_queue = MODEL_NONE;
	t->refused_queue = t->reserved = t->awaits = t->budget = t->stranded_pos = MODEL_NONE;
	t->granted_priority = INT32_MAX;
	t->status = TASK_PENDING;
	t->created = t->published_at = t->retry_at = t->preempt_at = MODEL_TIME_NONE;
	t->ends_by = t->cools_until = t->bind_by = MODEL_TIME_NONE;
	t->id = slots_add(&c->tasks, t);
	strmap_set(c->task_by_key, strbuf_str(&key), t);
	return t;
}

/* A pod without a PodGroup is in no queue, so that no scan depends on it. */
void cluster_task_changed(struct cluster *c, struct task *t)
{
	if (t->podgroup != MODEL_NONE) {
		cluster_podgroup_changed(c, c->podgroups.v[t->podgroup]);
	}
}

void cluster_task_try_again(struct cluster *c, const struct task *t)
{
	if (t->podgroup != MODEL_NONE && t->status == TASK_PENDING) {
		cluster_podgroup_try_again(c, c->podgroups.v[t->podgroup]);
	}
}

static void leave_podgroup(struct cluster *c, struct task *t)
{
	struct podgroup *g;

	if (t->podgroup == MODEL_NONE) {
		return;
	}
	cluster_task_try_again(c, t);
	g = c->podgroups.v[t->podgroup];
	g->by_status[t->status]--;
	g->refused -= t->refused_queue != MODEL_NONE;
	if (t->retry_at == MODEL_TIME_NEVER) {
		cluster_task_set_retry(c, t, MODEL_TIME_NONE);
	}
	/* O(1): the order of the list means nothing, and each task knows its place. */
	vec_swap_remove(&g->tasks, t->podgroup_pos);
	if (t->podgroup_pos < g->tasks.n) {
		/* The last one took its place. */
		c->tasks.v[g->tasks.v[t->podgroup_pos]]->podgroup_pos = t->podgroup_pos;
	}
	t->podgroup = MODEL_NONE;
	c->demand_gen++;
	cluster_podgroup_changed(c, g);
	/* A record that was made for the pods alone goes with the last of them. */
	cluster_podgroup_prune(c, g);
}

void cluster_task_set_podgroup(struct cluster *c, struct task *t, struct podgroup *g)
{
	if (t->podgroup == (g == NULL ? MODEL_NONE : g->id)) {
		return;
	}
	leave_podgroup(c, t);
	if (g == NULL) {
		return;
	}
	t->podgroup = g->id;
	t->podgroup_pos = (uint32_t)g->tasks.n;
	vec_push(&g->tasks, t->id);
	g->by_status[t->status]++;
	g->refused += t->refused_queue != MODEL_NONE;
	c->demand_gen++;
	cluster_podgroup_changed(c, g);
	cluster_task_try_again(c, t);
}

void cluster_task_set_refused(struct cluster *c, struct task *t, uint32_t queue)
{
	struct podgroup *g = t->podgroup == MODEL_NONE ? NULL : c->podgroups.v[t->podgroup];

	if (g != NULL && t->refused_queue != queue) {
		g->refused += (queue != MODEL_NONE) - (t->refused_queue != MODEL_NONE);
		cluster_podgroup_changed(c, g);
	}
	t->refused_queue = queue;
}

void cluster_task_set_retry(struct cluster *c, struct task *t, int64_t at)
{
	bool was = t->retry_at == MODEL_TIME_NEVER, is = at == MODEL_TIME_NEVER;

	if (t->podgroup != MODEL_NONE) {
		c->podgroups.v[t->podgroup]->unplaced += (uint32_t)is - (uint32_t)was;
	}
	t->retry_at = at;
}

int32_t cluster_task_standing(const struct cluster *c, const struct task *t)
{
	int32_t priority = c->podgroups.v[t->podgroup]->priority;

	return priority < t->granted_priority ? priority : t->granted_priority;
}

bool cluster_task_may_be_published(const struct task *t)
{
	return t->cond == POD_COND_UNSCHEDULABLE || t->cond == POD_COND_OTHER;
}

bool cluster_task_has_lost_hold(const struct task *t)
{
	return t->status == TASK_PENDING && t->victims > 0 && t->charge == CHARGE_NONE &&
	       t->awaits == MODEL_NONE;
}

static bool is_published_without_queue(const struct cluster *c, const struct task *t)
{
	const uint32_t gates = (uint32_t)TASK_OUR_GATE | TASK_FOREIGN_GATE;
	const uint32_t ours = (uint32_t)TASK_OURS | TASK_OPTED_IN;

	return (t->flags & (gates | ours | TASK_GATE_ONLY)) == ours && t->status == TASK_PENDING &&
	       cluster_task_may_be_published(t) && t->charge == CHARGE_NONE && t->klass != NULL &&
	       !t->klass->best_effort &&
	       (t->podgroup == MODEL_NONE || c->podgroups.v[t->podgroup]->queue_name == MODEL_NONE);
}

bool cluster_task_is_stranded(const struct cluster *c, const struct task *t)
{
	return cluster_task_has_lost_hold(t) || is_published_without_queue(c, t);
}

bool cluster_task_may_be_written(const struct task *t, int64_t now)
{
	return (t->flags & TASK_PARKED) == 0 && (t->write_failures == 0 || t->retry_at <= now);
}

/* The pod of entry i, stranded or not; NULL: it is gone. Ids of removed tasks are used again. */
static struct task *listed_at(const struct cluster *c, size_t i)
{
	uint32_t id = c->stranded.v[i];
	struct task *t = id < c->tasks.n ? c->tasks.v[id] : NULL;

	return t != NULL && t->stranded_pos == i ? t : NULL;
}

const struct task *cluster_task_stranded_at(const struct cluster *c, size_t i)
{
	const struct task *t = listed_at(c, i);

	return t != NULL && cluster_task_is_stranded(c, t) ? t : NULL;
}

static void drop_outdated(struct cluster *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->stranded.n; i++) {
		struct task *t = listed_at(c, i);

		if (t != NULL && cluster_task_is_stranded(c, t)) {
			t->stranded_pos = (uint32_t)kept;
			c->stranded.v[kept++] = t->id;
		} else if (t != NULL) {
			t->stranded_pos = MODEL_NONE;
		}
	}
	c->stranded.n = kept;
	c->stranded_most = 2 * kept + 1;
}

/* All pods of a PodGroup may be stranded at once, so none of them walks over the others. */
void cluster_task_note_stranded(struct cluster *c, struct task *t)
{
	if (t->stranded_pos < c->stranded.n && listed_at(c, t->stranded_pos) == t) {
		return;
	}
	if (c->stranded.n >= c->stranded_most) {
		drop_outdated(c);
	}
	t->stranded_pos = (uint32_t)c->stranded.n;
	vec_push(&c->stranded, t->id);
}

bool cluster_task_may_be_adopted(const struct task *t)
{
	return (t->flags & TASK_OURS) != 0 &&
	       (t->flags & ((uint32_t)TASK_OPTED_IN | TASK_OUR_GATE | TASK_FOREIGN_GATE)) == 0;
}

/* The task's request in the accounts of its node. */
static void book_on_node(struct cluster *c, const struct task *t)
{
	struct node *n = c->nodes.v[t->node];

	if (t->klass == NULL) {
		return;
	}
	cluster_node_book(c, n, &t->klass->request);
	if (t->status == TASK_RELEASING) {
		res_add(&n->releasing, &t->klass->request);
		/* Room will come free there, for which a gang may be held. */
		c->nodes_gen++;
	}
}

static void unbook_from_node(struct cluster *c, const struct task *t)
{
	struct node *n = c->nodes.v[t->node];

	if (t->klass == NULL) {
		return;
	}
	cluster_node_unbook(c, n, &t->klass->request);
	if (t->status == TASK_RELEASING) {
		cluster_account_sub(c, &n->releasing, &t->klass->request);
	}
	/* Room appeared: pods that wait for nodes are worth another look. */
	c->nodes_gen++;
}

static void leave_node(struct cluster *c, struct task *t)
{
	struct node *n;

	if (t->node == MODEL_NONE) {
		return;
	}
	unbook_from_node(c, t);
	n = c->nodes.v[t->node];
	vec_swap_remove(&n->tasks, t->node_pos);
	if (t->node_pos < n->tasks.n) {
		c->tasks.v[n->tasks.v[t->node_pos]]->node_pos = t->node_pos;
	}
	t->node = MODEL_NONE;
	/* A node without an object is kept for its pods alone. */
	cluster_node_prune(c, n);
}

enum demand { DEMAND_WAITS, DEMAND_ON_NODE, DEMAND_RELEASING, DEMAND_NONE };

static enum demand demand_of(enum task_status status)
{
	switch (status) {
	case TASK_PENDING:
	case TASK_ALLOCATED:
	case TASK_PIPELINED:
		return DEMAND_WAITS;
	case TASK_BINDING:
	case TASK_BOUND:
	case TASK_RUNNING:
		return DEMAND_ON_NODE;
	case TASK_RELEASING:
		return DEMAND_RELEASING;
	case TASK_SUCCEEDED:
	case TASK_FAILED:
	case TASK_UNKNOWN:
	case TASK_STATUS_COUNT_:
		break;
	}
	return DEMAND_NONE;
}

bool cluster_task_is_ending(const struct task *t)
{
	return t->status == TASK_RELEASING && t->node != MODEL_NONE;
}

/* After its status or node has changed; was: how it was before. */
static void track_ending(struct cluster *c, struct task *t, bool was)
{
	bool is = cluster_task_is_ending(t);

	if (is && !was) {
		t->ending_pos = (uint32_t)c->ending.n;
		vec_push(&c->ending, t->id);
	} else if (was && !is) {
		vec_swap_remove(&c->ending, t->ending_pos);
		if (t->ending_pos < c->ending.n) {
			c->tasks.v[c->ending.v[t->ending_pos]]->ending_pos = t->ending_pos;
		}
	}
}

void cluster_task_set_status(struct cluster *c, struct task *t, enum task_status status,
			     struct node *n)
{
	bool stays, was_ending = cluster_task_is_ending(t);

	assert(status < TASK_STATUS_COUNT_);
	assert(status != TASK_ALLOCATED && status != TASK_PIPELINED);
	assert(n != NULL ||
	       (status != TASK_BINDING && status != TASK_BOUND && status != TASK_RUNNING));
	/* Finished pods do not occupy their node any more. */
	if (status == TASK_SUCCEEDED || status == TASK_FAILED || status == TASK_PENDING) {
		n = NULL;
	}
	if (t->status == (uint8_t)status && t->node == (n == NULL ? MODEL_NONE : n->id)) {
		return;
	}
	volumes_wait(c, t, MODEL_TIME_NONE);
	/* On the same node its request stays booked, unless it begins or ceases to terminate: no
	 * room comes free when a bind is seen or a pod starts. */
	stays = n != NULL && t->node == n->id && t->status != TASK_RELEASING &&
		status != TASK_RELEASING;
	if (n == NULL || t->node != n->id) {
		leave_node(c, t);
	} else if (!stays) {
		unbook_from_node(c, t);
	}
	if (t->podgroup != MODEL_NONE) {
		c->podgroups.v[t->podgroup]->by_status[t->status]--;
		c->podgroups.v[t->podgroup]->by_status[status]++;
	}
	c->demand_gen += demand_of((enum task_status)t->status) != demand_of(status);
	t->status = (uint8_t)status;
	if (n != NULL) {
		if (t->node == MODEL_NONE) {
			t->node = n->id;
			t->node_pos = (uint32_t)n->tasks.n;
			vec_push(&n->tasks, t->id);
		}
		if (!stays) {
			book_on_node(c, t);
		}
	}
	track_ending(c, t, was_ending);
	/* A bind that is decided may still fail: the room stays held for it. */
	if (status != TASK_PENDING && status != TASK_BINDING) {
		cluster_task_set_awaits(c, t, NULL);
		t->victims = t->in_vain = 0;
	}
	cluster_task_changed(c, t);
}

void cluster_task_set_nominated(struct cluster *c, struct task *t, struct node *n)
{
	struct node *old = t->nominated == MODEL_NONE ? NULL : c->nodes.v[t->nominated];

	if (old == n) {
		return;
	}
	if (n != NULL) {
		n->nominations++;
	}
	t->nominated = n == NULL ? MODEL_NONE : n->id;
	if (old != NULL) {
		old->nominations--;
		cluster_node_prune(c, old);
	}
	cluster_task_changed(c, t);
}

static void stop_awaiting(struct cluster *c, struct task *t)
{
	struct node *n = c->nodes.v[t->awaits];

	vec_swap_remove(&c->awaiting, t->awaits_pos);
	if (t->awaits_pos < c->awaiting.n) {
		c->tasks.v[c->awaiting.v[t->awaits_pos]]->awaits_pos = t->awaits_pos;
	}
	t->awaits = MODEL_NONE;
	n->nominations--;
	/* The room is for others again. */
	c->nodes_gen++;
	cluster_node_prune(c, n);
}

void cluster_task_set_awaits(struct cluster *c, struct task *t, struct node *n)
{
	if (t->awaits == (n == NULL ? MODEL_NONE : n->id)) {
		return;
	}
	if (n != NULL) {
		n->nominations++;
	}
	if (t->awaits != MODEL_NONE) {
		stop_awaiting(c, t);
	}
	if (n != NULL) {
		t->awaits = n->id;
		t->awaits_pos = (uint32_t)c->awaiting.n;
		vec_push(&c->awaiting, t->id);
	}
	cluster_task_changed(c, t);
}

void cluster_task_set_class(struct cluster *c, struct task *t, const struct pod_class *klass_take)
{
	const struct pod_class *old = t->klass;

	/* The task has a reference already. */
	if (old == klass_take) {
		cluster_class_unref(c, klass_take);
		return;
	}
	if (t->node != MODEL_NONE) {
		unbook_from_node(c, t);
	}
	if (old != NULL && old->nterms > 0) {
		selectors_remove_task(c, t);
	}
	volumes_leave_task(c, t);
	t->klass = klass_take;
	if (klass_take != NULL && klass_take->nterms > 0) {
		selectors_add_task(c, t);
	}
	volumes_enter_task(c, t);
	c->demand_gen++;
	if (t->node != MODEL_NONE) {
		book_on_node(c, t);
	}
	cluster_class_unref(c, old);
	cluster_task_changed(c, t);
	cluster_task_try_again(c, t);
}

void cluster_task_remove(struct cluster *c, struct task *t)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	bool was_ending;

	/* The ledger is above this folder: its caller has released the charge. */
	assert(t->charge == CHARGE_NONE);
	cluster_task_set_nominated(c, t, NULL);
	cluster_task_set_awaits(c, t, NULL);
	budgets_set_labels(c, t, NULL);
	volumes_wait(c, t, MODEL_TIME_NONE);
	was_ending = cluster_task_is_ending(t);
	leave_node(c, t);
	track_ending(c, t, was_ending);
	leave_podgroup(c, t);
	put_key(&key, str_of(t->namespace_), str_of(t->name));
	strmap_remove(c->task_by_key, strbuf_str(&key));
	selectors_forget_labels(c, t);
	if (t->klass != NULL && t->klass->nterms > 0) {
		selectors_remove_task(c, t);
	}
	volumes_leave_task(c, t);
	cluster_class_unref(c, t->klass);
	slots_remove(&c->tasks, t->id);
	free(t->name);
	free(t);
}
