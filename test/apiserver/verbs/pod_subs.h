/* test/apiserver/verbs/pod_subs.h: the binding and eviction sub-resources of pods. */
#ifndef TEST_APISERVER_VERBS_POD_SUBS_H
#define TEST_APISERVER_VERBS_POD_SUBS_H

struct call;

int pod_subs_bind(struct call *c);  /* POST .../binding */
int pod_subs_evict(struct call *c); /* POST .../eviction */

#endif
