#include "scheduler/pods/session/session.h"

#include <stdlib.h>

#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "scheduler/pods/conf/conf.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/session/domains.h"
#include "scheduler/pods/session/hooks.h"
#include "scheduler/pods/session/ranking_memo.h"
#include "scheduler/pods/session/session_priv.h"
#include "scheduler/pods/values/pod_class.h"

struct session *session_create(const struct sched_conf *conf, const struct hooks *hooks)
{
	struct session *s = xmalloc_zero(1, sizeof(*s));

	s->conf = conf;
	s->hooks = hooks;
	s->arena = arena_create(1 << 16);
	s->overlay = xmalloc_zero(1, sizeof(*s->overlay));
	s->domains = domains_create();
	s->memo = ranking_memo_create();
	s->has_quota_plugin = hooks_has_quota_plugin(hooks);
	return s;
}

void session_destroy(struct session *s)
{
	if (s == NULL) {
		return;
	}
	session_overlay_finish(s->overlay);
	decision_finish(&s->decisions);
	arena_destroy(s->arena);
	domains_destroy(s->domains);
	ranking_memo_destroy(s->memo);
	free(s->overlay);
	free(s);
}

void session_open(struct session *s, const struct cluster *c, int64_t now)
{
	s->cluster = c;
	s->now = now;
	session_overlay_open(s->overlay, c, s->arena);
	s->fit = NULL;
	domains_open(s);
	s->statements = 0;
	s->unbound = NULL;
	s->not_counted = NULL;
	s->waits = arena_zero(s->arena, c->queues.n + 1, sizeof(*s->waits));
	s->timers = arena_alloc(s->arena, (c->queues.n + 1) * sizeof(*s->timers));
	for (size_t i = 0; i < c->queues.n; i++) {
		s->timers[i] = INT64_MAX;
	}
	s->limits = arena_alloc(s->arena, (c->queues.n + 1) * sizeof(*s->limits));
	/* Plugins derive their limits when they are opened. */
	hooks_open(s->hooks, s);
	hooks_quota_limits(s->hooks, s, s->limits);
}

void session_close(struct session *s)
{
	hooks_close(s->hooks, s);
}

const struct cluster *session_cluster(const struct session *s)
{
	return s->cluster;
}

int64_t session_now(const struct session *s)
{
	return s->now;
}

const struct sched_conf *session_conf(const struct session *s)
{
	return s->conf;
}

const struct hooks *session_hooks(const struct session *s)
{
	return s->hooks;
}

struct arena *session_arena(const struct session *s)
{
	return s->arena;
}

struct decisions *session_decisions(struct session *s)
{
	return &s->decisions;
}

const struct decisions *session_decisions_so_far(const struct session *s)
{
	return &s->decisions;
}

/* A slot of another epoch is of an earlier session: the cluster's value holds. */

enum task_status session_task_status(const struct session *s, const struct task *t)
{
	const struct overlay_task *slot = &s->overlay->tasks[t->id];

	return (enum task_status)(slot->epoch == s->overlay->epoch ? slot->status : t->status);
}

uint32_t session_task_node(const struct session *s, const struct task *t)
{
	const struct overlay_task *slot = &s->overlay->tasks[t->id];

	return slot->epoch == s->overlay->epoch ? slot->node : t->node;
}

uint32_t session_task_awaits(const struct session *s, const struct task *t)
{
	const struct overlay_task *slot = &s->overlay->tasks[t->id];

	return slot->epoch == s->overlay->epoch ? slot->awaits : t->awaits;
}

enum charge_state session_task_charge(const struct session *s, const struct task *t)
{
	const struct overlay_task *slot = &s->overlay->tasks[t->id];

	return (enum charge_state)(slot->epoch == s->overlay->epoch ? slot->charge : t->charge);
}

uint32_t session_task_charge_queue(const struct session *s, const struct task *t)
{
	const struct overlay_task *slot = &s->overlay->tasks[t->id];

	return slot->epoch == s->overlay->epoch ? slot->charge_queue : t->charge_queue;
}

uint32_t session_task_queue(const struct session *s, const struct task *t)
{
	uint32_t id = session_task_charge_queue(s, t);

	return id == MODEL_NONE && t->podgroup != MODEL_NONE
		       ? s->cluster->podgroups.v[t->podgroup]->queue
		       : id;
}

