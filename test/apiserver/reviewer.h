/* test/apiserver/reviewer.h: blocking calls of admission webhooks over HTTPS. One HTTP client per
 * CA bundle, kept (at most REVIEWER_MAX_CLIENTS, then the oldest goes). Any thread. */
#ifndef TEST_APISERVER_REVIEWER_H
#define TEST_APISERVER_REVIEWER_H

#include "apiserver/apiserver.h"

#define REVIEWER_MAX_CLIENTS 16

struct err;
struct reviewer;

struct reviewer *reviewer_create(void);
void reviewer_destroy(struct reviewer *r); /* no call may be under way; NULL is fine */
/* The body of a 200 answer goes to out; anything else is -ERR_X. */
int reviewer_call(struct reviewer *r, const struct apiserver_review *req, struct strbuf *out,
		  struct err *err);

#endif
