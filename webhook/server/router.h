/* webhook/server/router.h: from the path of a request to its handler. Any thread. */
#ifndef WEBHOOK_SERVER_ROUTER_H
#define WEBHOOK_SERVER_ROUTER_H

#include "net/http_server.h"
#include "webhook/admit/admit.h"

struct metric_registry;
struct lister;
struct router;

struct router_options {
	struct admit_options admit; /* borrowed texts */
	struct lister *lister;
	struct metric_registry *registry;
	/* Paths served, separated by commas ("/pods/mutate,/queues/validate"); NULL: all but those
	 * of the quota kinds. Paths that only Volcano serves are left out; others are an error. */
	const char *enabled;
};

/* -ERR_INVALID names an unknown path. */
int router_create(const struct router_options *opt, struct router **ret, struct err *err);
void router_destroy(struct router *r); /* NULL is fine */
/* The i-th of all paths that there are, enabled or not, in order; NULL beyond the last. */
const char *router_path(size_t i);
/* Whether any path of the quota kinds is served. */
bool router_serves_quota(const struct router *r);
/* http_handler_fn; ctx is the router. 404: unknown path, 405: not POST, 415: not JSON, 503: the
 * first lists are not complete, 400: not an AdmissionReview; else 200 with the decision. Reviews
 * that name an unknown queue wait for a look-up if the request can wait. */
void router_handle(void *ctx, const struct http_request *req, struct arena *arena,
		   struct http_response *ret);

#endif
