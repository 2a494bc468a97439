#include "api/kueue/kueue.h"
#include "base/err.h"
#include "scheduler/workloads/ingest/from_kueue_priv.h"

static int check(const struct quota_model *q, const struct api_cohort *c, double *ret_weight,
		 struct err *err)
{
	if (from_kueue_check_names(q, c->meta.name, err) < 0 ||
	    from_kueue_groups_check(&c->spec.resource_groups, err) < 0) {
		return -ERR_INVALID;
	}
	return from_kueue_weight(c->spec.fair_sharing.weight, ret_weight, err);
}

int from_kueue_cohort(struct quota_model *q, const struct api_cohort *c, struct err *err)
{
	struct quota_node *n;
	double weight;

	if (check(q, c, &weight, err) < 0) {
		return err_wrap(err, "Cohort %s", c->meta.name == NULL ? "" : c->meta.name);
	}
	n = quota_cohort_get(q, str_of(c->meta.name));
	quota_node_clear(n);
	n->exists = true;
	n->weight = weight;
	/* A parent that does not exist stands for a Cohort without quota (Kueue). */
	if (c->spec.parent != NULL) {
		n->parent = quota_name(q, str_of(c->spec.parent));
	}
	from_kueue_groups_fill(q, &c->spec.resource_groups, n);
	return 0;
}
