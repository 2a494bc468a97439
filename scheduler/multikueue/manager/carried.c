#include "scheduler/multikueue/manager/carried.h"

#include "api/kueue/kueue_keys.h"
#include "api/meta/meta.h"
#include "base/attrs.h"
#include "base/str.h"
#include "scheduler/multikueue/manager/carried_custom.h"
#include "scheduler/multikueue/manager/carried_job.h"
#include "scheduler/multikueue/manager/carried_pod.h"

static const struct carried_kind *const rows[CARRIED_COUNT_] = {
	[CARRIED_JOBS] = &carried_job_kind,
	[CARRIED_PODS] = &carried_pod_kind,
	[CARRIED_CUSTOM] = &carried_custom_kind,
};

const struct carried_kind *carried_row(enum carried c)
{
	return rows[c];
}

const struct carried_kind *carried_of(const struct api_owner *o)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (rows[i]->kind != NULL && str_streq(o->api_version, rows[i]->api_version) &&
		    str_streq(o->kind, rows[i]->kind)) {
			return rows[i];
		}
	}
	return NULL;
}

bool carried_is_group(const struct api_meta *workload, const struct carried_kind *kind)
{
	return kind == rows[CARRIED_PODS] &&
	       field_map_is(&workload->annotations, KUEUE_IS_GROUP_WORKLOAD, "true");
}

bool carried_find(enum sched_resource r, enum carried *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (rows[i]->resource == r) {
			*ret = (enum carried)i;
			return true;
		}
	}
	return false;
}
