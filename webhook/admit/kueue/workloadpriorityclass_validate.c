#include "webhook/admit/kueue/workloadpriorityclass_validate.h"

#include <string.h>

#include "webhook/admit/admit_check.h"

#define MAX_DESCRIPTION 2048

int workloadpriorityclass_validate(const struct admit_request *q, struct admit_answer *ret,
				   struct err *err)
{
	const struct admit_check c = { q, ret };
	struct api_workload_priority_class class = { 0 }, old = { 0 };
	int verb = admit_check_read(q, &kueue_workload_priority_class_fields, &class, &old, err);

	if (verb > ADMIT_CHECK_OTHER) {
		if (class.value == FIELD_NO_I32) {
			admit_check_deny(&c, "value", "required");
		}
		if (class.description != NULL && strlen(class.description) > MAX_DESCRIPTION) {
			admit_check_deny(&c, "description", "longer than %d bytes",
					 MAX_DESCRIPTION);
		}
	}
	return verb < 0 ? verb : 0;
}
