#include "scheduler/ctl/multikueue/worker_check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "api/kueue/preemption_gate.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "enc/json/json_out.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/rest.h"
#include "kube/transport.h"
#include "net/http.h"
#include "scheduler/base/sched_kinds.h"
#include "scheduler/ctl/multikueue/worker_access.h"
#include "scheduler/ctl/multikueue/worker_kinds.h"

#define CALL_NS (10 * CLOCK_NS_PER_S)
#define ALL_NS (30 * CLOCK_NS_PER_S)
#define CLOCK_LIMIT_NS (5 * CLOCK_NS_PER_S)
#define NAMES_SHOWN 3
#define TEXT_MAX 500
#define REVIEWS "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
#define ORIGIN_LABEL "kueue.x-k8s.io/multikueue-origin"

struct looking {
	const struct worker_check_options *opt;
	const struct worker_access *access;
	const struct waiting_queues_keys *queues;
	struct transport *t;
	int64_t deadline; /* mono ns */
	struct worker_check *ret;
	struct err why; /* of the last request that failed */
};

/* --- findings and requests ---------------------------------------------------------------------*/

void worker_check_add(struct worker_check *c, enum worker_finding_state state, const char *about,
		      const char *text)
{
	struct worker_finding f = { state, about, arena_dup(c->arena, text) };

	vec_push(&c->findings, f);
}

static void report(struct looking *l, enum worker_finding_state state, const char *about,
		   const char *fmt, ...) PRINTF_LIKE(4, 5);
static void report(struct looking *l, enum worker_finding_state state, const char *about,
		   const char *fmt, ...)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	va_list args;

	va_start(args, fmt);
	strbuf_add_c(&text, arena_vprintf(l->ret->arena, fmt, args));
	va_end(args);
	/* Parts of it are of the worker, which may be as long as an answer. */
	if (text.len > TEXT_MAX) {
		strbuf_truncate(&text, TEXT_MAX);
	}
	worker_check_add(l->ret, state, about, text.p);
}

/* The time that one more request may take; 0: none, and l->why says so. */
static int64_t time_left(struct looking *l)
{
	int64_t limit = l->opt->call_ns > 0 ? l->opt->call_ns : CALL_NS;

	limit = clock_earlier(limit, l->deadline - clock_mono(clock_real()));
	if (limit <= 0) {
		(void)err_set(&l->why, ERR_TIMEOUT, "the worker takes too long for all checks");
	}
	return limit > 0 ? limit : 0;
}

static int call(struct looking *l, enum http_method method, const char *path, struct str body,
		struct jdoc **ret)
{
	int64_t limit = time_left(l);

	return limit == 0
		       ? -ERR_TIMEOUT
		       : rest_call(l->t, method, path, body.p == NULL ? NULL : "application/json",
				   body, limit, ret, &l->why);
}

static int get(struct looking *l, enum sched_resource kind, const char *namespace_,
	       const char *name, struct jdoc **ret)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

	sched_kinds_path(kind, namespace_, name, NULL, &path);
	return call(l, HTTP_GET, path.p, (struct str){ NULL, 0 }, ret);
}

/* --- the checks --------------------------------------------------------------------------------*/

static void compare_clocks(struct looking *l, int64_t date, int64_t now)
{
	int64_t ahead = date - now;

	if (date == 0) {
		report(l, WORKER_FINDING_UNKNOWN, "clock", "its answers name no time");
		return;
	}
	/* The answer has whole seconds, cut off. */
	if (ahead < 0) {
		ahead = clock_earlier(ahead + CLOCK_NS_PER_S, 0);
	}
	if (ahead > CLOCK_LIMIT_NS || ahead < -CLOCK_LIMIT_NS) {
		report(l, WORKER_FINDING_WARNING, "clock", "%" PRId64 " s %s this machine",
		       (ahead < 0 ? -ahead : ahead) / CLOCK_NS_PER_S,
		       ahead < 0 ? "behind" : "ahead of");
	} else {
		report(l, WORKER_FINDING_OK, "clock", "as on this machine");
	}
}

