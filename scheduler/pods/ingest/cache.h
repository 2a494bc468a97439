/* scheduler/pods/ingest/cache.h: owner of the cluster: turns messages (objects seen, outcomes of
 * writes) into changes of struct cluster and its ledger, and assumes the decisions of a cycle.
 * Owner: the sched thread. No I/O, no clock: struct cache_time is given. Metrics, events and
 * controllers learn of changes through cache_listener.
 *
 * Rules kept here (design of the gate feature): a task that is BINDING ignores pod updates that
 * still lack a node; an UNGATE in flight stays charged until the outcome or a watch event shows it;
 * updates older than the known resourceVersion are ignored; an object with another UID replaces the
 * old one (its charge is released first); evicted pods leave the ledger when they are gone; a
 * charge stays on the queue that granted it until a cycle moves it (pods/cycle/moves.h); after
 * leadership was gained charges are rebuilt from headgate.io/reserved: that of a pod on a node is
 * booked on the queue that the mark names while that queue exists, else on its PodGroup's, and what
 * exceeds a limit then the next cycle revokes, youngest first.
 *
 * An object that cannot be read is reported, and no account forgets it: a pod that has a node, our
 * gate or a reservation is charged by what can be read of it, completed by its last known version;
 * a PodGroup gives its members their queue and starts none; a node gets no more pods. Nothing else
 * is decided for it before it changes; that its pod has ended still ends a charge.
 *
 * Others who work under our scheduler names are recognised by what Headgate leaves on everything it
 * writes, in the same write: headgate.io/bound-by on the pods that it binds and headgate.io/made-by
 * on its PodGroups. So former leaders and lost answers are never taken for others. Only changes
 * that were seen to happen after cache_rebuild_ledger are reported:
 * - A bind is foreign when a pod of ours that was known without a node shows one and lacks the
 * mark, unless a bind of ours to that very node is under way. Pods that have a node when they are
 * first seen (first LIST, created with nodeName) are not reported.
 * - A PodGroup is foreign when it is new here, was created since, lacks the mark, is named as our
 *   PodGroup controller would name it ("podgroup-" and the UID of its owner), and a pod of ours
 *   belongs to it.
 * A doubtful case is not reported. */
#ifndef SCHEDULER_PODS_INGEST_CACHE_H
#define SCHEDULER_PODS_INGEST_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "scheduler/base/message.h"

struct cache;
struct cluster;
struct metric_registry;
struct decisions;
struct podgroup;
struct node;
struct queue;
struct task;

/* Called on the sched thread while a message is applied; each may be NULL. */
struct cache_listener {
	void (*on_pod)(void *ctx, const struct task *t,
		       const void *pod_object);               /* upserted; pod_object: struct pod */
	void (*on_pod_gone)(void *ctx, const struct task *t); /* before it is removed */
	/* object NULL: deleted; its tasks and its spec are still there. */
	void (*on_podgroup)(void *ctx, const struct podgroup *g, const void *podgroup_object);
	void (*on_queue)(void *ctx, const struct queue *q,
			 const void *queue_object); /* object NULL: deleted */
	void (*on_foreign_bind)(void *ctx, const struct task *t, const char *node);
	void (*on_foreign_podgroup)(void *ctx, const struct podgroup *g); /* once per PodGroup */
	/* Whether a Workload holds quota for this pod of ours, so that it is charged to no Queue.
	 * NULL: never. */
	bool (*is_charged_to_workload)(void *ctx, const void *pod_object);
	/* The number of resource names of nodes and Queues has changed; left_out: how many are
	 * ignored, since there are more than RES_NAMES_MAX. */
	void (*on_resources)(void *ctx, unsigned counted, size_t left_out);
	void (*on_bad_object)(void *ctx, enum sched_resource r, struct str key, const char *text);
	void *ctx;
};

/* Two clocks. Everything that lasts (a reservation, a backoff) is measured by `now`, which no step
 * of the wall clock moves. The wall time is for comparison with times that objects carry. */
struct cache_time {
	int64_t now;  /* the wall time at which the process began, and what has passed since */
	int64_t wall; /* ns since 1970 */
};

struct cache_options {
	const char *const *scheduler_names; /* NULL-terminated */
	const char *const *gate_schedulers; /* NULL-terminated: pods of these are gated and charged,
					       and placed by others; NULL: none */
	/* --gate-sticky=false: a pod is opted in as long as its annotation says so. With false here
	 * a pod that has had our gate or our mark stays opted in. */
	bool annotation_decides;
	/* Pods without PodGroup and owner are groups of their own: no object is made for them. */
	bool implies_podgroups;
	bool reads_budgets; /* PodDisruptionBudgets come as well */
	const char *default_queue;
	/* The greatest age of a publication that was made by an earlier process: that one had
	 * another clock, or this clock has been set since. */
	int64_t found_age_max_ns;
	/* min_ns and held_ns of attempts_pause (pods/ledger/attempts.h), for pods of which a
	 * reservation timed out before this process started. */
	int64_t attempt_least_ns, attempt_held_ns;
	struct metric_registry *counters;
	struct cache_listener listener;
};

struct cache *cache_create(const struct cache_options *opt);
void cache_destroy(struct cache *c);
/* Finishes work deferred while LISTs came in; the cluster is consistent then. */
struct cluster *cache_cluster(struct cache *c);
/* Applies UPSERT, DELETE, BAD_OBJECT, SYNCED, REQUEST_DONE; the caller frees the message.
 * REQUEST_DONE: resource_version of the answer, when it is known, hides older updates of the pod.
 */
void cache_apply(struct cache *c, const struct sched_msg *m, struct cache_time time);
/* The pod is charged to its Queue from now on, although is_charged_to_workload was true. No effect
 * on unknown pods. */
void cache_pod_here(struct cache *c, struct str key);
bool cache_is_synced(const struct cache *c); /* every basic resource had its first LIST */
/* Call once when synced and leading, and again after every gain of leadership: rebuilds all charges
 * from the pods. From then on, foreign binds and PodGroups are detected. */
void cache_rebuild_ledger(struct cache *c, int64_t wall);
/* True when something changed since the last call (a cycle is worth running). */
bool cache_take_dirty(struct cache *c);

#endif
