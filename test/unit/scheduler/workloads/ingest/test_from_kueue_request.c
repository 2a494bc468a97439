#include "scheduler/workloads/ingest/from_kueue_priv.h"

#include <stdio.h>

#include "api/core/limit_range.h"
#include "api/core/pod.h"
#include "api/core/runtime_class.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "lib/decode_fixture.h"
#include "lib/unit.h"

struct fixture {
	struct quota_model *q;
	struct from_kueue_rules *rules;
	struct arena *arena;
	struct podset p;
};

static void begin(struct fixture *f, const struct kueue_conf_resources *resources)
{
	*f = (struct fixture){ .q = quota_create(),
			       .rules = from_kueue_rules_create(resources),
			       .arena = arena_create(0) };
}

static void end(struct fixture *f)
{
	quota_destroy(f->q);
	from_kueue_rules_destroy(f->rules);
	arena_destroy(f->arena);
}

static void limit(struct fixture *f, const char *item)
{
	struct api_limit_range lr;
	char text[400];

	(void)snprintf(text, sizeof(text),
		       "{'metadata':{'name':'l','namespace':'ns'},'spec':{'limits':[%s]}}", item);
	decode_fixture(&limit_range_fields, text, &lr);
	from_kueue_rules_limits(f->rules, &lr);
}

static void ask(struct fixture *f, const char *spec)
{
	struct api_pod_spec pod;

	decode_fixture(&pod_spec_fields, spec, &pod);
	from_kueue_request(f->q, f->rules, STR_LIT("ns"), &pod, f->arena, &f->p);
}

static int64_t asked(const struct fixture *f, const char *resource)
{
	for (size_t i = 0; i < f->p.request.n; i++) {
		if (str_streq(quota_resource_name(f->q, f->p.request.v[i].id), resource)) {
			return f->p.request.v[i].value;
		}
	}
	return -1;
}

#define CONTAINER(resources) "{'containers':[{'name':'c','resources':{" resources "}}]}"

static void test_the_rule_of_pods(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, NULL);
	ask(&f,
	    "{'initContainers':[{'resources':{'requests':{'cpu':'3'}}},{'restartPolicy':'Always','"
	    "resources':{'requests':{'cpu':'500m'}}}],'containers':[{'resources':{'requests':{'cpu'"
	    ":'1','memory':'1500m'}}},{'resources':{'limits':{'cpu':'1','gpu':'0'}}}],'overhead':{'"
	    "cpu':'100m'}}");
	assert_int_equal(asked(&f, "cpu"), 3100);
	assert_int_equal(asked(&f, "memory"), 2);
	assert_int_equal(asked(&f, "gpu"), 0);
	assert_null(f.p.invalid);
	ask(&f,
	    "{'resources':{'limits':{'cpu':'8'}},'containers':[{'resources':{'requests':{'cpu':'1'"
	    "}}}]}");
	assert_int_equal(asked(&f, "cpu"), 8000);
	end(&f);
}

static void test_overhead_of_the_runtime_class(void **state)
{
	struct fixture f;
	struct api_runtime_class rc;

	(void)state;
	begin(&f, NULL);
	decode_fixture(&runtime_class_fields,
		       "{'metadata':{'name':'kata'},'overhead':{'podFixed':{'cpu':'250m'}}}", &rc);
	from_kueue_rules_runtime(f.rules, &rc);
	ask(&f, "{'runtimeClassName':'kata'}");
	assert_int_equal(asked(&f, "cpu"), 250);
	ask(&f, "{'runtimeClassName':'kata','overhead':{'cpu':'1'}}");
	assert_int_equal(asked(&f, "cpu"), 1000);
	ask(&f, "{'runtimeClassName':'unknown'}");
	assert_int_equal(asked(&f, "cpu"), -1);
	end(&f);
}

