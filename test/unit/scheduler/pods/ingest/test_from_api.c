#include "scheduler/pods/ingest/from_api.h"

#include <stdio.h>

#include "api/volcano/scheduling.h"
#include "base/err.h"
#include "collections/strmap.h"
#include "lib/unit.h"
#include "unit/scheduler/pods/ingest/api_fixture.h"

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
		struct res request = { .more = NULL }, limit = { .more = NULL };
		struct unoffered none = { .v = NULL };
		int dim;

		assert_int_equal(from_api_offered(c, &list, INT64_MAX, &limit, NULL), 0);
		assert_int_equal(from_api_requested(c, &list, INT64_MAX, &request, &none, NULL), 0);
		dim = res_names_find(c->res, str_of(rows[i].name));
		assert_int_equal(request.v[dim], rows[i].request);
		assert_int_equal(limit.v[dim], rows[i].limit);
		assert_int_equal(none.n, 0);
	}
	cluster_destroy(c);
}

static void test_amounts_at_limit_and_beyond(void **state)
{
	struct field_resource one = { "memory", quantity_of(100, QUANTITY_DECIMAL_SI) };
	struct field_resources list = { &one, 1 };
	struct cluster *c = cluster_create();
	struct unoffered none = { .v = NULL };
	struct res r = { .more = NULL };
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(from_api_offered(c, &list, 100, &r, &err), 0);
	assert_int_equal(from_api_offered(c, &list, 99, &r, &err), -ERR_INVALID);
	assert_int_equal(from_api_requested(c, &list, 100, &r, &none, &err), 0);
	assert_int_equal(from_api_requested(c, &list, 99, &r, &none, &err), -ERR_INVALID);
	assert_string_equal(err.text, "memory: 100 is more than can be counted");
	one.amount = parse("-1n");
	assert_int_equal(from_api_offered(c, &list, 99, &r, &err), -ERR_INVALID);
	assert_int_equal(from_api_requested(c, &list, 99, &r, &none, &err), -ERR_INVALID);
	assert_string_equal(err.text, "memory: negative");
	cluster_destroy(c);
}

/* A request makes no dimension, whatever its name; a request of 0 asks for nothing. */
static void test_requests_add_no_name(void **state)
{
	struct field_resource two[] = { { "example.com/a", parse("1500m") },
					{ "example.com/b", parse("0") } };
	struct field_resources list = { two, 2 };
	struct cluster *c = cluster_create();
	struct unoffered_amount room[2];
	struct unoffered u = { .v = room };
	struct res r = { .more = NULL };

	(void)state;
	assert_int_equal(from_api_requested(c, &list, 9, &r, &u, NULL), 0);
	assert_int_equal(res_names_count(c->res), RES_FIRST_NAMED);
	assert_int_equal(u.n, 1);
	assert_string_equal(u.v[0].name, "example.com/a");
	assert_int_equal(u.v[0].amount, 2);
	assert_true(res_is_zero(&r));
	assert_int_equal(from_api_offered(c, &list, 9, &r, NULL), 0);
	assert_int_equal(res_names_count(c->res), RES_FIRST_NAMED + 2);
	cluster_destroy(c);
}

/* A list that is refused for nonsense leaves no names behind. */
static void test_refused_lists_add_no_names(void **state)
{
	struct field_resource two[] = { { "example.com/a", parse("1") },
					{ "example.com/b", parse("10") } };
	struct field_resources list = { two, 2 };
	struct cluster *c = cluster_create();
	struct err err = ERR_INIT;
	struct res r = { .more = NULL };

	(void)state;
	assert_int_equal(from_api_offered(c, &list, 9, &r, &err), -ERR_INVALID);
	assert_int_equal(res_names_count(c->res), RES_FIRST_NAMED);
	assert_int_equal(from_api_offered(c, &list, 10, &r, &err), 0);
	assert_int_equal(res_names_count(c->res), RES_FIRST_NAMED + 2);
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
		cmocka_unit_test(test_requests_add_no_name),
		cmocka_unit_test(test_refused_lists_add_no_names),
		cmocka_unit_test(test_texts_are_interned),
		cmocka_unit_test(test_priority_class),
	};

	return cmocka_run_group_tests_name("pods/ingest/from_api", tests, NULL, NULL);
}
