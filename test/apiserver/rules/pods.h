/* test/apiserver/rules/pods.h: Kubernetes' rules for pods: defaults, priority, quality of
 * service, the SchedulingGated condition (written at creation only), what may change and what not.
 */
#ifndef TEST_APISERVER_RULES_PODS_H
#define TEST_APISERVER_RULES_PODS_H

struct call;
struct jdoc;

int pods_default(struct call *c, struct jdoc *doc);
/* Status as it is at creation. */
void pods_prepare_create(struct call *c, struct jdoc *doc);
/* The resize and ephemeralcontainers sub-resources change nothing else. */
void pods_prepare_update(struct call *c, const struct jdoc *old, struct jdoc *new);
void pods_validate(struct call *c, const struct jdoc *doc, const struct jdoc *old,
		   struct jdoc *causes);

#endif
