/* webhook/admit/jobs/pod_role.h: the role of a pod in its group: a hash over what matters to
 * admission, equal for pods that need the same (Kueue: role hash). Any thread. */
#ifndef WEBHOOK_ADMIT_JOBS_POD_ROLE_H
#define WEBHOOK_ADMIT_JOBS_POD_ROLE_H

#define POD_ROLE_DIGITS 8

struct arena;
struct jdoc;

/* The hash of a Pod's spec: requests and ports of its containers, node selector, affinity,
 * tolerations, runtime class, priority, spread constraints, overhead, resource claims. The order of
 * members does not matter, and null equals absence. POD_ROLE_DIGITS hexadecimal digits. */
const char *pod_role_hash(const struct jdoc *spec, struct arena *arena);

#endif
