/* test/apiserver/apiserver.h: an embedded Kubernetes API server as a value: one function from
 * request and time to response, and cursors for watches. No socket, thread or clock inside; UIDs
 * and generated names come from a seed, so a run can be repeated bit by bit. Front ends: front.h
 * (HTTPS) and mem_transport.h (in one process, virtual time). Owner: one thread at a time (the
 * HTTPS front holds a mutex around every call). Limits: bodies of APISERVER_MAX_BODY bytes (413
 * beyond), one served version per resource. */
#ifndef TEST_APISERVER_APISERVER_H
#define TEST_APISERVER_APISERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "net/http.h"

#define APISERVER_MAX_BODY (3u << 20)
#define APISERVER_WATCH_RING 200000

struct apiserver;
struct apiserver_watch;
struct err;
struct jdoc;

struct apiserver_review {
	const char *url;
	struct str ca_bundle; /* PEM; empty: the system's CAs */
	int64_t timeout_ns;
	struct str body; /* an AdmissionReview */
};

/* Calls an admission webhook: POSTs the body. Fills out with the body of a 200 answer and returns
 * 0, else -ERR_X. It may release and retake the lock around the server: the server holds no pointer
 * into its store across the call. */
typedef int (*apiserver_review_fn)(void *ctx, const struct apiserver_review *review,
				   struct strbuf *out, struct err *err);

struct apiserver_options {
	uint64_t seed;
	int64_t now;         /* wall ns: creation time of the built-in namespaces */
	size_t watch_ring;   /* changes kept per resource, 0: APISERVER_WATCH_RING */
	int64_t finalise_ns; /* a terminating pod that no kubelet finishes is removed this long
				after its deletion, 0: never */
	/* Stored objects keep their trees, each until it is replaced: an update costs less, an
	 * object several times its memory. Not where requests may come during a call-out. */
	bool keeps_trees;
	apiserver_review_fn review; /* NULL: call-outs fail like a refused connection */
	void *review_ctx;
};

struct apiserver_response {
	int status; /* 0: drop the connection without an answer */
	const char *content_type;
	struct strbuf body;
	int retry_after_s;
	int64_t delay_ns;              /* a scripted delay before the answer leaves */
	struct strbuf warning;         /* first admission warning, for a Warning header */
	struct apiserver_watch *watch; /* a stream follows; closed by the caller */
};

#define APISERVER_RESPONSE_INIT                                                                    \
	{                                                                                          \
		.body = STRBUF_INIT, .warning = STRBUF_INIT                                        \
	}

struct apiserver *apiserver_create(const struct apiserver_options *opt);
void apiserver_destroy(struct apiserver *s); /* all watches must be closed; NULL is fine */

/* now: wall nanoseconds, never going back. *ret must be initialised; it is reset first. */
void apiserver_handle(struct apiserver *s, const struct http_request *req, int64_t now,
		      struct apiserver_response *ret);
void apiserver_response_reset(struct apiserver_response *resp); /* watch is not closed */
void apiserver_response_finish(struct apiserver_response *resp);

/* Appends the next frame (one line of JSON) to out. 1: did, 0: nothing to send yet, -1: the stream
 * has ended (out may hold last bytes that must still be sent). */
int apiserver_watch_next(struct apiserver_watch *w, int64_t now, struct strbuf *out);
/* A change as a tree. For watches without selector, bookmarks and scripted faults, of a server that
 * keeps trees. */
struct apiserver_change {
	bool deleted;
	int64_t version;
	struct str key;            /* "namespace/name", or "name" */
	const struct jdoc *object; /* NULL: deleted. Borrowed until the next request */
};

/* The same without a text. */
int apiserver_watch_next_change(struct apiserver_watch *w, int64_t now,
				struct apiserver_change *ret);
/* When apiserver_watch_next could have something to say without any write (bookmark, time-out,
 * scripted delay); never later than that. */
int64_t apiserver_watch_wake_at(const struct apiserver_watch *w);
void apiserver_watch_close(struct apiserver_watch *w); /* NULL is fine */

/* Time-driven work (removal of terminating pods, see finalise_ns). */
void apiserver_tick(struct apiserver *s, int64_t now);

/* Creates or replaces objects from manifests (YAML or JSON, several documents), bypassing admission
 * call-outs: CRDs, webhook registrations, demo objects. */
int apiserver_load(struct apiserver *s, struct str manifest, int64_t now, struct err *err);

/* Script of faults, see faults.h for the grammar. Replaces the present one. */
int apiserver_set_faults(struct apiserver *s, struct str script, struct err *err);
/* How often a fault of each kind struck so far; kind as in the script. */
uint64_t apiserver_fault_count(const struct apiserver *s, const char *kind);

int64_t apiserver_version(const struct apiserver *s); /* the latest resourceVersion */
/* Forgets the history up to now: open watches that lag and old continue tokens get 410. */
void apiserver_compact(struct apiserver *s);
/* The present text of an object, borrowed until the next call; absent: {NULL, 0}. For oracles. */
struct str apiserver_peek(const struct apiserver *s, const char *group, const char *plural,
			  const char *ns, const char *name);
/* Calls each for all present objects of a resource in key order. */
void apiserver_each(const struct apiserver *s, const char *group, const char *plural,
		    void (*each)(void *ctx, struct str text), void *ctx);

#endif