/* False: it does not answer, and nothing else is asked. */
static bool check_connection(struct looking *l)
{
	CLEANUP(jdoc_destroyp) struct jdoc *version = NULL;
	const char *server = l->access->config->server, *name;
	int64_t date = 0, limit = time_left(l);

	if (limit == 0 || rest_get_dated(l->t, "/version", limit, &version, &date, &l->why) < 0) {
		report(l, WORKER_FINDING_FAILED, "connection", "%s: %s", server, l->why.text);
		return false;
	}
	name = jdoc_str_or(jdoc_get(version, "gitVersion"), "of unknown version");
	report(l, WORKER_FINDING_OK, "connection", "%s, Kubernetes %s", server, name);
	compare_clocks(l, date, clock_wall(clock_real()));
	return true;
}

static void write_review(const struct worker_role_right *right, struct strbuf *out)
{
	struct json_out o;

	json_out_init(&o, out);
	json_out_object(&o);
	json_out_kv(&o, "apiVersion", "authorization.k8s.io/v1");
	json_out_kv(&o, "kind", "SelfSubjectAccessReview");
	json_out_key(&o, "spec");
	json_out_object(&o);
	json_out_key(&o, "resourceAttributes");
	json_out_object(&o);
	json_out_kv(&o, "group", right->group);
	json_out_kv(&o, "resource", right->resource);
	json_out_kv(&o, "verb", right->verb);
	if (right->sub != NULL) {
		json_out_kv(&o, "subresource", right->sub);
	}
	if (right->name != NULL) {
		json_out_kv(&o, "name", right->name);
	}
	json_out_object_end(&o);
	json_out_object_end(&o);
	json_out_object_end(&o);
	json_out_end(&o);
}

/* 1: allowed; 0: not; or -ERR_X. */
static int review(struct looking *l, const struct worker_role_right *right)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *answer = NULL;
	int r;

	write_review(right, &body);
	r = call(l, HTTP_POST, REVIEWS, strbuf_str(&body), &answer);
	return r < 0 ? r : jdoc_bool(jdoc_path(answer, "status.allowed"), false);
}

/* The rights on a kind are those on the resource that the worker serves it as. */
static void check_kinds(struct looking *l, struct worker_role *role)
{
	size_t good = 0;

	for (size_t i = 0; i < l->opt->kinds.n; i++) {
		const struct custom_kind *k = &l->opt->kinds.v[i];
		CLEANUP(xmalloc_freep) char *plural = NULL;
		int64_t limit = time_left(l);
		int r = limit == 0 ? -ERR_TIMEOUT
				   : worker_kinds_ask(l->t, k, limit, &plural, &l->why);

		if (r < 0) {
			report(l,
			       r == -ERR_NOT_FOUND ? WORKER_FINDING_FAILED : WORKER_FINDING_UNKNOWN,
			       "kinds", "%s", l->why.text);
			continue;
		}
		worker_role_add_kind(role, k->group, plural);
		good++;
	}
	if (good == l->opt->kinds.n && good > 0) {
		report(l, WORKER_FINDING_OK, "kinds", "all %zu are served", good);
	}
}

static void check_rights(struct looking *l)
{
	CLEANUP(worker_role_destroyp) struct worker_role *role = worker_role_create(l->opt->level);
	const struct worker_role_right *right;
	unsigned missing = 0, n;

	check_kinds(l, role);
	for (n = 0; (right = worker_role_at(role, n)) != NULL; n++) {
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
		int r = review(l, right);

		if (r < 0) {
			report(l, WORKER_FINDING_UNKNOWN, "rights", "cannot be reviewed: %s",
			       l->why.text);
			return;
		}
		if (r == 0) {
			worker_role_describe(right, &text);
			report(l, WORKER_FINDING_FAILED, "rights", "missing: %s", text.p);
			missing++;
		}
	}
	if (missing == 0) {
		report(l, WORKER_FINDING_OK, "rights", "all %u that the manager needs", n);
	}
}

