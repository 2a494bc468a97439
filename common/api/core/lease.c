#include "api/core/lease.h"

static const struct field spec_rows[] = {
	F_MICRO_TIME(struct api_lease_spec, acquired, "acquireTime"),
	F_STR(struct api_lease_spec, holder, "holderIdentity"),
	F_I32(struct api_lease_spec, duration_s, "leaseDurationSeconds"),
	F_I32(struct api_lease_spec, transitions, "leaseTransitions"),
	F_MICRO_TIME(struct api_lease_spec, renewed, "renewTime"),
};
static const struct field_table spec_fields = FIELD_TABLE(struct api_lease_spec, spec_rows);

static const struct field lease_rows[] = {
	F_STR(struct api_lease, api_version, "apiVersion"),
	F_STR(struct api_lease, kind, "kind"),
	F_OBJ(struct api_lease, meta, "metadata", meta_fields),
	F_OBJ(struct api_lease, spec, "spec", spec_fields),
};
const struct field_table lease_fields = FIELD_TABLE(struct api_lease, lease_rows);
