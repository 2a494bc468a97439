/* scheduler/pods/session/hooks.h: the plugins of one configuration, compiled: for each extension
 * point a dense array in tier order with the switches resolved, and one typed function that actions
 * and the session call: hooks_<extension point>(session, ...). Thread: sched; owner: struct cycle.
 * Pure.
 *
 * Every order ends in a unique key, so that equal input gives equal output: queues by creation
 * time, then UID, then name; PodGroups by creation time, then UID, then namespace and name; tasks
 * by the number at the end of the pod name when both names have at least three parts joined by
 * dashes, then creation time, UID, namespace and name. Negative: a goes first. */
#ifndef SCHEDULER_PODS_SESSION_HOOKS_H
#define SCHEDULER_PODS_SESSION_HOOKS_H

#include <stdbool.h>
#include <stddef.h>

#include "scheduler/pods/session/plugin.h"

struct err;
struct hooks;
struct sched_conf;
struct strbuf;

/* Creates the state of every plugin of conf that has a row with functions; rows without functions
 * and names without a row are left out (conf_parse warned about them). Arguments that do not parse:
 * -ERR_INVALID naming plugin and argument. conf may be destroyed afterwards. */
int hooks_create(const struct sched_conf *conf, const struct plugin_row *rows, size_t nrows,
		 struct hooks **ret, struct err *err);
void hooks_destroy(struct hooks *h); /* NULL is fine */

/* Opens a session: plugins are called in configured order, and in reverse order at its end
 * (hooks_close). */
void hooks_open(const struct hooks *h, struct session *s);
/* The other end of hooks_open. */
void hooks_close(const struct hooks *h, struct session *s);

/* Whether some plugin needs PodDisruptionBudgets (plugin_ops.needs_budgets). */
bool hooks_needs_budgets(const struct hooks *h);
/* Whether some plugin limits quota: without one no gate may be removed. */
bool hooks_has_quota_plugin(const struct hooks *h);
/* Fills limits[0 .. queues.n - 1], by queue id: RES_UNLIMITED where no quota plugin limits. */
void hooks_quota_limits(const struct hooks *h, struct session *s, struct res *limits);

/* The order in which queues are served. */
int hooks_queue_order(const struct session *s, const struct queue *a, const struct queue *b);
/* The order of two PodGroups of a queue by the plugins alone; 0: they have no preference. */
int hooks_job_preference(const struct session *s, const struct podgroup *a,
			 const struct podgroup *b);
/* The same, by age and name where the plugins have no preference: never 0. */
int hooks_job_order(const struct session *s, const struct podgroup *a, const struct podgroup *b);
/* The order of two tasks of a PodGroup. */
int hooks_task_order(const struct session *s, const struct task *a, const struct task *b);

/* Whether pods may be reserved or placed directly in q at all (open, unbroken, a leaf where quota
 * is hierarchical). Asked before reserving for opted-in pods; hooks_allocatable includes it. The
 * code of the reason is said of the queue: "is not open". */
bool hooks_queue_accepts(const struct session *s, const struct queue *q, struct reason *why);
/* The ordinary quota vote, for a pod without a charge that did not opt in. */
bool hooks_allocatable(struct session *s, const struct queue *q, const struct task *t,
		       struct reason *why);
/* True when some plugin wants nothing more allocated from q in this cycle. */
bool hooks_overused(const struct session *s, const struct queue *q);

/* Whether a Pending PodGroup may become Inqueue. */
bool hooks_job_enqueueable(struct session *s, const struct podgroup *g, struct reason *why);
/* Notifies the plugins after it has become Inqueue. */
void hooks_job_enqueued(struct session *s, const struct podgroup *g);
/* Whether the PodGroup's namespace may use its queue, and the PodGroup has the tasks that it needs,
 * in whatever state. The reason's code is the reason of the PodGroup condition. */
bool hooks_job_valid(struct session *s, const struct podgroup *g, struct reason *why);
/* Whether enough tasks have a node for the PodGroup to be committed. */
bool hooks_job_ready(const struct session *s, const struct podgroup *g);
/* The same, where tasks that wait for resources to be released count as well. */
bool hooks_job_pipelined(const struct session *s, const struct podgroup *g);

/* The predicates: whether a pod may be on a node. Why not is in *why, which may be NULL.
 * class_predicate: the part that depends on class and node spec only; worth caching per class and
 * node->spec_gen. */
bool hooks_class_predicate(const struct session *s, const struct pod_class *k, const struct node *n,
			   struct reason *why);
/* The part that depends on the class and on the pods that are on the node now. */
bool hooks_node_predicate(const struct session *s, const struct task *t, const struct node *n,
			  struct reason *why);
/* The part that depends on the view of t and on the topology domains of the node. later: as it will
 * be when the pods that terminate are gone. */
bool hooks_domain_predicate(const struct session *s, const struct task *t, const struct node *n,
			    bool later, struct reason *why);
/* The node and the domain predicate. */
bool hooks_predicate(const struct session *s, const struct task *t, const struct node *n,
		     struct reason *why);
/* The same, as it will be when the pods that terminate there are gone. */
bool hooks_predicate_later(const struct session *s, const struct task *t, const struct node *n);
/* Whether pods may be evicted for the PodGroup: it lacks nodes for pods that need them. */
bool hooks_job_starving(const struct session *s, const struct podgroup *g);
/* Whether the victim may be evicted for t, of the same queue. Each plugin that has a say must
 * agree, in whatever tier: a later tier gives away nothing that an earlier one protects, nor the
 * other way round. False without such plugins. */
bool hooks_preemptable(struct session *s, const struct task *t, const struct task *victim);
/* The same for a victim of another queue. */
bool hooks_reclaimable(struct session *s, const struct task *t, const struct task *victim);
/* The same two for actions that work out by themselves which pods a gang can spare: plugins with
 * keeps_gangs are not asked. */
bool hooks_gang_preemptable(struct session *s, const struct task *t, const struct task *victim);
bool hooks_gang_reclaimable(struct session *s, const struct task *t, const struct task *victim);
/* Whether other queues may get back anything from q. */
bool hooks_queue_gives(const struct session *s, const struct queue *q);
/* Whether q may get back from other queues what t requests. */
bool hooks_preemptive(struct session *s, const struct queue *q, const struct task *t);
/* The higher the better, rounded to 1e-6. */
double hooks_node_score(const struct session *s, const struct pod_class *k, const struct node *n);
/* Appends a text; two classes with the same shape and text have the same scores in this session. */
void hooks_node_score_key(const struct session *s, const struct pod_class *k, struct strbuf *out);

/* scores[0 .. n - 1]: the part of each node's score that depends on the pods in its topology
 * domains. */
void hooks_domain_scores(const struct session *s, const struct task *t,
			 const struct node *const *nodes, size_t n, double *scores);
/* Whether some plugin has domain_scores: without one preferences about other pods have no effect.
 */
bool hooks_scores_domains(const struct session *s);

/* Notifies the plugins after a task got quota in the session, and again after it was put on a node;
 * hooks_on_deallocate after either was undone. */
void hooks_on_allocate(struct session *s, const struct task *t);
/* See hooks_on_allocate. */
void hooks_on_deallocate(struct session *s, const struct task *t);

#endif
