/* common/kube/transport.h: the interface between the clients of a Kubernetes API server and the way
 * in which bytes travel: over HTTPS (transport_http), or directly into the embedded API server in
 * one process and virtual time (test/apiserver's in-memory transport). Nothing else is replaced in
 * tests. Threads: as documented by the implementation; callbacks run on the transport's thread
 * (HTTP: its loop's thread; in-memory: the thread that steps it). */
#ifndef COMMON_KUBE_TRANSPORT_H
#define COMMON_KUBE_TRANSPORT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "net/http_loop.h"

struct transport;
struct kubeconfig;
struct err;

/* A call's url is only path and query ("/api/v1/pods?limit=500"); the transport sets bearer. Rules
 * for every implementation:
 * - submit copies what the call points to; no callback runs inside submit.
 * - cancel leads to on_done with ERR_CANCELLED, possibly before cancel returns.
 * - each fn given to call runs exactly once. Destroying the transport sets `stopping`, ends calls
 *   in flight with ERR_CANCELLED and then runs the functions that still wait, early,
 *   so that they can free their ctx.
 * - ERR_CANCELLED without a cancel means that the transport is closing: submit nothing else. */
struct transport_ops {
	uint64_t (*submit)(struct transport *t, const struct http_call *call);
	void (*cancel)(struct transport *t, uint64_t id);
	/* fn runs on the transport's thread after delay_ns (0: soon). */
	void (*call)(struct transport *t, int64_t delay_ns, void (*fn)(void *ctx), void *ctx);
	void (*destroy)(struct transport *t);
	/* NULL: credentials are never renewed. Obtains new ones if they have expired, or because
	 * the server has answered 401 (rejected). Blocking, not on the transport's thread, with no
	 * call in flight. 1: there are new ones; 0: the old ones stay. */
	int (*renew)(struct transport *t, bool rejected, struct err *err);
};

struct transport {
	const struct transport_ops *ops; /* first member of implementations */
	atomic_bool stopping;            /* set by the implementation when its destroy begins */
};

static inline uint64_t transport_submit(struct transport *t, const struct http_call *call)
{
	return t->ops->submit(t, call);
}

static inline void transport_cancel(struct transport *t, uint64_t id)
{
	t->ops->cancel(t, id);
}

static inline void transport_call(struct transport *t, int64_t delay_ns, void (*fn)(void *),
				  void *ctx)
{
	t->ops->call(t, delay_ns, fn, ctx);
}

static inline int transport_renew(struct transport *t, bool rejected, struct err *err)
{
	return t->ops->renew == NULL ? 0 : t->ops->renew(t, rejected, err);
}

static inline void transport_destroy(struct transport *t)
{
	if (t != NULL) {
		t->ops->destroy(t);
	}
}

/* HTTPS transport with its own loop thread: server, CA, proxy, client certificate or token, and
 * impersonation of cfg; a token file is read again every minute. */
int transport_http_create(const struct kubeconfig *cfg, const char *user_agent,
			  struct transport **ret, struct err *err);
/* The same with options of the loop; its TLS, proxy and headers are those of cfg. */
int transport_http_open(const struct kubeconfig *cfg, const struct http_loop_options *opt,
			struct transport **ret, struct err *err);

#endif