static bool serves_version(const struct jdoc *crd)
{
	const struct jdoc *v = jdoc_first(jdoc_path(crd, "spec.versions"));

	while (v != NULL && !(jdoc_is_str(jdoc_get(v, "name"), KUEUE_VERSION) &&
			      jdoc_bool(jdoc_get(v, "served"), false))) {
		v = jdoc_next(v);
	}
	return v != NULL;
}

/* False: there are no Workloads that could be looked at. */
static bool check_crd(struct looking *l)
{
	static const char path[] = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
				   "workloads.kueue.x-k8s.io";
	CLEANUP(jdoc_destroyp) struct jdoc *crd = NULL;
	int r = call(l, HTTP_GET, path, (struct str){ NULL, 0 }, &crd);
	unsigned fields;

	if (r < 0) {
		report(l, r == -ERR_NOT_FOUND ? WORKER_FINDING_FAILED : WORKER_FINDING_UNKNOWN,
		       "Workloads", "%s", l->why.text);
		return r != -ERR_NOT_FOUND;
	}
	fields = preemption_gate_fields_of(crd);
	if (!serves_version(crd)) {
		report(l, WORKER_FINDING_FAILED, "Workloads", KUEUE_VERSION " is not served");
	} else if (fields == 0) {
		report(l, WORKER_FINDING_FAILED, "Workloads",
		       KUEUE_VERSION " has no status.preemptionGates: the worker knows no gates");
	} else {
		report(l, WORKER_FINDING_OK, "Workloads", KUEUE_VERSION "; gates: %s%s%s",
		       (fields & PREEMPTION_GATE_POSITION) != 0 ? "position (Kueue)" : "",
		       fields == (PREEMPTION_GATE_POSITION | PREEMPTION_GATE_STATE) ? ", " : "",
		       (fields & PREEMPTION_GATE_STATE) != 0 ? "state (KEP-8303)" : "");
	}
	return true;
}

static bool has_gate(const struct jdoc *replica)
{
	const struct jdoc *g = jdoc_first(jdoc_path(replica, "spec.preemptionGates"));

	while (g != NULL && !jdoc_is_str(jdoc_get(g, "name"), KUEUE_GATE_MULTIKUEUE)) {
		g = jdoc_next(g);
	}
	return g != NULL;
}

static void report_replicas(struct looking *l, const struct jdoc *items)
{
	CLEANUP(strbuf_finish) struct strbuf names = STRBUF_INIT;
	size_t n = 0, without = 0;

	for (const struct jdoc *w = jdoc_first(items); w != NULL; w = jdoc_next(w), n++) {
		if (has_gate(w)) {
			continue;
		}
		if (without++ < NAMES_SHOWN) {
			strbuf_printf(&names, "%s%s/%s", without == 1 ? "" : ", ",
				      jdoc_str_or(jdoc_path(w, "metadata.namespace"), ""),
				      jdoc_str_or(jdoc_path(w, "metadata.name"), ""));
		}
	}
	if (without > 0) {
		report(l, WORKER_FINDING_FAILED, "replicas",
		       "%zu of %zu have no preemption gate " KUEUE_GATE_MULTIKUEUE
		       ", so that they preempt at will: %s%s",
		       without, n, names.p, without > NAMES_SHOWN ? ", ..." : "");
	} else {
		report(l, WORKER_FINDING_OK, "replicas",
		       n == 0 ? "there are none" : "%zu, each with the gate", n);
	}
}

/* One page: a worker with the mistake has it in all of them. */
static void check_replicas(struct looking *l)
{
	CLEANUP(jdoc_destroyp) struct jdoc *list = NULL;
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

	sched_kinds_path(SCHED_WORKLOADS, NULL, NULL, NULL, &path);
	strbuf_printf(&path, "?limit=%d&labelSelector=", WORKER_CHECK_MAX_REPLICAS);
	http_query_escape(STR_LIT(ORIGIN_LABEL "="), &path);
	http_query_escape(str_of(l->opt->origin), &path);
	if (call(l, HTTP_GET, path.p, (struct str){ NULL, 0 }, &list) < 0) {
		report(l, WORKER_FINDING_UNKNOWN, "replicas", "%s", l->why.text);
		return;
	}
	report_replicas(l, jdoc_get(list, "items"));
}