bool session_task_was_revoked(const struct session *s, const struct task *t)
{
	const struct overlay_task *slot = &s->overlay->tasks[t->id];

	return slot->epoch == s->overlay->epoch && slot->revoked;
}

bool session_task_is_set_aside(const struct session *s, const struct task *t)
{
	return (t->flags & TASK_PARKED) != 0 ||
	       (t->retry_at != MODEL_TIME_NONE && t->retry_at > s->now);
}

bool session_task_may_preempt(const struct session *s, const struct task *t)
{
	return t->preempt_at == MODEL_TIME_NONE || t->preempt_at <= s->now;
}

const struct res *session_node_used(const struct session *s, const struct node *n)
{
	const struct overlay_node *slot = &s->overlay->nodes[n->id];

	return slot->epoch == s->overlay->epoch ? &slot->used : &n->used;
}

const struct res *session_node_pipelined(const struct session *s, const struct node *n)
{
	/* The cluster has no pipelined pods: they exist in sessions alone. */
	static const struct res none;
	const struct overlay_node *slot = &s->overlay->nodes[n->id];

	return slot->epoch == s->overlay->epoch ? &slot->pipelined : &none;
}

const struct res *session_node_releasing(const struct session *s, const struct node *n)
{
	const struct overlay_node *slot = &s->overlay->nodes[n->id];

	return slot->epoch == s->overlay->epoch ? &slot->releasing : &n->releasing;
}

struct res session_node_taken_later(const struct session *s, const struct node *n)
{
	struct res taken = *session_node_used(s, n);

	res_sub(&taken, session_node_releasing(s, n));
	res_add(&taken, session_node_pipelined(s, n));
	return taken;
}

uint32_t session_node_version(const struct session *s, const struct node *n)
{
	const struct overlay_node *slot = &s->overlay->nodes[n->id];

	return slot->epoch == s->overlay->epoch ? slot->version : 0;
}

const struct task *session_node_added(const struct session *s, const struct node *n, size_t i)
{
	const struct overlay_node *slot = &s->overlay->nodes[n->id];

	return slot->epoch == s->overlay->epoch && i < slot->nadded ? slot->added[i] : NULL;
}

uint32_t session_claim_node(const struct session *s, const struct claim *cl)
{
	return session_overlay_claim(s->overlay, cl)->node;
}

uint32_t session_claim_placed(const struct session *s, const struct claim *cl)
{
	return session_overlay_claim(s->overlay, cl)->placed;
}

bool session_volume_is_free(const struct session *s, const struct volume *v)
{
	return !v->writing && session_overlay_volume(s->overlay, v)->claim == MODEL_NONE;
}

uint32_t session_podgroup_count(const struct session *s, const struct podgroup *g,
				enum task_status status)
{
	const struct overlay_podgroup *slot = &s->overlay->podgroups[g->id];

	return slot->epoch == s->overlay->epoch ? slot->by_status[status] : g->by_status[status];
}

enum podgroup_phase session_podgroup_phase(const struct session *s, const struct podgroup *g)
{
	const struct overlay_podgroup *slot = &s->overlay->podgroups[g->id];

	return (enum podgroup_phase)(slot->epoch == s->overlay->epoch ? slot->phase : g->phase);
}

const struct res *session_queue_charged(const struct session *s, const struct queue *q)
{
	const struct overlay_queue *slot = &s->overlay->queues[q->id];

	return slot->epoch == s->overlay->epoch ? &slot->charged : &q->charged;
}

const struct res *session_queue_releasing(const struct session *s, const struct queue *q)
{
	const struct overlay_queue *slot = &s->overlay->queues[q->id];

	return slot->epoch == s->overlay->epoch ? &slot->releasing : &q->releasing;
}

const struct res *session_queue_limit(const struct session *s, const struct queue *q)
{
	return &s->limits[q->id];
}

const struct queue *session_find_full_queue(const struct session *s, const struct queue *q,
					    const struct task *t, uint32_t *ret_over)
{
	const struct res *request = pod_class_charge(t->klass);
	uint32_t mask = pod_class_charge_mask(t->klass);
	const struct queue *at;

	QUEUE_FOR_EACH_UP (at, s->cluster, q->id) {
		*ret_over = res_over(session_queue_charged(s, at), request,
				     session_queue_limit(s, at), mask);
		if (*ret_over != 0) {
			return at;
		}
	}
	return NULL;
}

