/* scheduler/pods/model/budgets.h: PodDisruptionBudgets, and which of them covers which pod: kept up
 * with each change of a selector (O(pods of the namespace)) and of a pod's labels (O(budgets of the
 * namespace)). Where no plugin needs them, none is read and no labels are kept. What a budget
 * allows is taken from its status, as the API server does that grants evictions. Owner: the sched
 * thread. Pure. */
#ifndef SCHEDULER_PODS_MODEL_BUDGETS_H
#define SCHEDULER_PODS_MODEL_BUDGETS_H

#include <stdbool.h>

#include "base/str.h"
#include "scheduler/pods/model/model.h"

#define BUDGETS_MAX 1000 /* in a namespace */

struct api_disruption_budget;
struct err;
struct field_map;

/* They are read from now on: before the first pod. */
void budgets_begin(struct cluster *c);
void budgets_finish(struct cluster *c); /* of cluster_destroy */
/* Adds or updates. -ERR_INVALID: its selector is not valid, or it is one too many in its namespace
 * and is left out (the API server goes by it, too); a known one stays as it was. */
int budgets_set(struct cluster *c, const struct api_disruption_budget *object, struct err *err);
struct budget *budgets_find(const struct cluster *c, struct str key); /* NULL */
/* False: it is not known. */
bool budgets_remove(struct cluster *c, struct str key);
/* labels NULL: no budget matters to the pod. No effect where none is read. */
void budgets_set_labels(struct cluster *c, struct task *t, const struct field_map *labels);
/* The eviction of t was decided; granted false: and is not carried out after all. */
void budgets_evict(struct cluster *c, const struct task *t, bool granted);
/* The budget of t; NULL: none, or several. */
static inline struct budget *budgets_of(const struct cluster *c, const struct task *t)
{
	return t->budget >= TASK_BUDGETS_SEVERAL ? NULL : c->budgets.v[t->budget];
}

#endif
