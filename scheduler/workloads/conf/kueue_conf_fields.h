/* scheduler/workloads/conf/kueue_conf_fields.h: which fields Kueue's configuration file may have.
 * Kueue refuses others, since a mistyped one would be without effect. Any thread. */
#ifndef SCHEDULER_WORKLOADS_CONF_KUEUE_CONF_FIELDS_H
#define SCHEDULER_WORKLOADS_CONF_KUEUE_CONF_FIELDS_H

struct err;
struct jdoc;

/* -ERR_INVALID names the first field that config.kueue.x-k8s.io/v1beta2 does not have. What stands
 * in maps and below fields that are of no use here is not looked at. NULL is fine. */
int kueue_conf_fields_check(const struct jdoc *d, struct err *err);

#endif
