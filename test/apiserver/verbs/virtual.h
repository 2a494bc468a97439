/* test/apiserver/verbs/virtual.h: review kinds that are answered and not stored: everything is
 * allowed.
 */
#ifndef TEST_APISERVER_VERBS_VIRTUAL_H
#define TEST_APISERVER_VERBS_VIRTUAL_H

struct call;

/* Answers the review in the body with 201. */
int virtual_create(struct call *c);

#endif
