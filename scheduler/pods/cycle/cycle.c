#include "scheduler/pods/cycle/cycle.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/xmalloc.h"
#include "scheduler/pods/conf/conf.h"
#include "scheduler/pods/cycle/awaited_quota.h"
#include "scheduler/pods/cycle/claims.h"
#include "scheduler/pods/cycle/due.h"
#include "scheduler/pods/cycle/holds.h"
#include "scheduler/pods/cycle/moves.h"
#include "scheduler/pods/cycle/overdue.h"
#include "scheduler/pods/cycle/revoke.h"
#include "scheduler/pods/cycle/status.h"
#include "scheduler/pods/cycle/stuck.h"
#include "scheduler/pods/session/action.h"
#include "scheduler/pods/session/hooks.h"
#include "scheduler/pods/session/session_priv.h"

struct cycle {
	const struct sched_conf *conf;
	struct hooks *hooks;
	struct session *session;
	const struct action_row **actions;
	size_t nactions;
	struct cycle_stats stats;
	bool has_run; /* the last cycle opened the session */
};

static const struct action_row *find_action(const char *name)
{
	for (size_t i = 0; i < action_registry_count; i++) {
		if (strcmp(action_registry[i].name, name) == 0) {
			return &action_registry[i];
		}
	}
	return NULL;
}

/* Skips actions of Volcano that are not implemented here. */
static int resolve_actions(struct cycle *c, struct err *err)
{
	c->actions = xmalloc_zero(c->conf->nactions + 1, sizeof(c->actions[0]));
	for (size_t i = 0; i < c->conf->nactions; i++) {
		const struct action_row *row = find_action(c->conf->actions[i].name);

		if (row == NULL) {
			return err_set(err, ERR_INVALID, "action %s is not known",
				       c->conf->actions[i].name);
		}
		if (row->run != NULL) {
			c->actions[c->nactions++] = row;
		}
		if (row->check != NULL && row->check(&c->conf->actions[i], err) < 0) {
			return -ERR_INVALID;
		}
	}
	return 0;
}

int cycle_create(const struct sched_conf *conf, struct cycle **ret, struct err *err)
{
	struct cycle *c = xmalloc_zero(1, sizeof(*c));
	int r;

	c->conf = conf;
	r = resolve_actions(c, err);
	if (r == 0) {
		r = hooks_create(conf, plugin_registry, plugin_registry_count, &c->hooks, err);
	}
	if (r < 0) {
		cycle_destroy(c);
		return r;
	}
	c->session = session_create(conf, c->hooks);
	*ret = c;
	return 0;
}

bool cycle_needs_budgets(const struct cycle *c)
{
	return hooks_needs_budgets(c->hooks);
}

void cycle_destroy(struct cycle *c)
{
	if (c == NULL) {
		return;
	}
	session_destroy(c->session);
	if (c->hooks != NULL) {
		hooks_destroy(c->hooks);
	}
	free(c->actions);
	free(c);
}

struct cycle_stats cycle_last_stats(const struct cycle *c)
{
	return c->stats;
}

const struct session *cycle_last_session(const struct cycle *c)
{
	return c->has_run ? c->session : NULL;
}

static void find_due(struct cycle *cy, const struct cluster *c, int64_t now)
{
	struct session *s = cy->session;

	due_list(s, c, now, false);
	for (size_t i = 0; i < c->queues.n; i++) {
		const struct queue *q = c->queues.v[i];

		/* A queue that is passed over keeps the timer of its last scan: nothing else would
		 * bring the cycle back to it. */
		if (q != NULL && !session_is_due(s, q)) {
			cy->stats.queues_skipped++;
			if (q->scan.timer_at < cy->stats.next_timer) {
				cy->stats.next_timer = q->scan.timer_at;
			}
		}
	}
	cy->stats.queues_scanned = s->queues_due;
}

/* Whether a pod is to be withdrawn that no queue lists. One of which a write has failed waits for
 * its backoff: it alone does not make the cycle run. */
