/* common/api/core/disruption_budget.h: policy/v1 PodDisruptionBudget, as far as evictions depend on
 * it: how many pods may go is what the disruption controller says in the status. Plain data in an
 * arena. */
#ifndef COMMON_API_CORE_DISRUPTION_BUDGET_H
#define COMMON_API_CORE_DISRUPTION_BUDGET_H

#include "api/meta/meta.h"
#include "api/meta/selector.h"
#include "enc/field.h"

struct api_disruption_budget_spec {
	struct api_label_selector *selector; /* NULL: selects no pod; an empty one: all */
	const char *unhealthy_policy;        /* unhealthyPodEvictionPolicy */
};
struct api_disruption_budget_status {
	int32_t allowed; /* disruptionsAllowed */
	int32_t current_healthy, desired_healthy;
	int64_t observed_generation;
};
struct api_disruption_budget {
	const char *api_version, *kind;
	struct api_meta meta;
	struct api_disruption_budget_spec spec;
	struct api_disruption_budget_status status;
};

extern const struct field_table disruption_budget_fields;

/* The evictions that the API server grants by it now: none below 0, and none before the status is
 * about the present spec. */
int32_t disruption_budget_allowed(const struct api_disruption_budget *b);
/* Whether the API server evicts pods that run and are not ready, however few the budget allows: by
 * the policy AlwaysAllow, or, as by IfHealthyBudget, which is the default, since enough pods are
 * healthy. */
bool disruption_budget_lets_unready_go(const struct api_disruption_budget *b);

#endif
