#include "webhook/admit/kueue/resourceflavor_mutate.h"

#include "webhook/admit/admit_check.h"

int resourceflavor_mutate(const struct admit_request *q, struct admit_answer *ret, struct err *err)
{
	struct api_resource_flavor flavor = { 0 };
	int verb = admit_check_read(q, &kueue_resource_flavor_fields, &flavor, &flavor, err);

	if (verb == ADMIT_CHECK_CREATE) {
		admit_check_add_finalizer(&flavor.meta, ret);
	}
	return verb < 0 ? verb : 0;
}
