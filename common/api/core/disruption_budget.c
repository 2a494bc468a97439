#include "api/core/disruption_budget.h"

static const struct field spec_rows[] = {
	F_OBJ_PTR(struct api_disruption_budget_spec, selector, "selector", selector_fields),
	F_STR(struct api_disruption_budget_spec, unhealthy_policy, "unhealthyPodEvictionPolicy"),
};
static const struct field_table spec_fields =
	FIELD_TABLE(struct api_disruption_budget_spec, spec_rows);

static const struct field status_rows[] = {
	F_I64(struct api_disruption_budget_status, observed_generation, "observedGeneration"),
	F_I32(struct api_disruption_budget_status, allowed, "disruptionsAllowed"),
	F_I32(struct api_disruption_budget_status, current_healthy, "currentHealthy"),
	F_I32(struct api_disruption_budget_status, desired_healthy, "desiredHealthy"),
};
static const struct field_table status_fields =
	FIELD_TABLE(struct api_disruption_budget_status, status_rows);

static const struct field budget_rows[] = {
	F_STR(struct api_disruption_budget, api_version, "apiVersion"),
	F_STR(struct api_disruption_budget, kind, "kind"),
	F_OBJ(struct api_disruption_budget, meta, "metadata", meta_fields),
	F_OBJ(struct api_disruption_budget, spec, "spec", spec_fields),
	F_OBJ(struct api_disruption_budget, status, "status", status_fields),
};
const struct field_table disruption_budget_fields =
	FIELD_TABLE(struct api_disruption_budget, budget_rows);

int32_t disruption_budget_allowed(const struct api_disruption_budget *b)
{
	return b->status.observed_generation < b->meta.generation || b->status.allowed < 0
		       ? 0
		       : b->status.allowed;
}

bool disruption_budget_lets_unready_go(const struct api_disruption_budget *b)
{
	return str_streq(b->spec.unhealthy_policy, "AlwaysAllow") ||
	       (b->status.desired_healthy > 0 &&
		b->status.current_healthy >= b->status.desired_healthy);
}
