/* test/apiserver/rules/defaults.h: defaulting as Kubernetes does it while decoding: CRD schemas'
 * defaults (after pruning unknown fields), and those of the built-in kinds that clients here rely
 * on. */
#ifndef TEST_APISERVER_RULES_DEFAULTS_H
#define TEST_APISERVER_RULES_DEFAULTS_H

struct call;
struct jdoc;

/* 400 or 422 in c->resp for values that Kubernetes refuses while decoding. */
int defaults_apply(struct call *c, struct jdoc *doc);

#endif
