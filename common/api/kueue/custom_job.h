/* common/api/kueue/custom_job.h: the members that MultiKueue reads of a job of a kind that is not
 * known otherwise (Kueue: external frameworks). Plain data in an arena. */
#ifndef COMMON_API_KUEUE_CUSTOM_JOB_H
#define COMMON_API_KUEUE_CUSTOM_JOB_H

#include "api/meta/meta.h"
#include "enc/field.h"

struct api_custom_job_spec {
	const char *managed_by;
};
struct api_custom_job {
	const char *api_version, *kind;
	struct api_meta meta;
	struct api_custom_job_spec spec;
};

extern const struct field_table custom_job_fields;

#endif
