#include "webhook/admit/kueue/resource_groups.h"

#include <string.h>

/* False: denied; there may be too many items for the pairwise checks. */
static bool check_counts(const struct admit_check *c, const struct api_resource_groups *groups)
{
	size_t resources = 0, flavors = 0;

	if (groups->n > RESOURCE_GROUPS_MAX) {
		admit_check_deny(c, "spec.resourceGroups", "%zu items, at most %d are allowed",
				 groups->n, RESOURCE_GROUPS_MAX);
		return false;
	}
	for (size_t i = 0; i < groups->n; i++) {
		const struct api_resource_group *g = &groups->v[i];
		const char *path = admit_check_path(c, "spec.resourceGroups[%zu]", i);

		if (g->covered_resources.n == 0 ||
		    g->covered_resources.n > RESOURCE_GROUPS_MAX_ITEMS) {
			admit_check_deny(c, admit_check_path(c, "%s.coveredResources", path),
					 "%zu items, 1 to %d are allowed", g->covered_resources.n,
					 RESOURCE_GROUPS_MAX_ITEMS);
		} else if (g->flavors.n == 0 || g->flavors.n > RESOURCE_GROUPS_MAX_ITEMS) {
			admit_check_deny(c, admit_check_path(c, "%s.flavors", path),
					 "%zu items, 1 to %d are allowed", g->flavors.n,
					 RESOURCE_GROUPS_MAX_ITEMS);
		} else if (g->flavors.n * g->covered_resources.n > RESOURCE_GROUPS_MAX_PRODUCT) {
			admit_check_deny(c, path,
					 "%zu flavors times %zu resources, at most %d are "
					 "allowed",
					 g->flavors.n, g->covered_resources.n,
					 RESOURCE_GROUPS_MAX_PRODUCT);
		}
		resources += g->covered_resources.n;
		flavors += g->flavors.n;
	}
	if (resources > RESOURCE_GROUPS_MAX_TOTAL || flavors > RESOURCE_GROUPS_MAX_TOTAL) {
		admit_check_deny(c, "spec.resourceGroups",
				 "%zu resources and %zu flavors, at most %d of each are allowed",
				 resources, flavors, RESOURCE_GROUPS_MAX_TOTAL);
	}
	return c->answer->allowed;
}

/* The group that covers the resource at a place before item `at` of group i; -1: none. */
static int group_of_resource(const struct api_resource_groups *groups, const char *name, size_t i,
			     size_t at)
{
	for (size_t g = 0; g <= i; g++) {
		const struct field_strs *list = &groups->v[g].covered_resources;
		size_t n = g == i ? at : list->n;

		for (size_t k = 0; k < n; k++) {
			if (strcmp(list->v[k], name) == 0) {
				return (int)g;
			}
		}
	}
	return -1;
}

static int group_of_flavor(const struct api_resource_groups *groups, const char *name, size_t i,
			   size_t at)
{
	for (size_t g = 0; g <= i; g++) {
		size_t n = g == i ? at : groups->v[g].flavors.n;

		for (size_t k = 0; k < n; k++) {
			if (str_streq(groups->v[g].flavors.v[k].name, name)) {
				return (int)g;
			}
		}
	}
	return -1;
}

/* Kueue's rule: both limits are about the parent, to which there is nothing to lend and from
 * which there is nothing to borrow. */
static void check_limit(const struct admit_check *c, const char *path, const struct quantity *limit,
			const struct resource_groups_rules *rules)
{
	if (limit != NULL && !rules->has_parent) {
		admit_check_deny(c, path, "must be absent without %s", rules->parent_field);
	}
	admit_check_not_negative(c, path, limit);
}

