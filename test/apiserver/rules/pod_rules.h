/* test/apiserver/rules/pod_rules.h: which parts of a pod may change after creation. Pure. */
#ifndef TEST_APISERVER_RULES_POD_RULES_H
#define TEST_APISERVER_RULES_POD_RULES_H

#include <stdbool.h>

struct jdoc;

void pod_rules_check_create(const struct jdoc *pod, struct jdoc *causes);
/* is_resize: through the resize sub-resource, where cpu and memory of containers may change. */
void pod_rules_check_update(const struct jdoc *pod, const struct jdoc *old, bool is_resize,
			    struct jdoc *causes);

#endif
