#include "webhook/server/router.h"

#include <stdlib.h>

#include "api/volcano/gate.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "obs/metric.h"
#include "webhook/admit/jobs/job_mutate.h"
#include "webhook/admit/jobs/job_validate.h"
#include "webhook/admit/jobs/plainpod_mutate.h"
#include "webhook/admit/jobs/plainpod_validate.h"
#include "webhook/admit/kueue/clusterqueue_mutate.h"
#include "webhook/admit/kueue/clusterqueue_validate.h"
#include "webhook/admit/kueue/cohort_validate.h"
#include "webhook/admit/kueue/localqueue_validate.h"
#include "webhook/admit/kueue/resourceflavor_mutate.h"
#include "webhook/admit/kueue/resourceflavor_validate.h"
#include "webhook/admit/kueue/workload_mutate.h"
#include "webhook/admit/kueue/workload_validate.h"
#include "webhook/admit/kueue/workloadpriorityclass_validate.h"
#include "webhook/admit/volcano/pod_mutate.h"
#include "webhook/admit/volcano/pod_validate.h"
#include "webhook/admit/volcano/podgroup_mutate.h"
#include "webhook/admit/volcano/podgroup_validate.h"
#include "webhook/admit/volcano/queue_mutate.h"
#include "webhook/admit/volcano/queue_validate.h"
#include "webhook/server/lister.h"
#include "webhook/server/review.h"

enum router_result { RESULT_ALLOWED, RESULT_DENIED, RESULT_ERROR, RESULT_COUNT_ };

struct route {
	const char *path;
	const char *enabled_by; /* the path of the option that switches it on */
	admit_fn fn;
	size_t gate; /* of the namespace's label (gate_at), or GATE_NONE */
	bool quota;  /* served only when named in --enabled-admission */
};

/* Kueue's paths: verb, group and version, resource. */
#define QUOTA(path, fn)                                                                            \
	{                                                                                          \
		path, path, fn, GATE_NONE, true                                                    \
	}
#define KUEUE_MUTATE "/mutate-kueue-x-k8s-io-v1beta2-"
#define KUEUE_VALIDATE "/validate-kueue-x-k8s-io-v1beta2-"

/* Sorted by path. The API server sends pods of labelled namespaces to paths of their own, one per
 * spelling, so that a namespace labelled just before its first pod is not missed. Workloads that
 * the registration selects by their labels have a path of their own, too. */
static const struct route routes[] = {
	QUOTA("/mutate--v1-pod", plainpod_mutate),
	QUOTA("/mutate-batch-v1-job", job_mutate),
	QUOTA(KUEUE_MUTATE "clusterqueue", clusterqueue_mutate),
	QUOTA(KUEUE_MUTATE "resourceflavor", resourceflavor_mutate),
	QUOTA(KUEUE_MUTATE "workload", workload_mutate),
	QUOTA(KUEUE_MUTATE "workload-selected", workload_mutate_selected),
	{ "/podgroups/mutate", "/podgroups/mutate", podgroup_mutate, GATE_NONE, false },
	{ "/podgroups/validate", "/podgroups/validate", podgroup_validate, GATE_NONE, false },
	{ "/pods/mutate", "/pods/mutate", pod_mutate, GATE_NONE, false },
	{ "/pods/mutate/labelled", "/pods/mutate", pod_mutate, 0, false },
	{ "/pods/mutate/labelled-alias", "/pods/mutate", pod_mutate, 1, false },
	{ "/pods/validate", "/pods/validate", pod_validate, GATE_NONE, false },
	{ "/queues/mutate", "/queues/mutate", queue_mutate, GATE_NONE, false },
	{ "/queues/validate", "/queues/validate", queue_validate, GATE_NONE, false },
	QUOTA("/validate--v1-pod", plainpod_validate),
	QUOTA("/validate-batch-v1-job", job_validate),
	QUOTA(KUEUE_VALIDATE "clusterqueue", clusterqueue_validate),
	QUOTA(KUEUE_VALIDATE "cohort", cohort_validate),
	QUOTA(KUEUE_VALIDATE "localqueue", localqueue_validate),
	QUOTA(KUEUE_VALIDATE "resourceflavor", resourceflavor_validate),
	QUOTA(KUEUE_VALIDATE "workload", workload_validate),
	QUOTA(KUEUE_VALIDATE "workloadpriorityclass", workloadpriorityclass_validate),
};
#define ROUTE_COUNT ARRAY_LEN(routes)

