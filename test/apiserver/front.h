/* test/apiserver/front.h: the embedded API server behind HTTPS: one mutex around the core, watches
 * as streams that every write wakes, admission call-outs over HTTPS (with the core unlocked). For
 * the headgate-apiserver program, the demo, integration tests and benchmarks. Threads: those of
 * http_server, plus one that serves time-driven work.
 * Beside the API, for tests against a server in another process: PUT /debug/faults replaces the
 * script of faults with the body, GET /debug/faults?kind=K answers {"struck": N}, and POST
 * /debug/compact forgets the history. */
#ifndef TEST_APISERVER_FRONT_H
#define TEST_APISERVER_FRONT_H

#include <stddef.h>
#include <stdint.h>

#include "apiserver/apiserver.h"

struct clock;
struct err;
struct front;

struct front_options {
	struct apiserver_options core; /* now, review and review_ctx are set by the front */
	const struct clock *clock;     /* NULL: the real one */
	const char *address;           /* NULL: "127.0.0.1" */
	uint16_t port;                 /* 0: any free one */
	unsigned max_connections;      /* 0: 1000 */
	struct str cert, key;          /* PEM; absent: plain HTTP */
	const char *const *tokens;     /* ends with NULL; bearer tokens of which one is required.
					  NULL: every client may do everything */
};

int front_start(const struct front_options *opt, struct front **ret, struct err *err);
/* Ends streams, waits for requests in flight up to grace_ms, frees. NULL is fine. */
void front_destroy(struct front *f, int64_t grace_ms);
uint16_t front_port(const struct front *f);
/* "https://127.0.0.1:PORT", borrowed. */
const char *front_url(const struct front *f);
/* Exclusive use of the core from any thread; no blocking in between. Unlocking wakes the watches.
 */
struct apiserver *front_lock(struct front *f, int64_t *ret_now);
void front_unlock(struct front *f);

#endif
