/* common/api/core/lease.h: coordination.k8s.io/v1 Lease. Plain data in an arena. */
#ifndef COMMON_API_CORE_LEASE_H
#define COMMON_API_CORE_LEASE_H

#include "api/meta/meta.h"

struct api_lease_spec {
	const char *holder; /* holderIdentity; NULL: released */
	int32_t duration_s, transitions;
	int64_t acquired, renewed; /* wall ns, FIELD_NO_TIME */
};
struct api_lease {
	const char *api_version, *kind;
	struct api_meta meta;
	struct api_lease_spec spec;
};

extern const struct field_table lease_fields;

#endif
