#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/core/pod.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "lib/field_flip.h"
#include "lib/unit.h"
#include "scheduler/pods/ingest/from_api.h"
#include "scheduler/pods/model/images.h"
#include "unit/scheduler/pods/ingest/api_fixture.h"

static int read_spec(struct api_fixture *f, const char *spec, struct pod_class *k, struct err *err)
{
	char json[2048];

	snprintf(json, sizeof(json), "{\"metadata\":{\"name\":\"p\"},\"spec\":{%s}}", spec);
	*k = (struct pod_class){ .refs = 0 };
	return from_api_class_read(f->c, api_fixture_decode(f->arena, &pod_fields, json), f->arena,
				   k, err);
}

#define AFFINITY(text) "\"affinity\":{\"nodeAffinity\":{" text "}}"
#define REQUIRED(text)                                                                             \
	AFFINITY(                                                                                  \
		"\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":[" text \
		"]}")

static void test_refusals(void **state)
{
	static const struct {
		const char *spec, *refusal;
	} rows[] = {
		{ "", NULL },
		{ "\"volumes\":[{\"name\":\"v\",\"emptyDir\":{}}]", NULL },
		{ "\"volumes\":[{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"c\"}}]",
		  NULL },
		{ "\"volumes\":[{\"name\":\"v\",\"ephemeral\":{}}]", NULL },
		{ "\"resourceClaims\":[{\"name\":\"x\"}]", POD_CLASS_RESOURCE_CLAIMS },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pod_class k;

		assert_int_equal(read_spec(*state, rows[i].spec, &k, NULL), 0);
		if (!str_streq(k.unsupported, rows[i].refusal)) {
			fail_msg("row %zu: %s", i, k.unsupported);
		}
		if (k.unsupported != NULL) { /* a dump can be loaded again */
			assert_non_null(pod_class_refusal(str_of(k.unsupported)));
		}
	}
}

/* Of a pod with n claims. */
static const char *refusal_of_claims(struct api_fixture *f, int n, struct pod_class *k)
{
	struct strbuf json CLEANUP(strbuf_finish) = STRBUF_INIT;

	strbuf_add_c(&json, "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"volumes\":[");
	for (int i = 0; i < n; i++) {
		strbuf_printf(&json,
			      "%s{\"name\":\"v%d\",\"persistentVolumeClaim\":{\"claimName\":"
			      "\"c%d\"}}",
			      i == 0 ? "" : ",", i, i);
	}
	strbuf_add_c(&json, "]}}");
	*k = (struct pod_class){ .refs = 0 };
	assert_int_equal(from_api_class_claims(f->c,
					       api_fixture_decode(f->arena, &pod_fields, json.p),
					       f->arena, k, NULL),
			 0);
	return k->unsupported;
}

static void test_claims_of_volumes(void **state)
{
	struct api_fixture *f = *state;
	struct pod_class k;

	assert_null(refusal_of_claims(f, 0, &k));
	assert_null(k.claims_in);
	assert_null(refusal_of_claims(f, POD_CLASS_CLAIMS_MAX, &k));
	assert_int_equal(k.nclaims, POD_CLASS_CLAIMS_MAX);
	assert_string_equal(k.claims[1].name, "c1");
	assert_null(k.claims[1].owner);
	assert_string_equal(k.claims_in, "default");
	assert_string_equal(refusal_of_claims(f, POD_CLASS_CLAIMS_MAX + 1, &k), POD_CLASS_CLAIMS);
	assert_non_null(pod_class_refusal(str_of(k.unsupported)));
}

/* With n labels and tolerations in all, and many values, which do not count. */
static const char *refusal_of_size(struct api_fixture *f, int n)
{
	struct strbuf json CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct pod_class k = { .refs = 0 };

	strbuf_add_c(&json,
		     "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"nodeSelector\":{\"k\":\"v\"},"
		     "\"affinity\":{\"nodeAffinity\":{"
		     "\"requiredDuringSchedulingIgnoredDuringExecution\":{"
		     "\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"zone\","
		     "\"operator\":\"In\",\"values\":[\"z\"");
	for (int i = 9000; i > 0; i--) {
		strbuf_printf(&json, ",\"v%d\"", i);
	}
	strbuf_add_c(&json, "]}]}]}}},\"tolerations\":[{\"operator\":\"Exists\"}");
	for (int i = 4; i < n; i++) { /* a label, a term, an expression, a toleration */
		strbuf_printf(&json, ",{\"key\":\"t%d\",\"operator\":\"Exists\"}", i);
	}
	strbuf_add_c(&json, "]}}");
	assert_int_equal(from_api_class_read(f->c,
					     api_fixture_decode(f->arena, &pod_fields, json.p),
					     f->arena, &k, NULL),
			 0);
	assert_int_equal(k.required[0].exprs[0].nvalues, 9001);
	for (size_t i = 1; i < 9001; i++) {
		assert_true(strcmp(k.required[0].exprs[0].values[i - 1],
				   k.required[0].exprs[0].values[i]) < 0);
	}
	return k.unsupported;
}