/* Sorted. */
static const char *const foreign_paths[] = {
	"/cronjobs/validate", "/hypernodes/validate", "/jobflows/validate",
	"/jobs/mutate",       "/jobs/validate",       "/jobtemplates/validate",
};

static const char *const result_names[RESULT_COUNT_] = { "allowed", "denied", "error" };

struct call {
	const struct http_request *req;
	struct arena *arena;
};

struct router {
	struct router_options opt;
	bool enabled[ROUTE_COUNT];
	struct metric_cell *results[ROUTE_COUNT][RESULT_COUNT_];
	struct metric_cell *seconds[ROUTE_COUNT];
	struct metric_cell *gated;
};

const char *router_path(size_t i)
{
	return i < ROUTE_COUNT ? routes[i].path : NULL;
}

bool router_serves_quota(const struct router *r)
{
	for (size_t i = 0; i < ROUTE_COUNT; i++) {
		if (r->enabled[i] && routes[i].quota) {
			return true;
		}
	}
	return false;
}

static int cmp_route(const void *path, const void *route)
{
	return str_cmp(*(const struct str *)path, str_of(((const struct route *)route)->path));
}

static int cmp_path(const void *path, const void *item)
{
	return str_cmp(*(const struct str *)path, str_of(*(const char *const *)item));
}

/* A path that Volcano serves and this program does not: its webhook manager's
 * --enabled-admission can be kept as it is. */
static bool is_foreign(struct str path)
{
	return bsearch(&path, foreign_paths, ARRAY_LEN(foreign_paths), sizeof(foreign_paths[0]),
		       cmp_path) != NULL;
}

static bool enable(struct router *r, struct str path)
{
	bool found = false;

	for (size_t i = 0; i < ROUTE_COUNT; i++) {
		/* One option may switch several paths on: those of labelled namespaces belong to
		 * /pods/mutate. */
		if (str_eq_c(path, routes[i].enabled_by)) {
			r->enabled[i] = true;
			found = true;
		}
	}
	return found;
}

static int enable_list(struct router *r, const char *list, struct err *err)
{
	struct str rest = str_of(list);

	while (rest.p != NULL) {
		struct str path = str_trim(str_next(&rest, ','));

		if (path.len > 0 && !enable(r, path) && !is_foreign(path)) {
			return err_set(err, ERR_INVALID, "no such admission path: \"" STR_FMT "\"",
				       STR_ARG(path));
		}
	}
	return 0;
}

static void register_metrics(struct router *r, struct metric_registry *registry)
{
	static const char *const by_result[] = { "path", "result", NULL };
	static const char *const by_path[] = { "path", NULL };
	static const double bounds[] = { 0.00001, 0.00005, 0.0001, 0.0005, 0.001,
					 0.005,   0.025,   0.1,    0.5,    1 };
	struct metric_family *reviews =
		metric_register(registry, "headgate_webhook_reviews_total",
				"Admission reviews by outcome.", METRIC_COUNTER, by_result);
	struct metric_family *seconds =
		metric_register_histogram(registry, "headgate_webhook_review_duration_seconds",
					  "Time to decide a review, without the network.", by_path,
					  bounds, ARRAY_LEN(bounds));

	for (size_t i = 0; i < ROUTE_COUNT; i++) {
		for (size_t j = 0; j < RESULT_COUNT_; j++) {
			const char *const values[] = { routes[i].path, result_names[j] };

			r->results[i][j] = metric_cell(reviews, values);
		}
		r->seconds[i] = metric_cell(seconds, &routes[i].path);
	}
	r->gated = metric_cell(metric_register(registry, "headgate_webhook_gated_pods_total",
					       "Pods that got the queue-allocation gate.",
					       METRIC_COUNTER, NULL),
			       NULL);
}

int router_create(const struct router_options *opt, struct router **ret, struct err *err)
{
	struct router *r = xmalloc_zero(1, sizeof(*r));
	int e = 0;

	r->opt = *opt;
	if (opt->enabled != NULL) {
		e = enable_list(r, opt->enabled, err);
	} else {
		for (size_t i = 0; i < ROUTE_COUNT; i++) {
			r->enabled[i] = !routes[i].quota;
		}
	}
	if (e < 0) {
		free(r);
		return e;
	}
	register_metrics(r, opt->registry);
	*ret = r;
	return 0;
}

void router_destroy(struct router *r)
{
	free(r);
}

static void refuse(struct http_response *ret, int status, const char *text)
{
	ret->status = status;
	ret->content_type = "text/plain; charset=utf-8";
	ret->body = str_of(text);
}

