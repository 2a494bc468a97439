/* test/apiserver/verbs/remove.h: DELETE of objects and collections: preconditions, finalizers,
 * graceful deletion of bound pods. Named remove because delete says nothing in C. */
#ifndef TEST_APISERVER_VERBS_REMOVE_H
#define TEST_APISERVER_VERBS_REMOVE_H

struct call;
struct jdoc;

int remove_one(struct call *c);
/* The same with options already parsed (an eviction's deleteOptions). */
int remove_with_options(struct call *c, const struct jdoc *options);
int remove_collection(struct call *c);

#endif
