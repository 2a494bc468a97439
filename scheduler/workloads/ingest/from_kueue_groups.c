#include "api/kueue/kueue.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "scheduler/workloads/ingest/from_kueue_priv.h"

static int check_amount(const struct quantity *amount, const char *field, struct err *err)
{
	if (amount != NULL && amount->nano < 0) {
		return err_set(err, ERR_INVALID, "%s: negative", field);
	}
	return 0;
}

static int check_resource(const struct api_resource_quota *r, struct err *err)
{
	if (r->name == NULL) {
		return err_set(err, ERR_INVALID, "name: missing");
	}
	if (r->nominal == NULL) {
		return err_set(err, ERR_INVALID, "nominalQuota: missing");
	}
	if (check_amount(r->nominal, "nominalQuota", err) < 0 ||
	    check_amount(r->borrowing_limit, "borrowingLimit", err) < 0) {
		return -ERR_INVALID;
	}
	return check_amount(r->lending_limit, "lendingLimit", err);
}

static int check_flavor(const struct api_flavor_quotas *f, struct err *err)
{
	if (f->name == NULL) {
		return err_set(err, ERR_INVALID, "name: missing");
	}
	for (size_t i = 0; i < f->resources.n; i++) {
		if (check_resource(&f->resources.v[i], err) < 0) {
			return err_path(err, "resources[%zu].", i);
		}
	}
	return 0;
}

int from_kueue_groups_check(const struct api_resource_groups *groups, struct err *err)
{
	for (size_t i = 0; i < groups->n; i++) {
		for (size_t k = 0; k < groups->v[i].flavors.n; k++) {
			if (check_flavor(&groups->v[i].flavors.v[k], err) < 0) {
				return err_path(err, "spec.resourceGroups[%zu].flavors[%zu].", i,
						k);
			}
		}
	}
	return 0;
}

/* Quantities are cut off at INT64_MAX, which is QUOTA_UNLIMITED: a limit that is too large to count
 * is none (Kueue). */
static int64_t limit_of(struct str resource, const struct quantity *limit)
{
	return limit == NULL ? QUOTA_NO_LIMIT : from_kueue_amount(resource, *limit);
}

static void fill_cells(struct quota_model *q, const struct api_flavor_quotas *f, uint32_t flavor,
		       struct quota_node *n)
{
	for (size_t i = 0; i < f->resources.n; i++) {
		const struct api_resource_quota *r = &f->resources.v[i];
		struct str name = str_of(r->name);
		struct quota_cell c = {
			.pair = quota_pair_get(q, flavor, quota_resource(q, name)),
			.nominal = from_kueue_amount(name, *r->nominal),
			.borrowing = limit_of(name, r->borrowing_limit),
			.lending = limit_of(name, r->lending_limit),
		};

		quota_node_set_cell(n, c);
	}
}

void from_kueue_groups_fill(struct quota_model *q, const struct api_resource_groups *groups,
			    struct quota_node *n)
{
	for (size_t i = 0; i < groups->n; i++) {
		const struct api_resource_group *a = &groups->v[i];
		struct resource_group g = { .nresources = a->covered_resources.n,
					    .nflavors = a->flavors.n };

		g.resources = xmalloc_zero(g.nresources, sizeof(*g.resources));
		g.flavors = xmalloc_zero(g.nflavors, sizeof(*g.flavors));
		for (size_t k = 0; k < g.nresources; k++) {
			struct str name = str_of(a->covered_resources.v[k]);

			g.resources[k] = quota_resource(q, name);
			/* No container requests pods: the assignment adds them where a queue has
			 * quota for them. */
			if (n->is_queue && str_eq_c(name, "pods")) {
				n->queue->covers_pods = true;
			}
		}
		for (size_t k = 0; k < g.nflavors; k++) {
			const struct api_flavor_quotas *f = &a->flavors.v[k];

			g.flavors[k] = quota_flavor_get(q, str_of(f->name))->id;
			fill_cells(q, f, g.flavors[k], n);
		}
		vec_push(&n->groups, g);
	}
}
