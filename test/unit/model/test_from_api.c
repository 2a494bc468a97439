#include "model/from_api.h"

#include <stdio.h>

#include "api/scheduling.h"
#include "base/err.h"
#include "base/strmap.h"
#include "lib/api_fixture.h"
#include "lib/unit.h"

static struct quantity parse(const char *text)
{
	struct quantity q;

	assert_int_equal(quantity_parse(str_of(text), &q, NULL), 0);
	return q;
}

static void test_requests_up_limits_down(void **state)
{
	static const struct {
		const char *name, *text;
		int64_t request, limit;
	} rows[] = {
		{ "cpu", "1", 1000, 1000 },
		{ "cpu", "1100u", 2, 1 },
		{ "cpu", "1n", 1, 0 },
		{ "memory", "1500m", 2, 1 },
		{ "memory", "1Ki", 1024, 1024 },
		{ "ephemeral-storage", "1k", 1000, 1000 },
		{ "example.com/gpu", "3", 3, 3 },
	};
	struct cluster *c = cluster_create();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct field_resource one = { rows[i].name, parse(rows[i].text) };
		struct field_resources list = { &one, 1 };
		struct res request = { { 0 } }, limit = { { 0 } };
		int dim;

		assert_int_equal(
			from_api_amounts(c, &list, FROM_API_REQUEST, INT64_MAX, &request, NULL), 0);
		assert_int_equal(
			from_api_amounts(c, &list, FROM_API_LIMIT, INT64_MAX, &limit, NULL), 0);
		dim = res_names_find(c->res, str_of(rows[i].name));
		assert_int_equal(request.v[dim], rows[i].request);
		assert_int_equal(limit.v[dim], rows[i].limit);
	}
	cluster_destroy(c);
}

static void test_amounts_at_limit_and_beyond(void **state)
{
	struct field_resource one = { "memory", quantity_of(100, QUANTITY_DECIMAL_SI) };
	struct field_resources list = { &one, 1 };
	struct cluster *c = cluster_create();
	struct res r = { { 0 } };
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(from_api_amounts(c, &list, FROM_API_REQUEST, 100, &r, &err), 0);
	assert_int_equal(from_api_amounts(c, &list, FROM_API_REQUEST, 99, &r, &err), -ERR_INVALID);
	assert_string_equal(err.text, "memory: absurdly large");
	one.amount = parse("-1n");
	assert_int_equal(from_api_amounts(c, &list, FROM_API_REQUEST, 99, &r, &err), -ERR_INVALID);
	assert_string_equal(err.text, "memory: negative");
	cluster_destroy(c);
}

/* A node lists resources that nobody has any of: they take no dimension. */
static void test_zero_requests_add_no_name(void **state)
{
	struct field_resource one = { "hugepages-1Gi", quantity_of(0, QUANTITY_BINARY_SI) };
	struct field_resources list = { &one, 1 };
	struct cluster *c = cluster_create();
	struct res r = { { 0 } };

	(void)state;
	assert_int_equal(from_api_amounts(c, &list, FROM_API_REQUEST, 1, &r, NULL), 0);
	assert_int_equal(res_names_count(c->res), RES_FIRST_NAMED);
	assert_int_equal(from_api_amounts(c, &list, FROM_API_LIMIT, 1, &r, NULL), 0);
	assert_int_equal(res_names_count(c->res), RES_FIRST_NAMED + 1);
	cluster_destroy(c);
}

static void test_too_many_resource_names(void **state)
{
	struct cluster *c = cluster_create();
	struct err err = ERR_INIT;
	char name[32];
	struct field_resource one = { name, quantity_of(1, QUANTITY_DECIMAL_SI) };
	struct field_resources list = { &one, 1 };
	struct res r = { { 0 } };

	(void)state;
	for (int i = RES_FIRST_NAMED; i < RES_MAX; i++) {
		snprintf(name, sizeof(name), "example.com/r%d", i);
		assert_int_equal(from_api_amounts(c, &list, FROM_API_REQUEST, 1, &r, &err), 0);
	}
	snprintf(name, sizeof(name), "example.com/last");
	assert_int_equal(from_api_amounts(c, &list, FROM_API_REQUEST, 1, &r, &err), -ERR_INVALID);
	assert_non_null(strstr(err.text, "example.com/last"));
	cluster_destroy(c);
}

/* Whoever asks for too many names, or for nonsense, leaves those that are left to others. */
static void test_refused_lists_use_up_no_names(void **state)
{
	struct cluster *c = cluster_create();
	struct err err = ERR_INIT;
	char names[RES_MAX][32];
	struct field_resource v[RES_MAX];
	struct field_resources list = { v, RES_MAX - RES_FIRST_NAMED + 1 };
	struct res r = { { 0 } };

	(void)state;
	for (size_t i = 0; i < RES_MAX; i++) {
		snprintf(names[i], sizeof(names[i]), "example.com/r%zu", i);
		v[i] = (struct field_resource){ names[i], quantity_of(1, QUANTITY_DECIMAL_SI) };
	}
	assert_int_equal(from_api_amounts(c, &list, FROM_API_REQUEST, 9, &r, &err), -ERR_INVALID);
	assert_int_equal(res_names_count(c->res), RES_FIRST_NAMED);
	v[1].amount = quantity_of(10, QUANTITY_DECIMAL_SI);
	list.n = 2;
	assert_int_equal(from_api_amounts(c, &list, FROM_API_REQUEST, 9, &r, &err), -ERR_INVALID);
	assert_int_equal(res_names_count(c->res), RES_FIRST_NAMED);
	v[1].amount = v[0].amount;
	list.n = RES_MAX - RES_FIRST_NAMED;
	assert_int_equal(from_api_amounts(c, &list, FROM_API_REQUEST, 9, &r, &err), 0);
	assert_int_equal(res_names_count(c->res), RES_MAX);
	cluster_destroy(c);
}

static void test_texts_are_interned(void **state)
{
	struct cluster *c = cluster_create();
	const char *a, *b, *none;

	(void)state;
	assert_int_equal(from_api_text(c, "zone", &a, NULL), 0);
	assert_int_equal(from_api_text(c, "zone", &b, NULL), 0);
	assert_int_equal(from_api_text(c, NULL, &none, NULL), 0);
	assert_ptr_equal(a, b);
	assert_string_equal(none, "");
	cluster_destroy(c);
}

static void test_priority_class(void **state)
{
	struct cluster *c = cluster_create();
	struct arena *arena = arena_create(0);
	const struct priority_class *p;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(
		from_api_priority_class(c,
					api_fixture_decode(arena, &scheduling_priority_class_fields,
							   "{\"metadata\":{\"name\":\"high\"},"
							   "\"value\":-7,\"globalDefault\":true}"),
					&err),
		0);
	p = strmap_get(c->priority_classes, STR_LIT("high"));
	assert_int_equal(p->value, -7);
	assert_true(p->global_default);
	assert_int_equal(from_api_priority_class(
				 c,
				 api_fixture_decode(arena, &scheduling_priority_class_fields, "{}"),
				 &err),
			 -ERR_INVALID);
	arena_destroy(arena);
	cluster_destroy(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests_up_limits_down),
		cmocka_unit_test(test_amounts_at_limit_and_beyond),
		cmocka_unit_test(test_zero_requests_add_no_name),
		cmocka_unit_test(test_too_many_resource_names),
		cmocka_unit_test(test_refused_lists_use_up_no_names),
		cmocka_unit_test(test_texts_are_interned),
		cmocka_unit_test(test_priority_class),
	};

	return cmocka_run_group_tests_name("model/from_api", tests, NULL, NULL);
}