/* Parameters such as a charset are allowed: JSON is UTF-8 whatever they say. */
static bool is_json(struct str content_type)
{
	return str_eq_c(str_trim(str_next(&content_type, ';')), "application/json");
}

/* False: the request is not a review; ret is the answer. */
static bool check_request(const struct router *r, const struct route *route,
			  const struct http_request *req, struct http_response *ret)
{
	if (route == NULL || !r->enabled[route - routes]) {
		refuse(ret, 404, "no such path\n");
	} else if (req->method != HTTP_POST) {
		refuse(ret, 405, "only POST is allowed\n");
	} else if (!is_json(req->content_type)) {
		refuse(ret, 415, "the content type must be application/json\n");
	} else if (!lister_is_synced(r->opt.lister)) {
		/* With half a list, queues that exist would be refused as missing. */
		refuse(ret, 503, "the lists of queues and namespaces are not complete yet\n");
		ret->retry_after_s = 1;
	} else {
		return true;
	}
	return false;
}

static int review(const struct router *r, const struct route *route, const struct admit_view *view,
		  const struct call *call, struct review_outcome *ret, struct err *err)
{
	struct admit_request q = { .options = &r->opt.admit,
				   .view = view,
				   .namespace_gate = gate_at(route->gate),
				   .arena = call->arena };

	return review_run(route->fn, &q, call->req->body, ret, err);
}

/* A queue that is created and used in one manifest may reach the handler before our watch
 * delivers it:
 * 1. The review is decided with the view of this moment.
 * 2. Did the decision depend on a queue that the view does not have, or has as closed? Then the
 *    queue is read, and the request waits; *ret_wait is not 0. A request waits once: when it is
 *    called again, the view has what the read brought, and that decides.
 * 3. When nothing is read, because an answer is a moment old or the limits are reached, another
 *    review may have brought the queue into the lister since step 1. If there is a later view,
 *    it decides.
 * 4. Else the first decision stands. */
static int decide(const struct router *r, const struct route *route, const struct call *call,
		  struct review_outcome *ret, uint64_t *ret_wait, struct err *err)
{
	struct lister *lister = r->opt.lister;
	const struct admit_view *view = lister_view(lister), *later;
	int e = review(r, route, view, call, ret, err);
	bool unconfirmed = e == 0 && ret->unconfirmed_queue != NULL;

	*ret_wait = 0;
	if (unconfirmed && call->req->server != NULL && !call->req->waited) {
		*ret_wait = lister_look_up_queue(lister, ret->unconfirmed_queue, call->req->server);
	}
	/* Taken after the question whether to wait: a read that ended in between is in it. */
	later = lister_view(lister);
	if (unconfirmed && *ret_wait == 0 && later != view) {
		e = review(r, route, later, call, ret, err);
	}
	lister_release(later);
	lister_release(view);
	return e;
}

static enum router_result run(const struct router *r, const struct route *route,
			      const struct call *call, struct http_response *ret)
{
	struct review_outcome outcome = { 0 };
	struct err err = ERR_INIT;
	int e = decide(r, route, call, &outcome, &ret->wait_for, &err);

	if (e < 0) {
		refuse(ret, 400, arena_printf(call->arena, "%s\n", err.text));
		return RESULT_ERROR;
	}
	/* Nothing is counted here: the handler runs again for the same review. */
	if (ret->wait_for != 0) {
		return RESULT_COUNT_;
	}
	if (outcome.gated) {
		metric_cell_add(r->gated, 1);
	}
	ret->status = 200;
	ret->body = outcome.body;
	return outcome.allowed ? RESULT_ALLOWED : RESULT_DENIED;
}

void router_handle(void *ctx, const struct http_request *req, struct arena *arena,
		   struct http_response *ret)
{
	const struct router *r = ctx;
	const struct route *route =
		bsearch(&req->path, routes, ROUTE_COUNT, sizeof(routes[0]), cmp_route);
	int64_t start = clock_mono(clock_real());
	enum router_result result;

	if (!check_request(r, route, req, ret)) {
		return;
	}
	result = run(r, route, &(struct call){ req, arena }, ret);
	if (result == RESULT_COUNT_) {
		return; /* suspended; called again later */
	}
	metric_cell_add(r->results[route - routes][result], 1);
	/* The last call alone: the wait for a queue is the network, not the decision. */
	metric_cell_observe(r->seconds[route - routes],
			    (double)(clock_mono(clock_real()) - start) / (double)CLOCK_NS_PER_S);
}
