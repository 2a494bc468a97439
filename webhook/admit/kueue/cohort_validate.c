#include "webhook/admit/kueue/cohort_validate.h"

#include "webhook/admit/kueue/resource_groups.h"

int cohort_validate(const struct admit_request *q, struct admit_answer *ret, struct err *err)
{
	const struct admit_check c = { q, ret };
	struct api_cohort cohort = { 0 }, old = { 0 };
	int verb = admit_check_read(q, &kueue_cohort_fields, &cohort, &old, err);
	/* Kueue's rule: a cohort's lendingLimit may exceed its own quota, since it also lends
	 * what its members leave unused. */
	struct resource_groups_rules rules = { .parent_field = "parentName",
					       .may_lend_more = true };

	if (verb > ADMIT_CHECK_OTHER) {
		rules.has_parent = cohort.spec.parent != NULL;
		admit_check_subdomain(&c, "spec.parentName", cohort.spec.parent);
		resource_groups_check(&c, &cohort.spec.resource_groups, &rules);
		admit_check_weight(&c, &cohort.spec.fair_sharing);
		/* A warning, as for longer cycles, which are not searched for: in Kueue such a
		 * tree is frozen, not refused. */
		if (rules.has_parent && str_streq(cohort.spec.parent, cohort.meta.name)) {
			admit_warn(
				ret, q->arena,
				"spec.parentName: a cohort that is its own parent admits nothing");
		}
	}
	return verb < 0 ? verb : 0;
}