/* True: it is there. */
static bool check_queue(struct looking *l, const char *key)
{
	const char *name = strchr(key, '/') + 1;
	CLEANUP(xmalloc_freep) char *space = xmalloc_dup_n(key, (size_t)(name - 1 - key));
	int r = get(l, SCHED_LOCAL_QUEUES, space, name, NULL);

	if (r == 0) {
		return true;
	}
	if (r != -ERR_NOT_FOUND) {
		report(l, WORKER_FINDING_UNKNOWN, "LocalQueues", "%s: %s", key, l->why.text);
	} else if (get(l, SCHED_NAMESPACES, NULL, space, NULL) == -ERR_NOT_FOUND) {
		report(l, WORKER_FINDING_FAILED, "LocalQueues", "missing: %s, and its namespace",
		       key);
	} else {
		report(l, WORKER_FINDING_FAILED, "LocalQueues", "missing: %s", key);
	}
	return false;
}

static void check_queues(struct looking *l)
{
	size_t good = 0, n;

	if (l->queues == NULL) {
		return;
	}
	n = l->queues->n < WORKER_CHECK_MAX_QUEUES ? l->queues->n : WORKER_CHECK_MAX_QUEUES;
	for (size_t i = 0; i < n; i++) {
		good += check_queue(l, l->queues->v[i]);
	}
	if (n < l->queues->n) {
		report(l, WORKER_FINDING_WARNING, "LocalQueues", "%zu more were not looked for",
		       l->queues->n - n);
	}
	if (good == n) {
		report(l, WORKER_FINDING_OK, "LocalQueues",
		       n == 0 ? "no Workload waits for this cluster"
			      : "%zu found, in which Workloads wait",
		       n);
	}
}

/* 1. The kubeconfig of the worker, as the manager has it.
 * 2. The connection. Without an answer nothing else is asked, since each request would wait again.
 * 3. The rights of the account, then the kinds and the objects of the worker. */
void worker_check_run(const struct worker_check_options *opt, const struct worker_access *access,
		      const struct waiting_queues_keys *queues, struct worker_check *ret)
{
	struct looking l = {
		.opt = opt, .access = access, .queues = queues, .ret = ret, .why = ERR_INIT
	};

	*ret = (struct worker_check){ .cluster = access->cluster, .arena = arena_create(0) };
	if (access->state != WORKER_ACCESS_READ) {
		report(&l,
		       access->state == WORKER_ACCESS_BAD ? WORKER_FINDING_FAILED
							  : WORKER_FINDING_UNKNOWN,
		       "kubeconfig", "%s", access->why.text);
		return;
	}
	report(&l, WORKER_FINDING_OK, "kubeconfig", "%s", access->source);
	if (worker_access_connect(access, &l.t, &l.why) < 0) {
		report(&l, WORKER_FINDING_FAILED, "connection", "%s", l.why.text);
		return;
	}
	l.deadline = clock_mono(clock_real()) + (opt->all_ns > 0 ? opt->all_ns : ALL_NS);
	if (check_connection(&l)) {
		check_rights(&l);
		if (check_crd(&l)) {
			check_replicas(&l);
			check_queues(&l);
		}
	}
	transport_destroy(l.t);
}

bool worker_check_is_good(const struct worker_check *c)
{
	for (size_t i = 0; i < c->findings.n; i++) {
		if (c->findings.v[i].state == WORKER_FINDING_FAILED ||
		    c->findings.v[i].state == WORKER_FINDING_UNKNOWN) {
			return false;
		}
	}
	return true;
}

const char *worker_check_state_name(enum worker_finding_state state)
{
	static const char *const names[WORKER_FINDING_COUNT_] = {
		[WORKER_FINDING_OK] = "ok",
		[WORKER_FINDING_WARNING] = "warn",
		[WORKER_FINDING_FAILED] = "fail",
		[WORKER_FINDING_UNKNOWN] = "unknown",
	};

	return names[state];
}

void worker_check_finish(struct worker_check *c)
{
	arena_destroy(c->arena);
	vec_finish(&c->findings);
	c->arena = NULL;
}
