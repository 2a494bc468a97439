#include "webhook/server/router.h"

#include "lib/unit.h"

#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "kube/reflector/reflector.h"
#include "obs/metric.h"
#include "webhook/server/lister.h"

#define REVIEW(object)                                                                             \
	"{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":{"       \
	"\"uid\":\"u\",\"operation\":\"CREATE\",\"namespace\":\"ns\",\"object\":" object "}}"

struct set {
	struct metric_registry *registry;
	struct lister *lister;
	struct router *router;
	struct arena *arena;
};

static int open_set(struct set *s, const char *enabled, struct err *err)
{
	static const char *const names[] = { "volcano" };
	struct router_options opt = { .admit = { .scheduler_names = names,
						 .scheduler_count = 1,
						 .gate_feature = true,
						 .max_queue_depth = 5 },
				      .enabled = enabled };

	s->registry = metric_registry_create();
	s->lister = lister_create(s->registry);
	s->arena = arena_create(0);
	s->router = NULL;
	opt.registry = s->registry;
	opt.lister = s->lister;
	return router_create(&opt, &s->router, err);
}

static void close_set(struct set *s)
{
	router_destroy(s->router);
	lister_destroy(s->lister);
	metric_registry_destroy(s->registry);
	arena_destroy(s->arena);
}

static struct http_response post(struct set *s, const char *path, const char *type,
				 const char *body)
{
	struct http_request req = { .method = HTTP_POST,
				    .path = str_of(path),
				    .content_type = str_of(type),
				    .body = str_of(body) };
	struct http_response ret = { 0 };

	router_handle(s->router, &req, s->arena, &ret);
	return ret;
}

static void test_refusals(void **state)
{
	static char deep[100000];
	static const char good[] = REVIEW("{}");
	static const struct {
		const char *path, *type, *body;
		int status;
		const char *text;
	} rows[] = {
		{ "/pods/mutate", "application/json", good, 200, NULL },
		{ "/pods/mutate", "application/json; charset=utf-8", good, 200, NULL },
		{ "/pods/mutate/", "application/json", good, 404, "no such path\n" },
		{ "/pods", "application/json", good, 404, "no such path\n" },
		{ "", "application/json", good, 404, "no such path\n" },
		{ "/pods/mutate", "application/yaml", good, 415,
		  "the content type must be application/json\n" },
		{ "/pods/mutate", NULL, good, 415, "the content type must be application/json\n" },
		{ "/pods/mutate", "application/json", "{\"kind\":\"Pod\"}", 400,
		  "kind: not an AdmissionReview\n" },
		{ "/pods/mutate", "application/json",
		  "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1beta1\"}", 400,
		  "apiVersion: \"admission.k8s.io/v1beta1\" is not admission.k8s.io/v1\n" },
		{ "/pods/mutate", "application/json",
		  "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\"}", 400,
		  "request: required\n" },
		{ "/pods/mutate", "application/json", "", 400, NULL },
		{ "/pods/mutate", "application/json", "{", 400, NULL },
		{ "/pods/mutate", "application/json", "[]", 400, NULL },
		{ "/pods/mutate", "application/json", deep, 400, NULL },
	};
	struct set s;

	(void)state;
	memset(deep, '[', sizeof(deep) - 1);
	assert_int_equal(open_set(&s, NULL, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct http_response r = post(&s, rows[i].path, rows[i].type, rows[i].body);

		unit_row(rows[i].path);
		assert_int_equal(r.status, rows[i].status);
		if (rows[i].text != NULL) {
			assert_true(str_eq_c(r.body, rows[i].text));
		}
	}
	close_set(&s);
}

/* The API server takes any string and any number of annotations, and so do reviews. */
static void test_odd_annotations(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	struct http_response r;
	struct set s;

	(void)state;
	assert_int_equal(open_set(&s, NULL, NULL), 0);
	strbuf_add_c(&body, "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\","
			    "\"request\":{\"uid\":\"u\",\"operation\":\"CREATE\",\"object\":"
			    "{\"metadata\":{\"annotations\":{\"x\":\"a\\u0000b\"");
	for (int i = 0; i < 10001; i++) {
		strbuf_printf(&body, ",\"k%d\":\"\"", i);
	}
	strbuf_add_c(&body, ",\"scheduling.volcano.sh/queue-allocation-gate\":\"true\"}},"
			    "\"spec\":{\"schedulerName\":\"volcano\"}}}}");
	r = post(&s, "/pods/mutate", "application/json", body.p);
	assert_int_equal(r.status, 200);
	assert_non_null(strstr(r.body.p, "\"allowed\":true,\"patchType\""));
	close_set(&s);
}

static void test_only_post(void **state)
{
	struct http_request req = { .method = HTTP_GET, .path = STR_LIT("/pods/mutate") };
	struct http_response ret = { 0 };
	struct set s;

	(void)state;
	assert_int_equal(open_set(&s, NULL, NULL), 0);
	router_handle(s.router, &req, s.arena, &ret);
	assert_int_equal(ret.status, 405);
	close_set(&s);
}

static void test_enabled(void **state)
{
	static const char *const paths[] = { "/podgroups/mutate",
					     "/podgroups/validate",
					     "/pods/mutate",
					     "/pods/mutate/labelled",
					     "/pods/mutate/labelled-alias",
					     "/pods/validate",
					     "/queues/mutate",
					     "/queues/validate" };
	struct err err = ERR_INIT;
	struct set s;

	(void)state;
	assert_int_equal(open_set(&s, " /pods/mutate, /jobs/mutate,,/pods/validate", NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		bool on = strncmp(paths[i], "/pods/", 6) == 0;

		unit_row(paths[i]);
		assert_int_equal(post(&s, paths[i], "application/json", REVIEW("{}")).status,
				 on ? 200 : 404);
	}
	close_set(&s);
	assert_int_equal(open_set(&s, NULL, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		unit_row_number(i);
		assert_int_equal(post(&s, paths[i], "application/json", REVIEW("{}")).status, 200);
	}
	close_set(&s);
	assert_int_equal(open_set(&s, "/pods/mutate,/pods", &err), -ERR_INVALID);
	assert_string_equal(err.text, "no such admission path: \"/pods\"");
	close_set(&s);
}

static void test_quota_is_served_when_asked_for(void **state)
{
	static const char *const paths[] = {
		"/mutate-batch-v1-job",
		"/mutate-kueue-x-k8s-io-v1beta2-clusterqueue",
		"/mutate-kueue-x-k8s-io-v1beta2-resourceflavor",
		"/validate-batch-v1-job",
		"/validate-kueue-x-k8s-io-v1beta2-clusterqueue",
		"/validate-kueue-x-k8s-io-v1beta2-cohort",
		"/validate-kueue-x-k8s-io-v1beta2-localqueue",
		"/validate-kueue-x-k8s-io-v1beta2-resourceflavor",
		"/validate-kueue-x-k8s-io-v1beta2-workload",
		"/validate-kueue-x-k8s-io-v1beta2-workloadpriorityclass",
	};
	struct set s;

	(void)state;
	assert_int_equal(open_set(&s, NULL, NULL), 0);
	assert_false(router_serves_quota(s.router));
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		unit_row_number(i);
		assert_int_equal(post(&s, paths[i], "application/json", REVIEW("{}")).status, 404);
	}
	close_set(&s);
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		unit_row(paths[i]);
		assert_int_equal(open_set(&s, paths[i], NULL), 0);
		assert_true(router_serves_quota(s.router));
		assert_int_equal(post(&s, paths[i], "application/json", REVIEW("{}")).status, 200);
		assert_int_equal(post(&s, "/pods/mutate", "application/json", REVIEW("{}")).status,
				 404);
		close_set(&s);
	}
}

static void test_counts(void **state)
{
	static const char *const result[] = { "path", "result", NULL };
	const char *allowed[] = { "/queues/validate", "allowed" };
	const char *denied[] = { "/queues/validate", "denied" };
	const char *error[] = { "/queues/validate", "error" };
	struct metric_family *f;
	struct set s;

	(void)state;
	assert_int_equal(open_set(&s, NULL, NULL), 0);
	post(&s, "/queues/validate", "application/json", REVIEW("{}"));
	post(&s, "/queues/validate", "application/json", REVIEW("{}"));
	post(&s, "/queues/validate", "application/json", REVIEW("{\"spec\":1}"));
	post(&s, "/queues/validate", "application/json", "{}");
	f = metric_register(s.registry, "headgate_webhook_reviews_total",
			    "Admission reviews by outcome.", METRIC_COUNTER, result);
	assert_true(metric_cell_get(metric_cell(f, allowed)) == 2);
	assert_true(metric_cell_get(metric_cell(f, denied)) == 1);
	assert_true(metric_cell_get(metric_cell(f, error)) == 1);
	close_set(&s);
}

/* The look-up of a path is a binary search. */
static void test_paths_are_sorted(void **state)
{
	size_t n = 0;
	(void)state;

	while (router_path(n) != NULL) {
		assert_int_equal(router_path(n)[0], '/');
		assert_true(n == 0 || strcmp(router_path(n - 1), router_path(n)) < 0);
		n++;
	}
	assert_true(n > 0);
	assert_null(router_path(n + 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_odd_annotations),
		cmocka_unit_test(test_only_post),
		cmocka_unit_test(test_enabled),
		cmocka_unit_test(test_quota_is_served_when_asked_for),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_paths_are_sorted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
