/* test/apiserver/rules/kind_rules.h: Kubernetes' validation of config maps, leases, events and
 * of changes of Jobs. Pure. */
#ifndef TEST_APISERVER_RULES_KIND_RULES_H
#define TEST_APISERVER_RULES_KIND_RULES_H

struct jdoc;
struct resource;

/* old NULL: it is created. Other kinds pass. */
void kind_rules_check(const struct resource *res, const struct jdoc *doc, const struct jdoc *old,
		      struct jdoc *causes);

#endif
