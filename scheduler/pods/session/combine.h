/* scheduler/pods/session/combine.h: how the answers of several plugins become one. A hook_list
 * holds the plugins that implement one extension point and have it switched on, in tier order. The
 * macros call the function `point` of each with its state and the further arguments, which the
 * compiler checks against struct plugin_ops. The rules are Volcano's. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_SESSION_COMBINE_H
#define SCHEDULER_PODS_SESSION_COMBINE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "scheduler/pods/session/plugin.h"

struct hook {
	const struct plugin_ops *ops;
	void *state;
	size_t tier;
};

struct hook_list {
	struct hook *v; /* ascending tier */
	size_t n;
};

#define COMBINE_EACH(list, point, ...)                                                             \
	do {                                                                                       \
		const struct hook_list *list_ = (list);                                            \
                                                                                                   \
		for (size_t i_ = 0; i_ < list_->n; i_++) {                                         \
			list_->v[i_].ops->point(list_->v[i_].state, __VA_ARGS__);                  \
		}                                                                                  \
	} while (0)

/* Orders: the first answer that is not 0; 0 when there is none. */
#define COMBINE_ORDER(list, point, ...)                                                            \
	({                                                                                         \
		const struct hook_list *list_ = (list);                                            \
		int order_ = 0;                                                                    \
                                                                                                   \
		for (size_t i_ = 0; i_ < list_->n && order_ == 0; i_++) {                          \
			order_ = list_->v[i_].ops->point(list_->v[i_].state, __VA_ARGS__);         \
		}                                                                                  \
		order_;                                                                            \
	})

/* True when no plugin says no: the first refusal ends the walk, so that its reason stays. */
#define COMBINE_ALL(list, point, ...)                                                              \
	({                                                                                         \
		const struct hook_list *list_ = (list);                                            \
		bool all_ = true;                                                                  \
                                                                                                   \
		for (size_t i_ = 0; i_ < list_->n && all_; i_++) {                                 \
			all_ = list_->v[i_].ops->point(list_->v[i_].state, __VA_ARGS__);           \
		}                                                                                  \
		all_;                                                                              \
	})

/* True when one plugin says yes. */
#define COMBINE_ANY(list, point, ...)                                                              \
	({                                                                                         \
		const struct hook_list *list_ = (list);                                            \
		bool any_ = false;                                                                 \
                                                                                                   \
		for (size_t i_ = 0; i_ < list_->n && !any_; i_++) {                                \
			any_ = list_->v[i_].ops->point(list_->v[i_].state, __VA_ARGS__);           \
		}                                                                                  \
		any_;                                                                              \
	})

/* The first tier that has such a plugin decides: true when all of its plugins say yes. */
#define COMBINE_FIRST_TIER(list, point, ...)                                                       \
	({                                                                                         \
		const struct hook_list *list_ = (list);                                            \
		bool all_ = list_->n > 0;                                                          \
                                                                                                   \
		for (size_t i_ = 0;                                                                \
		     i_ < list_->n && all_ && list_->v[i_].tier == list_->v[0].tier; i_++) {       \
			all_ = list_->v[i_].ops->point(list_->v[i_].state, __VA_ARGS__);           \
		}                                                                                  \
		all_;                                                                              \
	})

/* Any reject loses; a tier with a permit and without a reject wins, later tiers are not asked; all
 * abstained: won. */
#define COMBINE_VOTE(list, point, ...)                                                             \
	({                                                                                         \
		const struct hook_list *list_ = (list);                                            \
		enum vote vote_ = VOTE_ABSTAIN;                                                    \
		bool permitted_ = false;                                                           \
                                                                                                   \
		for (size_t i_ = 0; i_ < list_->n && vote_ != VOTE_REJECT; i_++) {                 \
			const struct hook *hook_ = &list_->v[i_];                                  \
                                                                                                   \
			if (permitted_ && hook_->tier != hook_[-1].tier) {                         \
				break;                                                             \
			}                                                                          \
			vote_ = hook_->ops->point(hook_->state, __VA_ARGS__);                      \
			permitted_ = permitted_ || vote_ == VOTE_PERMIT;                           \
		}                                                                                  \
		vote_ != VOTE_REJECT;                                                              \
	})

/* Sum of all answers, rounded to 1e-6 so that equal nodes compare equal. */
#define COMBINE_SUM(list, point, ...)                                                              \
	({                                                                                         \
		const struct hook_list *list_ = (list);                                            \
		double sum_ = 0;                                                                   \
                                                                                                   \
		for (size_t i_ = 0; i_ < list_->n; i_++) {                                         \
			sum_ += list_->v[i_].ops->point(list_->v[i_].state, __VA_ARGS__);          \
		}                                                                                  \
		round(sum_ / 1e-6) * 1e-6;                                                         \
	})

#endif