static void check_quota(const struct admit_check *c, const char *path,
			const struct api_resource_quota *r,
			const struct resource_groups_rules *rules)
{
	const char *lending = admit_check_path(c, "%s.lendingLimit", path);
	const char *nominal = admit_check_path(c, "%s.nominalQuota", path);
	char is[QUANTITY_TEXT_MAX], most[QUANTITY_TEXT_MAX];

	if (r->nominal == NULL) {
		admit_check_deny(c, nominal, "required");
		return; /* the limits are compared with it */
	}
	admit_check_not_negative(c, nominal, r->nominal);
	check_limit(c, admit_check_path(c, "%s.borrowingLimit", path), r->borrowing_limit, rules);
	check_limit(c, lending, r->lending_limit, rules);
	if (r->lending_limit != NULL && !rules->may_lend_more &&
	    quantity_cmp(*r->lending_limit, *r->nominal) > 0) {
		quantity_format(*r->lending_limit, is);
		quantity_format(*r->nominal, most);
		admit_check_deny(c, lending, "%s is more than the nominalQuota (%s)", is, most);
	}
}

static void check_flavor(const struct admit_check *c, const char *path,
			 const struct api_resource_group *g, const struct api_flavor_quotas *f,
			 const struct resource_groups_rules *rules)
{
	/* First the count: the names are then compared place by place. */
	if (f->resources.n != g->covered_resources.n) {
		admit_check_deny(c, admit_check_path(c, "%s.resources", path),
				 "%zu items, but the group covers %zu resources", f->resources.n,
				 g->covered_resources.n);
		return;
	}
	for (size_t k = 0; k < f->resources.n; k++) {
		const struct api_resource_quota *r = &f->resources.v[k];
		const char *at = admit_check_path(c, "%s.resources[%zu]", path, k);

		/* Kueue's rule: in the order of coveredResources, not only the same set. */
		if (!str_streq(r->name, g->covered_resources.v[k])) {
			admit_check_deny(c, admit_check_path(c, "%s.name", at),
					 "\"%s\" must be \"%s\", as in coveredResources",
					 r->name != NULL ? r->name : "", g->covered_resources.v[k]);
		}
		check_quota(c, at, r, rules);
	}
}

static void check_resources(const struct admit_check *c, const struct api_resource_groups *groups,
			    size_t i)
{
	const struct field_strs *list = &groups->v[i].covered_resources;

	for (size_t k = 0; k < list->n; k++) {
		const char *path =
			admit_check_path(c, "spec.resourceGroups[%zu].coveredResources[%zu]", i, k);
		/* Each is compared with those before it only, so that a duplicate is reported
		 * once. */
		int other = group_of_resource(groups, list->v[k], i, k);

		admit_check_qualified(c, path, list->v[k]);
		if (other >= 0) {
			admit_check_deny(c, path, "\"%s\" is already in spec.resourceGroups[%d]",
					 list->v[k], other);
		}
	}
}

static void check_group(const struct admit_check *c, const struct api_resource_groups *groups,
			size_t i, const struct resource_groups_rules *rules)
{
	const struct api_resource_group *g = &groups->v[i];

	check_resources(c, groups, i);
	for (size_t k = 0; k < g->flavors.n; k++) {
		const struct api_flavor_quotas *f = &g->flavors.v[k];
		const char *path =
			admit_check_path(c, "spec.resourceGroups[%zu].flavors[%zu]", i, k);
		const char *name = admit_check_path(c, "%s.name", path);
		int other = group_of_flavor(groups, f->name, i, k);

		admit_check_subdomain(c, name, f->name != NULL ? f->name : "");
		if (other >= 0) {
			admit_check_deny(c, name, "\"%s\" is already in spec.resourceGroups[%d]",
					 f->name, other);
		}
		check_flavor(c, path, g, f, rules);
	}
}

void resource_groups_check(const struct admit_check *c, const struct api_resource_groups *groups,
			   const struct resource_groups_rules *rules)
{
	if (!check_counts(c, groups)) {
		return;
	}
	/* One message is enough: with many groups the checks that follow take quadratic time. */
	for (size_t i = 0; i < groups->n && c->answer->allowed; i++) {
		check_group(c, groups, i, rules);
	}
}
