/* scheduler/pods/core/combine.h: how the answers of several plugins become one. A hook_list holds
 * the plugins that implement one extension point and have it switched on, in tier order. The rules
 * are Volcano's: orders take the first answer that is not 0, boolean votes must all agree, an enum
 * vote is lost by one reject and won by the first tier with a permit, scores are added. Thread:
 * sched. Pure. */
#ifndef SCHEDULER_PODS_CORE_COMBINE_H
#define SCHEDULER_PODS_CORE_COMBINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scheduler/pods/core/plugin.h"

struct hook {
	const struct plugin_ops *ops;
	void *state;
	size_t tier;
};

struct hook_list {
	struct hook *v; /* ascending tier */
	size_t n;
};

/* What one dispatch is about; an extension point reads the members that it is given. */
struct hook_call {
	const struct session *session;
	struct session *mutable_session; /* NULL for those that only read */
	const struct podgroup *podgroup, *other_podgroup;
	const struct queue *queue, *other_queue;
	const struct task *task, *other_task;
	const struct pod_class *klass;
	const struct node *node;
	struct reason *why; /* may be NULL */
};

typedef int (*combine_order_fn)(const struct hook *h, const struct hook_call *c);
typedef bool (*combine_bool_fn)(const struct hook *h, const struct hook_call *c);
typedef enum vote (*combine_vote_fn)(const struct hook *h, const struct hook_call *c);
typedef double (*combine_score_fn)(const struct hook *h, const struct hook_call *c);

/* The first answer that is not 0; 0 when there is none. */
int combine_order(const struct hook_list *l, combine_order_fn ask, const struct hook_call *c);
/* True when nobody says no; the first refusal ends the walk (its reason stays in c->why). */
bool combine_all(const struct hook_list *l, combine_bool_fn ask, const struct hook_call *c);
/* True when somebody says yes. */
bool combine_any(const struct hook_list *l, combine_bool_fn ask, const struct hook_call *c);
/* Any reject loses; a tier with a permit and without a reject wins, later tiers are not asked; all
 * abstained: won. */
bool combine_vote(const struct hook_list *l, combine_vote_fn ask, const struct hook_call *c);
/* Sum of all answers, rounded to 1e-6 so that equal nodes compare equal. */
double combine_sum(const struct hook_list *l, combine_score_fn ask, const struct hook_call *c);

#endif
