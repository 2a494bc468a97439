/* test/apiserver/patching.h: the three client-side patch formats by content type. */
#ifndef TEST_APISERVER_PATCHING_H
#define TEST_APISERVER_PATCHING_H

struct call;
struct jdoc;

/* old with the body's patch applied, a new tree. 400, 415 or 422 in c->resp on failure; strategic
 * merge patches of custom resources are refused with 415 as Kubernetes does. */
int patching_make(struct call *c, const struct jdoc *old, struct jdoc **ret);

#endif