static void test_pods_that_cost_too_much_per_node_are_refused(void **state)
{
	assert_null(refusal_of_size(*state, POD_CLASS_PARTS_MAX));
	assert_string_equal(refusal_of_size(*state, POD_CLASS_PARTS_MAX + 1), POD_CLASS_TOO_LARGE);
	assert_non_null(pod_class_refusal(str_of(POD_CLASS_TOO_LARGE)));
}

static void test_node_affinity(void **state)
{
	struct pod_class k;

	assert_int_equal(
		read_spec(*state,
			  REQUIRED("{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"In\","
				   "\"values\":[\"a\",\"b\"]},{\"key\":\"gpu\",\"operator\":"
				   "\"Exists\"}],\"matchFields\":[{\"key\":\"metadata.name\","
				   "\"operator\":\"NotIn\",\"values\":[\"n1\"]}]},{}"),
			  &k, NULL),
		0);
	assert_true(k.has_required);
	assert_int_equal(k.nrequired, 1); /* the empty term matches nothing */
	assert_int_equal(k.required[0].nexprs, 3);
	assert_int_equal(k.required[0].exprs[0].nvalues, 2);
	assert_int_equal(k.required[0].exprs[1].op, MATCH_EXISTS);
	assert_true(k.required[0].exprs[2].on_field);
	assert_int_equal(k.required[0].exprs[2].op, MATCH_NOT_IN);
	assert_int_equal(read_spec(*state, REQUIRED(""), &k, NULL), 0);
	assert_true(k.has_required);
	assert_int_equal(k.nrequired, 0);
	assert_int_equal(
		read_spec(
			*state,
			AFFINITY("\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":"
				 "30,\"preference\":{\"matchExpressions\":[{\"key\":\"a\","
				 "\"operator\":\"Gt\",\"values\":[\"5\"]}]}},{\"weight\":1,"
				 "\"preference\":{}}]"),
			&k, NULL),
		0);
	assert_false(k.has_required);
	assert_int_equal(k.npreferred, 1);
	assert_int_equal(k.preferred[0].weight, 30);
	assert_int_equal(k.preferred[0].exprs[0].op, MATCH_GT);
}

static void test_bad_affinity_names_its_place(void **state)
{
	struct pod_class k;
	struct err err = ERR_INIT;

	assert_int_equal(read_spec(*state,
				   REQUIRED("{},{\"matchExpressions\":[{\"key\":\"zone\","
					    "\"operator\":\"Near\"}]}"),
				   &k, &err),
			 -ERR_INVALID);
	assert_non_null(strstr(err.text, "nodeSelectorTerms[1]: operator: unknown \"Near\""));
	assert_int_equal(read_spec(*state,
				   REQUIRED("{\"matchFields\":[{\"key\":\"zone\",\"operator\":"
					    "\"Exists\"}]}"),
				   &k, &err),
			 -ERR_INVALID);
	assert_non_null(strstr(err.text, "matchFields"));
}

static void test_tolerations(void **state)
{
	struct pod_class k;

	assert_int_equal(
		read_spec(
			*state,
			"\"tolerations\":[{\"operator\":\"Exists\"},{\"key\":\"a\",\"value\":\"1\","
			"\"effect\":\"NoExecute\",\"tolerationSeconds\":5},{\"key\":\"b\","
			"\"operator\":\"Lt\",\"value\":\"3\"},{\"value\":\"x\"},{\"key\":\"c\","
			"\"operator\":\"Equal\",\"effect\":\"Whenever\"}]",
			&k, NULL),
		0);
	/* An unknown toleration tolerates nothing. */
	assert_int_equal(k.ntolerations, 2);
	assert_null(k.tolerations[0].key);
	assert_true(k.tolerations[0].exists && k.tolerations[0].any_effect);
	assert_string_equal(k.tolerations[1].key, "a");
	assert_string_equal(k.tolerations[1].value, "1");
	assert_int_equal(k.tolerations[1].effect, TAINT_NO_EXECUTE);
	assert_false(k.tolerations[1].exists || k.tolerations[1].any_effect);
}

