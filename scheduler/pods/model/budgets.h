/* scheduler/pods/model/budgets.h: PodDisruptionBudgets, and which of them covers which pod: kept up
 * with each change of a selector (O(pods of the namespace)) and of a pod's labels (O(budgets of the
 * namespace)). Where no plugin needs them, none is read and no labels are kept. The number
 * that a budget allows is that of its status, by which the API server grants evictions. Owner: the
 * sched thread. Pure. */
#ifndef SCHEDULER_PODS_MODEL_BUDGETS_H
#define SCHEDULER_PODS_MODEL_BUDGETS_H

#include <stdbool.h>

#include "base/str.h"
#include "scheduler/pods/model/model.h"

#define BUDGETS_MAX 1000 /* in a namespace */

struct api_label_selector;
struct err;
struct field_map;

/* One as it was read. */
struct budgets_spec {
	struct str namespace_, name;
	const char *uid;
	int64_t generation;                        /* of the selector; 0: not known */
	const struct api_label_selector *selector; /* NULL: covers no pod */
	uint32_t allowed;
	bool unready_go;
};

/* They are read from now on: before the first pod. */
void budgets_begin(struct cluster *c);
void budgets_finish(struct cluster *c); /* of cluster_destroy */
/* Adds or updates. -ERR_INVALID: its selector is not valid, or it is one too many in its namespace
 * and is left out (the API server goes by it, too); a known one stays as it was. */
int budgets_set(struct cluster *c, const struct budgets_spec *spec, struct err *err);
struct budget *budgets_find(const struct cluster *c, struct str key); /* NULL */
/* False: it is not known. */
bool budgets_remove(struct cluster *c, struct str key);
/* labels NULL: no budget matters to the pod. No effect where none is read. */
void budgets_set_labels(struct cluster *c, struct task *t, const struct field_map *labels);
/* was: what TASK_UNREADY said before the update of the pod, which has cleared it. No effect where
 * none is read. */
void budgets_set_unready(struct cluster *c, struct task *t, bool was, bool is);
/* The eviction of t was decided; granted false: and is not carried out after all. */
void budgets_evict(struct cluster *c, const struct task *t, bool granted);
/* The budget of t; NULL: none, or several. */
static inline struct budget *budgets_of(const struct cluster *c, const struct task *t)
{
	return t->budget >= TASK_BUDGETS_SEVERAL ? NULL : c->budgets.v[t->budget];
}
/* Whether the API server asks the budgets of t before it evicts it, and counts it: not for a pod
 * that has not started, and by its policy (disruption_budget_lets_unready_go) not for one that is
 * not ready. */
static inline bool budgets_guard(const struct cluster *c, const struct task *t)
{
	const struct budget *b = budgets_of(c, t);

	return t->budget != MODEL_NONE && t->status != TASK_BOUND &&
	       (b == NULL || !b->unready_go || (t->flags & TASK_UNREADY) == 0);
}

#endif