const char *session_describe_full_queue(const struct session *s, const struct queue *full,
					uint32_t over)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	strbuf_printf(&text, "queue %s has not enough quota left: ", full->name);
	res_describe_over(s->cluster->res, over, &text);
	return arena_dup_n(s->arena, strbuf_str(&text).p, strbuf_str(&text).len);
}

bool session_has_quota_plugin(const struct session *s)
{
	return s->has_quota_plugin;
}

bool session_queue_has_unbound(struct session *s, const struct queue *q)
{
	const struct cluster *c = s->cluster;

	if (s->unbound != NULL) {
		return s->unbound[q->id];
	}
	s->unbound = arena_zero(s->arena, c->queues.n, sizeof(*s->unbound));
	for (size_t i = 0; i < c->tasks.n; i++) {
		const struct task *t = c->tasks.v[i];

		if (t != NULL && ledger_is_unbound(session_task_charge(s, t))) {
			session_priv_mark_unbound(s, t);
		}
	}
	return s->unbound[q->id];
}

bool session_is_due(const struct session *s, const struct queue *q)
{
	return s->due[q->id] != 0;
}

const struct podgroup_list *session_podgroups(const struct session *s, const struct queue *q)
{
	return &s->podgroups[q->id];
}

bool session_podgroup_is_due(const struct session *s, const struct podgroup *g)
{
	const struct podgroup_list *l = session_podgroups(s, s->cluster->queues.v[g->queue]);
	size_t from = 0, to = l->n;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (l->v[mid]->queue_pos < g->queue_pos) {
			from = mid + 1;
		} else {
			to = mid;
		}
	}
	return from < l->n && l->v[from] == g;
}

const uint32_t *session_touched_podgroups(const struct session *s, size_t *ret_n)
{
	*ret_n = s->overlay->touched_podgroups.n;
	return s->overlay->touched_podgroups.v;
}

bool session_podgroup_was_tried(const struct session *s, const struct podgroup *g)
{
	const struct overlay_podgroup *slot = &s->overlay->podgroups[g->id];

	return slot->epoch == s->overlay->epoch && slot->tried;
}

void session_note_tried(struct session *s, const struct podgroup *g)
{
	session_priv_podgroup(s, g)->tried = true;
}

void session_note_held(struct session *s, const struct podgroup *g)
{
	s->waits[g->queue] |= SESSION_HOLDS;
}

void session_note_attempt(struct session *s, const struct task *t, enum attempt what,
			  const struct node *n, const char *message)
{
	struct overlay_task *slot = session_priv_task(s, t);

	slot->attempt = (uint8_t)what;
	slot->attempt_node = n == NULL ? MODEL_NONE : n->id;
	slot->attempt_message = message;
}

void session_note_refusal(struct session *s, const struct podgroup *g, const char *code,
			  const char *message)
{
	struct overlay_podgroup *slot = session_priv_podgroup(s, g);

	if (slot->refusal == NULL) {
		slot->refusal = message;
		slot->refusal_code = code;
	}
}

void session_wait_for_nodes(struct session *s, const struct queue *q)
{
	s->waits[q->id] |= SESSION_WAITS_NODES;
}

void session_wait_for_podgroups(struct session *s, const struct queue *q)
{
	s->waits[q->id] |= SESSION_WAITS_PODGROUPS;
}

void session_wait_until(struct session *s, const struct queue *q, int64_t at)
{
	if (at < s->timers[q->id]) {
		s->timers[q->id] = at;
	}
}

int32_t session_podgroup_ready_count(const struct session *s, const struct podgroup *g)
{
	int32_t count = 0;

	for (enum task_status i = 0; i < TASK_STATUS_COUNT_; i++) {
		if (session_is_ready_status(i)) {
			count += (int32_t)session_podgroup_count(s, g, i);
		}
	}
	return count;
}

int32_t session_podgroup_best_effort_pending(const struct session *s, const struct podgroup *g)
{
	return (int32_t)session_priv_podgroup(s, g)->best_effort_pending;
}
