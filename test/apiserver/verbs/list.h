/* test/apiserver/verbs/list.h: GET of one object and of collections: limit and continue (pages of
 * one consistent state), selectors, resourceVersion and resourceVersionMatch. */
#ifndef TEST_APISERVER_VERBS_LIST_H
#define TEST_APISERVER_VERBS_LIST_H

struct call;

/* Both answer in c->resp; 0 or the negative error of the Status sent. */
int list_get(struct call *c);
/* As above. */
int list_collection(struct call *c);

#endif
