/* scheduler/pods/session/plugin.h: the extension points of plugins, one strictly typed optional
 * function each. The points have Volcano's names, where a PodGroup is a job: jobOrder, jobReady and
 * so on are what its configuration switches. A plugin is a const struct plugin_ops in one file of
 * pods/plugins and one row of pods/plugins/registry.c. `state` is the plugin's own memory across
 * cycles (derived caches only); memory for one cycle comes from session_arena(). Combination rules
 * over tiers (pods/session/combine.h) follow Volcano: orders: first non-zero; boolean votes: all
 * must agree; enum vote: a reject wins, a tier with a permit ends the walk. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_SESSION_PLUGIN_H
#define SCHEDULER_PODS_SESSION_PLUGIN_H

#include <stdbool.h>

#include "base/str.h"
#include "scheduler/pods/model/model.h"

struct conf_arg;
struct conf_args_row;
struct err;
struct session;
struct strbuf;

enum vote { VOTE_REJECT = -1, VOTE_ABSTAIN = 0, VOTE_PERMIT = 1 };

/* Why something was refused. `code` is a short text used to count and aggregate ("Insufficient
 * cpu"), static or in the session arena, as detail is. */
struct reason {
	const char *code;
	const char *detail; /* or NULL */
	bool unresolvable;  /* evicting pods would not help */
	bool everywhere;    /* it is about the pod: the same for every node */
};

struct plugin_args {
	const struct conf_arg *v;
	size_t n;
	bool hierarchy;               /* enableHierarchy of this plugin entry */
	bool feature_gates_admission; /* SchedulingGatesQueueAdmission */
};

struct plugin_ops {
	const char *name;
	/* Of all arguments that `create` reads, and of those that Volcano has beside them; NULL:
	 * none. */
	const struct conf_args_row *arguments;
	int (*create)(const struct plugin_args *args, void **ret_state, struct err *err);
	void (*destroy)(void *state);
	/* PodDisruptionBudgets and the labels of pods are read for it, and victims are evicted by
	 * the Eviction API, which goes by budgets as well. */
	bool needs_budgets;
	void (*open)(void *state, struct session *s);
	void (*close)(void *state, struct session *s);

	int (*job_order)(void *state, const struct session *s, const struct podgroup *a,
			 const struct podgroup *b);
	int (*queue_order)(void *state, const struct session *s, const struct queue *a,
			   const struct queue *b);
	int (*task_order)(void *state, const struct session *s, const struct task *a,
			  const struct task *b);

	enum vote (*job_enqueueable)(void *state, struct session *s, const struct podgroup *g,
				     struct reason *why);
	void (*job_enqueued)(void *state, struct session *s, const struct podgroup *g);
	bool (*job_valid)(void *state, struct session *s, const struct podgroup *g,
			  struct reason *why);
	bool (*job_ready)(void *state, const struct session *s, const struct podgroup *g);
	enum vote (*job_pipelined)(void *state, const struct session *s, const struct podgroup *g);
	bool (*overused)(void *state, const struct session *s, const struct queue *q);
	/* Whether pods may be reserved or placed directly in q at all, whatever its room: open, not
	 * broken, a leaf where quota is hierarchical. The code of the reason is said of the queue:
	 * "is not open". */
	bool (*queue_accepts)(void *state, const struct session *s, const struct queue *q,
			      struct reason *why);
	/* Ordinary quota vote for a pod without a charge that did not opt in (Volcano's
	 * AllocatableFn). */
	bool (*allocatable)(void *state, struct session *s, const struct queue *q,
			    const struct task *t, struct reason *why);
	/* A quota plugin lowers limits[queue id] (all start unlimited) to the configured limit of
	 * each queue, never clipped to the present cluster size. A plugin with this function is a
	 * "quota plugin": without one no gate is removed. */
	void (*quota_limits)(void *state, struct session *s, struct res *limits);

	/* The part of the predicate that depends on class and node spec only (cached per class). */
	bool (*class_predicate)(void *state, const struct session *s, const struct pod_class *k,
				const struct node *n, struct reason *why);
	/* The part that depends on what is on the node now (ports, pod count). Of the task it may
	 * look at its class alone, without its terms about other pods. */
	bool (*predicate)(void *state, const struct session *s, const struct task *t,
			  const struct node *n, struct reason *why);
	/* The same, without the pods that terminate there. */
	bool (*predicate_later)(void *state, const struct session *s, const struct task *t,
				const struct node *n);
	/* The part that depends on the pods in the topology domains of the node, for pods that have
	 * a view of them (pods/session/domains.h). Of the task it may look at its class and its
	 * view alone, and of the node at its domains for the keys of the view: it is asked about
	 * one node for all that have the same. later: without the pods that terminate. */
	bool (*domain_predicate)(void *state, const struct session *s, const struct task *t,
				 const struct node *n, bool later, struct reason *why);

	/* Whether pods may be evicted for the PodGroup. */
	bool (*job_starving)(void *state, const struct session *s, const struct podgroup *g);
	/* Whether the victim may be evicted for t: of the same queue, or (reclaimable) of another
	 * one. Asked for one victim after the other: the session shows the earlier ones as
	 * releasing. */
	bool (*preemptable)(void *state, struct session *s, const struct task *t,
			    const struct task *victim);
	bool (*reclaimable)(void *state, struct session *s, const struct task *t,
			    const struct task *victim);
	bool reclaims_by_hierarchy; /* it is asked so with enableHierarchy only */
	/* Both keep gangs at their minimum: the actions that evict gangs as a whole see to that by
	 * themselves, and do not ask it. */
	bool keeps_gangs;
	/* False: no pod of q is reclaimable in this session, for whatever pod of another queue.
	 * Spares looking at them. */
	bool (*queue_gives)(void *state, const struct session *s, const struct queue *q);
	/* Whether q may reclaim for t. */
	bool (*preemptive)(void *state, struct session *s, const struct queue *q,
			   const struct task *t);

	/* Added up; rounded to 1e-6 before comparing. Must depend on class and node (with its
	 * overlay) only. */
	double (*node_score)(void *state, const struct session *s, const struct pod_class *k,
			     const struct node *n);

	/* Appends a text about the parts of the class beyond its shape (pods/values/pod_class.h) on
	 * which node_score depends: classes with the same shape and text have the same scores. The
	 * text stays the same during a session. */
	void (*node_score_key)(void *state, const struct session *s, const struct pod_class *k,
			       struct strbuf *out);

	/* Adds to scores[i] the part that depends on the pods in the topology domains of nodes[i],
	 * under the conditions of domain_predicate. The nodes stand for all into which the class
	 * may go, one for those in the same domains: scores may be relative to each other. Asked
	 * for pods with a view alone, when domains_view_score_version has changed. */
	void (*domain_scores)(void *state, const struct session *s, const struct task *t,
			      const struct node *const *nodes, size_t n, double *scores);

	/* A task got quota or a node, in this order if both; the other one: that was undone. */
	void (*on_allocate)(void *state, struct session *s, const struct task *t);
	void (*on_deallocate)(void *state, struct session *s, const struct task *t);
};

/* Sorted by name. Plugins of Volcano's that have no implementation here have ops NULL: they are
 * left out with one warning. */
struct plugin_row {
	const char *name;
	const struct plugin_ops *ops;
};
extern const struct plugin_row plugin_registry[];
extern const size_t plugin_registry_count;

#endif
