/* test/apiserver/conformance/replay_client.h: blocking requests to any API server, streams
 * included. Every wait ends after a minute. Owner: one thread. */
#ifndef TEST_APISERVER_CONFORMANCE_REPLAY_CLIENT_H
#define TEST_APISERVER_CONFORMANCE_REPLAY_CLIENT_H

#include "base/strbuf.h"
#include "net/http.h"

struct err;
struct kubeconfig;
struct replay_client;

struct replay_request {
	enum http_method method;
	const char *url;    /* path and query */
	const char *type;   /* NULL: no body */
	const char *accept; /* NULL: JSON */
	const char *token;  /* instead of the kubeconfig's credentials; NULL: those */
	struct str body;
	long frames; /* lines of a stream, REPLAY_ALL_FRAMES, or REPLAY_NO_FRAMES */
};

struct replay_reply {
	int status;
	struct strbuf body; /* of a stream: lines */
};

#define REPLAY_REPLY_INIT                                                                          \
	{                                                                                          \
		.status = 0, .body = STRBUF_INIT                                                   \
	}

/* cfg must outlive the client. */
int replay_client_open(const struct kubeconfig *cfg, struct replay_client **ret, struct err *err);
void replay_client_close(struct replay_client *c); /* NULL is fine */
/* 0 with any status that came; ret is reset first. */
int replay_client_do(struct replay_client *c, const struct replay_request *req,
		     struct replay_reply *ret, struct err *err);

#endif
