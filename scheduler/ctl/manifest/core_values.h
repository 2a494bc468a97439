/* scheduler/ctl/manifest/core_values.h: values of Kubernetes' kinds, and of a Topology, that the
 * API server would refuse and on which decisions depend: names, choices, counts, amounts, and
 * members that are required. Names and images of containers may be missing. Metadata and amounts of
 * containers are checked elsewhere (schema/meta_rules.h, schema/pod_amounts.h); types of values,
 * where objects are decoded. Pure. */
#ifndef SCHEDULER_CTL_MANIFEST_CORE_VALUES_H
#define SCHEDULER_CTL_MANIFEST_CORE_VALUES_H

struct jdoc;

/* Adds causes (schema/causes.h) about an object of that kind; nothing is found in another one. */
void core_values_check(const char *kind, const struct jdoc *object, struct jdoc *causes);

#endif
