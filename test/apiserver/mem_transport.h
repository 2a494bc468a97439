/* test/apiserver/mem_transport.h: a transport straight into the embedded API server, in one process
 * and virtual time. Nothing happens by itself: every hop of every call (request reaches the server,
 * answer or watch frame reaches the client, timer, time-out) is a step that waits until the caller
 * picks it, so a simulation can reorder, delay, drop and repeat hops and crash the client between
 * any two. Several transports (processes) may share one server.
 * Owner: one thread. A callback may submit, cancel and call, but not step. */
#ifndef TEST_APISERVER_MEM_TRANSPORT_H
#define TEST_APISERVER_MEM_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kube/transport.h"

struct apiserver;
struct clock_fake;
struct mem_transport;

enum mem_step_kind {
	MEM_STEP_REQUEST,  /* the request reaches the server and takes effect */
	MEM_STEP_RESPONSE, /* the answer reaches the client */
	MEM_STEP_FRAME,    /* bytes of a watch reach the client */
	MEM_STEP_END,      /* the end of a watch reaches the client */
	MEM_STEP_CANCELLED,
	MEM_STEP_TIMEOUT, /* the deadline or the silence limit has passed */
	MEM_STEP_TIMER,   /* a function of transport_call is due */
	MEM_STEP_COUNT_
};

struct mem_step {
	enum mem_step_kind kind;
	uint64_t id; /* of the call; timers have ids of their own */
	enum http_method method;
	const char *url; /* borrowed until the call is done; NULL for timers */
};

/* Both are borrowed. */
struct mem_transport *mem_transport_create(struct apiserver *s, struct clock_fake *clock);
/* The transport for the code under test; destroying it destroys the mem_transport (calls in flight
 * get on_done with ERR_CANCELLED, as the HTTP transport does). */
struct transport *mem_transport_base(struct mem_transport *m);

/* How many steps are possible now, in order of their calls' submission. Positions are valid until
 * the next step, submission or advance of the clock. */
size_t mem_transport_ready(struct mem_transport *m);
const struct mem_step *mem_transport_peek(const struct mem_transport *m, size_t i);
void mem_transport_step(struct mem_transport *m, size_t i);
/* The hop fails: the connection of that call is cut. A lost request has no effect, a lost response
 * has had it; the client sees ERR_IO with an unknown outcome. Timers and time-outs cannot be lost.
 */
void mem_transport_lose(struct mem_transport *m, size_t i);
/* Delivers a frame that stays and will be delivered again. Other kinds: like step. */
void mem_transport_repeat(struct mem_transport *m, size_t i);
/* The client process dies: no callback runs and no step of it remains. Requests that were under way
 * reach the server first when flush is set. The memory that its calls and timers hold is given back
 * when the transport is destroyed (on_done with ERR_CANCELLED, early timers: see transport.h). */
void mem_transport_crash(struct mem_transport *m, bool flush);
/* Picks the first possible step until none is left or max steps are done; how many were done. */
size_t mem_transport_run(struct mem_transport *m, size_t max);
/* Monotonic time of the next step that waits for nothing but time; CLOCK_NEVER: none. */
int64_t mem_transport_wake_at(struct mem_transport *m);
size_t mem_transport_in_flight(const struct mem_transport *m); /* calls not done */

#endif
