/* test/apiserver/reviewer.h: blocking calls of admission webhooks over HTTPS. One HTTP client per
 * CA bundle, kept (at most REVIEWER_MAX_CLIENTS, then the oldest goes). Any thread. */
#ifndef TEST_APISERVER_REVIEWER_H
#define TEST_APISERVER_REVIEWER_H

#include <stdint.h>

#include "base/str.h"

#define REVIEWER_MAX_CLIENTS 16

struct err;
struct reviewer;
struct strbuf;

struct reviewer_request {
	const char *url;
	struct str ca_bundle; /* PEM; empty: the system's CAs */
	int64_t timeout_ns;
	struct str body;
};

struct reviewer *reviewer_create(void);
void reviewer_destroy(struct reviewer *r); /* no call may be under way; NULL is fine */
/* The body of a 200 answer goes to out; anything else is -ERR_X. */
int reviewer_call(struct reviewer *r, const struct reviewer_request *req, struct strbuf *out,
		  struct err *err);

#endif
