/* test/lib/net/https_fixture.h: a CA with a server certificate for localhost, a server on a free
 * port, a client loop that trusts the CA, and calls that wait for their result. Aborts the test
 * program when something cannot be set up. Owner: the test's thread. */
#ifndef TEST_LIB_NET_HTTPS_FIXTURE_H
#define TEST_LIB_NET_HTTPS_FIXTURE_H

#include <pthread.h>

#include "certs/pair.h"
#include "net/http_loop.h"
#include "net/http_server.h"

struct https_fixture {
	struct pair ca, leaf;
	struct http_server *server;
	struct http_loop *loop;
	char base[64]; /* "https://localhost:PORT" */
};

/* A call in the background and its outcome. */
struct https_call {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t id;
	bool done;
	int status, error, retry_after_s;
	int64_t date;
	bool sent, too_large;
	struct strbuf body; /* of the answer, or all stream data so far */
	char error_text[256];
};

/* opt: handler and limits; address, port and TLS texts are filled in. plain: no TLS. */
void https_fixture_start(struct https_fixture *f, struct http_server_options opt, bool plain);
void https_fixture_stop(struct https_fixture *f);
/* A new certificate for localhost from the fixture's CA; the caller finishes ret. */
void https_fixture_new_leaf(const struct https_fixture *f, struct pair *ret);
/* A client of its own; more options than the fixture's. */
struct http_loop *https_fixture_new_loop(const struct https_fixture *f, bool http1_only);

/* Submits call with url = base + path; the result lands in c. timeout_ns: 0 means five minutes,
 * negative a stream. */
void https_fixture_submit(struct https_fixture *f, struct https_call *c, const char *path,
			  struct http_call call);
void https_fixture_submit_on(struct http_loop *l, struct https_call *c, const char *url,
			     struct http_call call);
void https_fixture_wait(struct https_call *c); /* until done */
/* Until at least len bytes of body (or stream data) are there, or the call is done. */
void https_fixture_wait_bytes(struct https_call *c, size_t len);
void https_fixture_finish(struct https_call *c); /* waits and frees */
/* POST (GET when body is absent) that waits. */
void https_fixture_do(struct https_fixture *f, struct https_call *c, const char *path,
		      struct str body);

#endif
