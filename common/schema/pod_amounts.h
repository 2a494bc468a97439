/* common/schema/pod_amounts.h: requests and limits of containers, as Kubernetes judges them, and
 * the class of service that follows from them. Amounts are canonical already. Pure. */
#ifndef COMMON_SCHEMA_POD_AMOUNTS_H
#define COMMON_SCHEMA_POD_AMOUNTS_H

struct jdoc;

void pod_amounts_check(const struct jdoc *pod, struct jdoc *causes);
/* A resize may neither change the class nor take amounts away. */
void pod_amounts_check_resize(const struct jdoc *pod, const struct jdoc *old, struct jdoc *causes);
const char *pod_amounts_class(const struct jdoc *pod);

#endif
