#include "api/kueue/custom_job.h"

static const struct field spec_rows[] = {
	F_STR(struct api_custom_job_spec, managed_by, "managedBy"),
};
static const struct field_table spec_fields = FIELD_TABLE(struct api_custom_job_spec, spec_rows);

static const struct field job_rows[] = {
	F_STR(struct api_custom_job, api_version, "apiVersion"),
	F_STR(struct api_custom_job, kind, "kind"),
	F_OBJ(struct api_custom_job, meta, "metadata", meta_fields),
	F_OBJ(struct api_custom_job, spec, "spec", spec_fields),
};
const struct field_table custom_job_fields = FIELD_TABLE(struct api_custom_job, job_rows);
