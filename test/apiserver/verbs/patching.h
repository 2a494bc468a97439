/* test/apiserver/verbs/patching.h: the three client-side patch formats by content type. */
#ifndef TEST_APISERVER_VERBS_PATCHING_H
#define TEST_APISERVER_VERBS_PATCHING_H

struct call;
struct jdoc;

/* 0, or a 415 is in c->resp; strategic merge patches of custom resources are refused as Kubernetes
 * does. */
int patching_check_type(struct call *c);
/* old with the body's patch applied, a new tree. 400 or 422 in c->resp on failure. */
int patching_make(struct call *c, const struct jdoc *old, struct jdoc **ret);

#endif