/* Limits by default come first, then requests by default, and only then limits as requests. */
static void test_defaults_of_limit_ranges(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, NULL);
	limit(&f,
	      "{'type':'Container','default':{'cpu':'2','memory':'5'},'defaultRequest':{'cpu':'1'}"
	      "},{'type':'Pod','default':{'gpu':'1'}}");
	ask(&f, CONTAINER(""));
	assert_int_equal(asked(&f, "cpu"), 1000);
	assert_int_equal(asked(&f, "memory"), 5);
	assert_int_equal(asked(&f, "gpu"), -1);
	ask(&f, CONTAINER("'requests':{'cpu':'3','memory':'1'},'limits':{'cpu':'4'}"));
	assert_int_equal(asked(&f, "cpu"), 3000);
	assert_int_equal(asked(&f, "memory"), 1);
	ask(&f, CONTAINER("'limits':{'cpu':'4'}"));
	assert_int_equal(asked(&f, "cpu"), 1000);
	end(&f);
}

static void test_requests_of_pods_that_could_not_be_created(void **state)
{
	static const struct {
		const char *limits, *spec, *invalid;
	} rows[] = {
		{ "", CONTAINER("'requests':{'cpu':'2'},'limits':{'cpu':'1'}"),
		  "containers[0]: cpu request is above its limit" },
		{ "", "{'resources':{'requests':{'cpu':'2'},'limits':{'cpu':'1'}}}",
		  "the pod's cpu request is above its limit" },
		{ "{'type':'Container','max':{'cpu':'1'}}", CONTAINER("'requests':{'cpu':'2'}"),
		  "containers[0]: cpu is above the maximum of a LimitRange" },
		{ "{'type':'Container','max':{'cpu':'1'}}",
		  CONTAINER("'requests':{'cpu':'1'},'limits':{'cpu':'2'}"),
		  "containers[0]: cpu is above the maximum of a LimitRange" },
		{ "{'type':'Container','min':{'cpu':'3'}}",
		  "{'initContainers':[{},{'resources':{'requests':{'cpu':'2'}}}]}",
		  "initContainers[1]: cpu is below the minimum of a LimitRange" },
		{ "{'type':'Pod','max':{'cpu':'3'}}",
		  "{'containers':[{'resources':{'requests':{'cpu':'2'}}},{'resources':{'requests':{"
		  "'"
		  "cpu':'2'}}}]}",
		  "the pod's cpu is above the maximum of a LimitRange" },
		{ "{'type':'Pod','min':{'cpu':'3'}}", CONTAINER("'requests':{'cpu':'2'}"),
		  "the pod's cpu is below the minimum of a LimitRange" },
		{ "{'type':'Pod','min':{'gpu':'3'}},{'type':'Container','max':{'cpu':'2'}}",
		  CONTAINER("'requests':{'cpu':'2'},'limits':{'cpu':'2'}"), NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f;

		unit_row(rows[i].limits);
		begin(&f, NULL);
		limit(&f, rows[i].limits);
		ask(&f, rows[i].spec);
		if (rows[i].invalid == NULL) {
			assert_null(f.p.invalid);
		} else {
			assert_non_null(f.p.invalid);
			assert_string_equal(f.p.invalid, rows[i].invalid);
		}
		end(&f);
	}
}

static struct quantity quantity(const char *text)
{
	struct quantity q;

	assert_int_equal(quantity_parse(str_of(text), &q, NULL), 0);
	return q;
}

static void test_excluded_and_transformed(void **state)
{
	static const char *const excluded[] = { "net/" };
	const struct field_resource slices[] = { { "gpu-memory", quantity("5Gi") },
						 { "credits", quantity("10") } };
	const struct field_resource half[] = { { "credits", quantity("500m") } };
	const struct kueue_conf_resources_transformation t[] = {
		{ .input = "mig-1g", .replace = true, .outputs = { slices, 2 } },
		{ .input = "cpu", .outputs = { half, 1 } },
		{ .input = "unused", .outputs = { half, 1 } },
	};
	const struct kueue_conf_resources conf = { excluded, 1, t, ARRAY_LEN(t) };
	struct fixture f;

	(void)state;
	begin(&f, &conf);
	ask(&f, CONTAINER("'requests':{'cpu':'1500m','mig-1g':'2','net/rdma':'1','credits':'1'}"));
	assert_int_equal(asked(&f, "net/rdma"), -1);
	assert_int_equal(asked(&f, "mig-1g"), -1);
	assert_int_equal(asked(&f, "gpu-memory"), INT64_C(10) << 30);
	/* 1 of its own, 2 * 10, and half of 1.5, which counts as 2 */
	assert_int_equal(asked(&f, "credits"), 22);
	assert_int_equal(asked(&f, "cpu"), 1500);
	end(&f);
}

static void test_multiplied(void **state)
{
	const struct field_resource one[] = { { "total", quantity("1") } };
	const struct kueue_conf_resources_transformation t[] = {
		{ .input = "per-gpu",
		  .multiply_by = "gpu",
		  .replace = true,
		  .outputs = { one, 1 } },
	};
	const struct kueue_conf_resources conf = { NULL, 0, t, 1 };
	struct fixture f;

	(void)state;
	begin(&f, &conf);
	ask(&f, CONTAINER("'requests':{'per-gpu':'3','gpu':'4'}"));
	assert_int_equal(asked(&f, "total"), 12);
	assert_int_equal(asked(&f, "gpu"), 4);
	ask(&f, CONTAINER("'requests':{'per-gpu':'3'}"));
	assert_int_equal(asked(&f, "total"), 3);
	end(&f);
}

/* As many names as one object may have, each also made another by a transformation or not. */
static void test_many_names(void **state)
{
	enum { MANY = 10000 };
	struct strbuf spec CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct field_resource outputs[] = { { "r1", quantity_of(5, QUANTITY_DECIMAL_SI) } };
	struct kueue_conf_resources_transformation t = { .input = "r2", .outputs = { outputs, 1 } };
	struct kueue_conf_resources with = { .transformations = &t, .ntransformations = 1 },
				    without = { .ntransformations = 0 };

	(void)state;
	strbuf_add_c(&spec, "{'containers':[{'name':'c','resources':{'requests':{");
	for (int i = MANY; i > 0; i--) {
		strbuf_printf(&spec, "%s'r%d':'%d'", i == MANY ? "" : ",", i, 1 + i % 2);
	}
	strbuf_add_c(&spec, "}}}]}");
	for (int pass = 0; pass < 2; pass++) {
		struct fixture f;

		begin(&f, pass == 0 ? &without : &with);
		ask(&f, spec.p);
		assert_int_equal(f.p.request.n, MANY);
		for (size_t i = 1; i < MANY; i++) {
			assert_true(f.p.request.v[i - 1].id < f.p.request.v[i].id);
		}
		assert_int_equal(asked(&f, "r1"), pass == 0 ? 2 : 7);
		assert_int_equal(asked(&f, "r2"), 1);
		assert_int_equal(asked(&f, "r10000"), 1);
		end(&f);
	}
}

static void test_bounds(void **state)
{
	const struct field_resource big[] = { { "total", quantity("8E") },
					      { "less", quantity("-1") } };
	const struct kueue_conf_resources_transformation t[] = {
		{ .input = "x", .outputs = { big, 2 } },
	};
	const struct kueue_conf_resources conf = { NULL, 0, t, 1 };
	struct fixture f;

	(void)state;
	begin(&f, &conf);
	ask(&f, CONTAINER("'requests':{'x':'8E'}"));
	assert_int_equal(asked(&f, "total"), QUOTA_UNLIMITED - 1);
	assert_int_equal(asked(&f, "less"), 0);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_rule_of_pods),
		cmocka_unit_test(test_overhead_of_the_runtime_class),
		cmocka_unit_test(test_defaults_of_limit_ranges),
		cmocka_unit_test(test_requests_of_pods_that_could_not_be_created),
		cmocka_unit_test(test_excluded_and_transformed),
		cmocka_unit_test(test_multiplied),
		cmocka_unit_test(test_many_names),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