static void test_ports(void **state)
{
	struct pod_class k;
	struct err err = ERR_INIT;

	assert_int_equal(
		read_spec(
			*state,
			"\"containers\":[{\"ports\":[{\"containerPort\":1},{\"hostPort\":80,"
			"\"protocol\":\"UDP\",\"hostIP\":\"10.0.0.1\"}]}],\"initContainers\":["
			"{\"ports\":[{\"hostPort\":81}]},{\"restartPolicy\":\"Always\",\"ports\":["
			"{\"hostPort\":82,\"protocol\":\"SCTP\"}]}]",
			&k, NULL),
		0);
	assert_int_equal(k.nports, 2);
	assert_int_equal(k.ports[0].port, 80);
	assert_int_equal(k.ports[0].protocol, 1);
	assert_string_equal(k.ports[0].ip, "10.0.0.1");
	assert_int_equal(k.ports[1].port, 82);
	assert_int_equal(k.ports[1].protocol, 2);
	assert_string_equal(k.ports[1].ip, "0.0.0.0");
	assert_int_equal(read_spec(*state,
				   "\"hostNetwork\":true,\"containers\":[{\"ports\":["
				   "{\"containerPort\":65535}]}]",
				   &k, NULL),
			 0);
	assert_int_equal(k.ports[0].port, 65535);
	assert_int_equal(
		read_spec(*state, "\"containers\":[{\"ports\":[{\"hostPort\":65536}]}]", &k, &err),
		-ERR_INVALID);
	assert_non_null(strstr(err.text, "ports[0]: hostPort"));
}

static void test_images(void **state)
{
	static const struct {
		const char *spec;
		const char *names; /* with times */
		uint32_t sources;
	} rows[] = {
		{ "\"containers\":[{\"image\":\"a\"}]", "a:latest 1 ", 1 },
		{ "\"containers\":[{\"image\":\"a:1\"}]", "a:1 1 ", 1 },
		{ "\"containers\":[{\"image\":\"host:5000/a\"}]", "host:5000/a:latest 1 ", 1 },
		{ "\"containers\":[{\"image\":\"host:5000/a:1\"}]", "host:5000/a:1 1 ", 1 },
		{ "\"containers\":[{\"image\":\"a@sha256:0\"}]", "a@sha256:0 1 ", 1 },
		{ "\"containers\":[{\"image\":\"a\"},{\"image\":\"b\"},{\"image\":\"a:latest\"}]",
		  "a:latest 2 b:latest 1 ", 3 },
		{ "\"initContainers\":[{\"image\":\"i\"}],\"containers\":[{\"image\":\"a\"}],"
		  "\"volumes\":[{\"name\":\"v\",\"image\":{\"reference\":\"m\"}},{\"name\":"
		  "\"w\",\"image\":{}},{\"name\":\"x\",\"emptyDir\":{}}]",
		  "i:latest 1 a:latest 1 m:latest 1 ", 4 },
		/* Nothing to look for. */
		{ "\"containers\":[{\"name\":\"c\"}]", "", 0 },
		{ "\"containers\":[{\"image\":\"\"}]", "", 0 },
		/* Placed already. */
		{ "\"nodeName\":\"n\",\"containers\":[{\"image\":\"a\"}]", "", 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf names = STRBUF_INIT;
		struct pod_class k;

		unit_row(rows[i].spec);
		assert_int_equal(read_spec(*state, rows[i].spec, &k, NULL), 0);
		for (size_t j = 0; j < k.nimages; j++) {
			strbuf_printf(&names, "%s %u ", k.images[j].name, k.images[j].times);
		}
		assert_true(str_eq_c(strbuf_str(&names), rows[i].names));
		assert_int_equal(k.image_sources, rows[i].sources);
	}
}

/* Of a pod with n images. */
static void read_images(struct api_fixture *f, size_t n, struct pod_class *k)
{
	CLEANUP(strbuf_finish) struct strbuf json = STRBUF_INIT;

	strbuf_add_c(&json, "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[");
	for (size_t i = 0; i < n; i++) {
		strbuf_printf(&json, "%s{\"image\":\"i%zu\"}", i == 0 ? "" : ",", i);
	}
	strbuf_add_c(&json, "]}}");
	*k = (struct pod_class){ .refs = 0 };
	assert_int_equal(from_api_class_read(f->c,
					     api_fixture_decode(f->arena, &pod_fields, json.p),
					     f->arena, k, NULL),
			 0);
}

static void test_images_have_limits(void **state)
{
	char spec[IMAGES_NAME_MAX + 64];
	struct api_fixture *f = *state;
	struct pod_class k;

	read_images(f, POD_CLASS_IMAGES_MAX, &k);
	assert_int_equal(k.nimages, POD_CLASS_IMAGES_MAX);
	read_images(f, POD_CLASS_IMAGES_MAX + 1, &k);
	assert_int_equal(k.nimages, POD_CLASS_IMAGES_MAX);
	assert_int_equal(k.image_sources, POD_CLASS_IMAGES_MAX + 1);
	assert_null(k.unsupported);
	for (int more = 0; more <= 1; more++) {
		snprintf(spec, sizeof(spec), "\"containers\":[{\"image\":\"%0*d:1\"}]",
			 IMAGES_NAME_MAX - 2 + more, 0);
		assert_int_equal(read_spec(f, spec, &k, NULL), 0);
		assert_int_equal(k.nimages, more == 0);
	}
}

struct flipped {
	struct api_fixture *f;
	const struct api_pod *pod;
	char *before;
	size_t n;
};

/* The text by which equal pods are found; NULL: the pod is refused. */
static char *signature(struct api_fixture *f, const struct api_pod *pod)
{
	struct strbuf text = STRBUF_INIT;
	struct pod_class k = { .refs = 0 };

	if (from_api_class_read(f->c, pod, f->arena, &k, NULL) < 0) {
		return NULL;
	}
	pod_class_normalise(&k);
	pod_class_format(&k, &text);
	return strbuf_steal(&text, NULL);
}

/* Whether a node may be chosen by it. The lists with a refusal of their own are above; hostNetwork
 * opens only ports that have no hostPort. */
static bool matters(const char *path)
{
	static const char *const parts[] = {
		"affinity.nodeAffinity.", "nodeSelector",       "tolerations",
		"containers.ports.",      "containers shorter", "containers.ports shorter",
		"containers.image",
	};

	if (str_streq(path, "tolerations.tolerationSeconds") ||
	    str_streq(path, "containers.ports.containerPort")) {
		return false;
	}
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		if (strncmp(path, parts[i], strlen(parts[i])) == 0) {
			return true;
		}
	}
	return false;
}

