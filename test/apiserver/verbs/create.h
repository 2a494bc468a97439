/* test/apiserver/verbs/create.h: POST of an object, and creation by server-side apply: defaults,
 * mutating admission, what the server fills in, validation, validating admission, storage. */
#ifndef TEST_APISERVER_VERBS_CREATE_H
#define TEST_APISERVER_VERBS_CREATE_H

struct call;
struct jdoc;

int create_post(struct call *c);
/* doc has passed body_check_object; taken. */
int create_object(struct call *c, struct jdoc *doc_take);

#endif