static bool has_stranded(struct cycle *cy, const struct cluster *c, int64_t now)
{
	bool any = false;

	for (size_t i = 0; i < c->stranded.n; i++) {
		const struct task *t = cluster_task_stranded_at(c, i);

		if (t == NULL || (t->flags & TASK_PARKED) != 0) {
			continue;
		}
		if (cluster_task_may_be_written(t, now)) {
			any = true;
		} else if (t->retry_at < cy->stats.next_timer) {
			cy->stats.next_timer = t->retry_at;
		}
	}
	return any;
}

static void remember_scans(struct cycle *cy, const struct cluster *c)
{
	struct session *s = cy->session;

	for (size_t i = 0; i < c->queues.n; i++) {
		const struct queue *q = c->queues.v[i];
		struct decision *d;

		if (q == NULL || !session_is_due(s, q)) {
			continue;
		}
		d = decision_add(&s->decisions, DECISION_QUEUE_SCANNED);
		d->queue = q->id;
		due_scan(s, q, &d->scan);
		if (d->scan.timer_at < cy->stats.next_timer) {
			cy->stats.next_timer = d->scan.timer_at;
		}
	}
}

static void trace_phase(const struct cycle_trace *trace, const char *name, bool begin)
{
	if (trace != NULL && trace->phase != NULL) {
		trace->phase(trace->ctx, name, begin);
	}
}

static void run_phases(struct cycle *cy, const struct cluster *c, int64_t now,
		       const struct cycle_trace *trace)
{
	struct session *s = cy->session;

	trace_phase(trace, "open", true);
	session_open(s, c, now);
	trace_phase(trace, "open", false);
	trace_phase(trace, "revoke", true);
	/* Moves come first: a charge that finds room elsewhere may bring its old queue within its
	 * limit. */
	moves_run(s);
	revoke_run(s);
	overdue_run(s);
	stuck_run(s);
	claims_run(s);
	/* Before any action gives away what is held. */
	awaited_quota_run(s);
	holds_run(s);
	trace_phase(trace, "revoke", false);
	for (size_t i = 0; i < cy->nactions; i++) {
		trace_phase(trace, cy->actions[i]->name, true);
		cy->actions[i]->run(s);
		trace_phase(trace, cy->actions[i]->name, false);
	}
	trace_phase(trace, "status", true);
	/* The actions may have completed the gangs that hold only a part of their quota. */
	revoke_partial_gangs(s);
	status_run(s);
	trace_phase(trace, "status", false);
	session_close(s);
}

/* 1. Find the queues that changed, and what of them is to be looked at; if there are none, return.
 * 2. Open overlay, plugins, limits.
 * 3. Move charges of edited PodGroups where there is room; revoke charges that are no longer
 *    justified; give pods the room of the pods that were evicted for them.
 * 4. Run the actions in configured order.
 * 5. Report phases, conditions, events.
 * 6. Record each queue's scan: the queue is skipped until something changes that it depends on. */
const struct decisions *cycle_run(struct cycle *cy, const struct cluster *c, int64_t now,
				  const struct cycle_trace *trace)
{
	struct session *s = cy->session;
	bool stranded, stuck, claims;

	arena_reset(s->arena);
	s->decisions.n = 0;
	s->podgroups_seen = s->tasks_seen = s->nodes_scored = 0;
	cy->stats = (struct cycle_stats){
		.next_timer = INT64_MAX,
		.has_quota_plugin = s->has_quota_plugin,
	};
	find_due(cy, c, now);
	/* Asked in any case, for the timer of those that wait for a backoff. */
	stranded = has_stranded(cy, c, now);
	/* Draining also concerns pods in no queue: all pods must be visited. */
	stuck = stuck_is_due(c, now, &cy->stats.next_timer);
	claims = claims_are_due(c, now, &cy->stats.next_timer);
	cy->has_run =
		stranded || stuck || claims || s->queues_due > 0 || !cy->conf->gates_admission;
	if (cy->has_run) {
		run_phases(cy, c, now, trace);
		remember_scans(cy, c);
	}
	cy->stats.podgroups_seen = s->podgroups_seen;
	cy->stats.tasks_seen = s->tasks_seen;
	cy->stats.nodes_scored = s->nodes_scored;
	return &s->decisions;
}