static void expect_another_class(void *ctx, const char *path)
{
	struct flipped *flipped = ctx;
	char *now = signature(flipped->f, flipped->pod);

	print_message("%s\n", path);
	assert_int_equal(now == NULL || strcmp(flipped->before, now) != 0, matters(path));
	free(now);
	flipped->n++;
}

/* Pods that differ in a field on which their node may depend are of different classes; any other
 * field makes no class of its own. */
static void test_every_field_that_matters_is_in_the_class(void **state)
{
	struct api_fixture *f = *state;
	struct api_pod *pod = api_fixture_decode(
		f->arena, &pod_fields,
		"{\"metadata\":{\"name\":\"p\"},\"spec\":{"
		"\"affinity\":{\"nodeAffinity\":{"
		"\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"preference\":{"
		"\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"x\",\"y\"]}"
		"]},"
		"\"weight\":3}],"
		"\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":[{"
		"\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"x\",\"y\"]}"
		"],"
		"\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"n\"]"
		"}]"
		"}]}}},"
		"\"containers\":[{\"image\":\"i\",\"name\":\"c\",\"ports\":[{\"containerPort\":80,"
		"\"hostIP\":\"10."
		"0.0.1\","
		"\"hostPort\":80,\"protocol\":\"UDP\"}]}],"
		"\"nodeSelector\":{\"k\":\"v\"},\"overhead\":{\"cpu\":\"1\"},"
		"\"preemptionPolicy\":\"Never\",\"priority\":1,\"priorityClassName\":\"c\","
		"\"restartPolicy\":\"Never\",\"runtimeClassName\":\"r\",\"schedulerName\":\"s\","
		"\"schedulingGates\":[{\"name\":\"g\"}],"
		"\"tolerations\":[{\"effect\":\"NoSchedule\",\"key\":\"t\",\"operator\":\"Equal\","
		"\"tolerationSeconds\":5,\"value\":\"v\"}]}}");
	struct flipped flipped = { .f = f, .pod = pod, .before = signature(f, pod) };

	assert_non_null(flipped.before);
	field_flip_each(&pod_spec_fields, &pod->spec, expect_another_class, &flipped);
	assert_true(flipped.n > 30);
	free(flipped.before);
}

#define T(name) cmocka_unit_test_setup_teardown(name, api_fixture_setup, api_fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_refusals),
		T(test_claims_of_volumes),
		T(test_pods_that_cost_too_much_per_node_are_refused),
		T(test_node_affinity),
		T(test_bad_affinity_names_its_place),
		T(test_tolerations),
		T(test_ports),
		T(test_images),
		T(test_images_have_limits),
		T(test_every_field_that_matters_is_in_the_class),
	};

	return cmocka_run_group_tests_name("pods/ingest/from_api_class", tests, NULL, NULL);
}
