#include <stdlib.h>

#include "api/core/kube_pod_group.h"
#include "api/meta/validate.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "scheduler/pods/ingest/from_api.h"

/* Without a gang they get quota one by one. */
static int read_minimum(const struct api_kube_pod_group *group, int32_t *ret, struct err *err)
{
	const struct api_gang_policy *gang = group->spec.policy.gang;

	if (gang != NULL && gang->min_count < 1) {
		return err_set(err, ERR_INVALID,
			       "spec.schedulingPolicy.gang.minCount: %d: must be at least 1",
			       gang->min_count);
	}
	*ret = gang == NULL ? 0 : gang->min_count;
	return 0;
}

static int take(struct cluster *c, const struct api_kube_pod_group *group, int32_t min,
		struct err *err)
{
	const struct api_meta *meta = &group->meta;
	struct podgroup *g;

	if (!validate_is_dns_subdomain(str_of(meta->name)) || meta->namespace_ == NULL) {
		return err_set(err, ERR_INVALID, "metadata.name: missing, or not a name");
	}
	/* cluster_podgroup_get_kube interns it, which must not fail. */
	if (from_api_text(c, meta->namespace_, &(const char *){ NULL }, err) < 0) {
		return -ERR_INVALID;
	}
	g = cluster_podgroup_get_kube(c, str_of(meta->namespace_), str_of(meta->name));
	g->exists = true;
	g->min_member = min;
	g->priority = group->spec.priority;
	g->created = meta->created;
	g->resource_version = meta_version(meta);
	free(g->uid);
	g->uid = meta->uid == NULL ? NULL : xmalloc_dup(meta->uid);
	cluster_podgroup_kube_changed(c, g);
	return 0;
}

int from_api_kube_podgroup(struct cluster *c, const struct api_kube_pod_group *group,
			   struct err *err)
{
	int32_t min;

	if (read_minimum(group, &min, err) < 0) {
		return -ERR_INVALID;
	}
	return take(c, group, min, err);
}

int from_api_kube_podgroup_keep(struct cluster *c, const struct api_kube_pod_group *group,
				struct err *err)
{
	return take(c, group, INT32_MAX, err);
}
