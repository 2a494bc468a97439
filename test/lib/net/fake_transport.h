/* test/lib/net/fake_transport.h: a transport without a server. The test expects each request and
 * answers it: body, chunks of a stream, failure, silence. Time is a fake
 * clock's; everything happens within calls of the test. submit, cancel, call: any thread; the rest:
 * the test's thread, which is the transport's thread. An unexpected request aborts with a message.
 */
#ifndef TEST_LIB_NET_FAKE_TRANSPORT_H
#define TEST_LIB_NET_FAKE_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "kube/transport.h"

struct clock_fake;
struct fake_transport;

/* clock NULL: functions given to transport_call run only when the transport is destroyed. */
struct fake_transport *fake_transport_create(struct clock_fake *clock);
struct transport *fake_transport_base(struct fake_transport *f);
/* Like transport_destroy. Calls in flight end with ERR_CANCELLED, waiting functions run. */
void fake_transport_destroy(struct fake_transport *f);

/* The oldest call that was not yet expected must be `line` ("GET /api/v1/pods?limit=500"); returns
 * its id. Aborts when it is another one or there is none. */
uint64_t fake_transport_expect(struct fake_transport *f, const char *line);
/* The same where only the beginning is known. */
uint64_t fake_transport_expect_prefix(struct fake_transport *f, const char *prefix);
void fake_transport_expect_none(struct fake_transport *f); /* aborts when there is one */
size_t fake_transport_pending(struct fake_transport *f);   /* not yet expected */
size_t fake_transport_open(struct fake_transport *f);      /* not yet answered */
/* Waits until n calls are pending (threaded users); aborts after five minutes. */
void fake_transport_wait(struct fake_transport *f, size_t n);
bool fake_transport_is_open(struct fake_transport *f, uint64_t id);

/* Of an open call; valid until it is answered. */
struct str fake_transport_body(struct fake_transport *f, uint64_t id);
const struct http_call *fake_transport_request(struct fake_transport *f, uint64_t id);

/* One answer. The call must be open. Streams: chunks first, then end (200) or fail. */
void fake_transport_answer(struct fake_transport *f, uint64_t id, int status, const char *body);
void fake_transport_answer_later(struct fake_transport *f, uint64_t id, int status,
				 int retry_after_s);
void fake_transport_fail(struct fake_transport *f, uint64_t id, int error, bool sent);
/* The answer exceeded max_body. */
void fake_transport_too_large(struct fake_transport *f, uint64_t id);
void fake_transport_chunk(struct fake_transport *f, uint64_t id, const char *text);
void fake_transport_end(struct fake_transport *f, uint64_t id);

/* Runs the functions that are due; returns how many ran. */
unsigned fake_transport_run(struct fake_transport *f);
/* Moves the clock on, from one due function to the next. */
void fake_transport_advance(struct fake_transport *f, int64_t ns);

#endif
