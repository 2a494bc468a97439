/* test/lib/multikueue/fleet_pipe.h: a transport of a process in a fleet_world: the in-memory one to
 * one server, which outlives its own destruction, and reports the requests that were answered. One
 * thread. */
#ifndef TEST_LIB_MULTIKUEUE_FLEET_PIPE_H
#define TEST_LIB_MULTIKUEUE_FLEET_PIPE_H

#include <stdbool.h>

#include "kube/transport.h"

struct apiserver;
struct clock_fake;
struct mem_transport;

/* A request but for watches, when its answer arrives. Texts are borrowed. */
struct fleet_pipe_request {
	int server;          /* as the pipe has it */
	const char *process; /* its name */
	enum http_method method;
	const char *url;   /* path and query */
	struct str body;   /* of the request */
	int status, error; /* of the answer: struct http_result */
};

struct fleet_pipe_log {
	void (*fn)(void *ctx, const struct fleet_pipe_request *request); /* NULL: none */
	void *ctx;
};

struct fleet_pipe {
	struct transport base; /* first */
	int server;
	const char *process;       /* static */
	struct mem_transport *mem; /* NULL: destroyed */
	const struct fleet_pipe_log *log;
};

/* All but the process are borrowed. The caller frees it by free() once `mem` is NULL. */
struct fleet_pipe *fleet_pipe_create(int server, const char *process, struct apiserver *s,
				     struct clock_fake *clock, const struct fleet_pipe_log *log);

#endif
