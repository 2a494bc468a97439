/* scheduler/pods/session/session_priv.h: the inside of a session, for pods/session,
 * pods/search and pods/cycle. Actions and plugins see session.h. */
#ifndef SCHEDULER_PODS_SESSION_SESSION_PRIV_H
#define SCHEDULER_PODS_SESSION_SESSION_PRIV_H

#include "base/arena.h"
#include "scheduler/pods/session/session.h"
#include "scheduler/pods/session/session_overlay.h"

struct domains;
struct fit;
struct ranking_memo;

struct session {
	const struct cluster *cluster;
	const struct sched_conf *conf;
	const struct hooks *hooks;
	struct arena *arena;
	int64_t now;
	struct decisions decisions;
	struct overlay *overlay;
	struct res *limits;      /* by queue id */
	struct res *not_counted; /* revoke.c, by queue id; NULL: no queue was over its limit yet */
	struct fit *fit; /* memory of pods/search/fit.c; NULL: no pod looked for a node yet */
	struct ranking_memo *memo; /* of earlier sessions, too */
	struct domains *domains;
	int64_t *timers;                 /* by queue id: when to look again, INT64_MAX: never */
	uint8_t *due;                    /* by queue id: enum due_part (pods/cycle/due.h) */
	struct podgroup_list *podgroups; /* by queue id: session_podgroups */
	uint8_t *waits;                  /* by queue id: bits of enum session_wait */
	uint8_t *unbound;                /* by queue id; NULL: not counted yet */
	unsigned statements;             /* begun and not ended */
	uint64_t queues_due, podgroups_seen, tasks_seen, nodes_scored;
	bool has_quota_plugin;
};

/* Changes for which a queue that was looked at waits, beyond its own; and whether it has a PodGroup
 * that session_note_held has named. */
enum session_wait { SESSION_WAITS_NODES = 1, SESSION_WAITS_PODGROUPS = 2, SESSION_HOLDS = 4 };

static inline struct overlay_task *session_priv_task(const struct session *s, const struct task *t)
{
	return session_overlay_task(s->overlay, t);
}

static inline struct overlay_podgroup *session_priv_podgroup(const struct session *s,
							     const struct podgroup *g)
{
	return session_overlay_podgroup(s->overlay, g);
}

/* Whether the PodGroup may be one of session_touched_podgroups: else its tasks are as in the
 * cluster. */
static inline bool session_priv_is_touched(const struct session *s, const struct podgroup *g)
{
	const struct overlay_podgroup *slot = &s->overlay->podgroups[g->id];

	return slot->epoch == s->overlay->epoch && slot->touched;
}

/* The queue of t's charge (or of its PodGroup) and its ancestors hold an unbound charge. */
static inline void session_priv_mark_unbound(struct session *s, const struct task *t)
{
	const struct queue *q;

	if (s->unbound == NULL) {
		return;
	}
	QUEUE_FOR_EACH_UP (q, s->cluster, session_task_queue(s, t)) {
		s->unbound[q->id] = 1;
	}
}

#endif
