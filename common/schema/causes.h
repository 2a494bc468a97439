/* common/schema/causes.h: field errors that validation collects, in the words of Kubernetes: an
 * array of {reason, message, field}, as in metav1.StatusDetails. Any thread. */
#ifndef COMMON_SCHEMA_CAUSES_H
#define COMMON_SCHEMA_CAUSES_H

#include "base/attrs.h"

struct jdoc;

void causes_add(struct jdoc *causes, const char *reason, const char *field, const char *fmt, ...)
	PRINTF_LIKE(4, 5);
/* `Invalid value: VALUE: why` with the offending value printed as Kubernetes does. */
void causes_add_value(struct jdoc *causes, const char *field, const struct jdoc *value,
		      const char *why);

#endif
