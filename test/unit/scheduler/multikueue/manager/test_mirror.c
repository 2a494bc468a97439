/* Merge patches by which the status of a local object follows another one. */
#include "scheduler/multikueue/manager/mirror.h"

#include <stdio.h>

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "lib/compares.h"
#include "unit/scheduler/multikueue/manager/body_fixture.h"

static void test_patch(void **state UNUSED)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	CLEANUP(jdoc_destroyp)
	struct jdoc *local = body_fixture(
		"{'metadata':{'name':'j','uid':'u','resourceVersion':'7'},'status':{'a':1}}");
	struct jdoc *status;
	CLEANUP(jdoc_destroyp) struct jdoc *patch = mirror_patch(local, &status);

	jdoc_set_int(status, "b", 2);
	jdoc_format(patch, &body);
	body_fixture_expect(&body,
			    "{'metadata':{'uid':'u','resourceVersion':'7'},'status':{'b':2}}");
}

static void test_differences(void **state UNUSED)
{
	static const struct {
		const char *name, *from, *to, *want;
	} rows[] = {
		{ "begins", "{}", "{'active':2}", "{'active':2}" },
		{ "equal members are left out", "{'a':2,'b':1}", "{'a':2,'b':2}", "{'b':2}" },
		{ "members that are gone", "{'a':2,'b':1}", "{'a':2}", "{'b':null}" },
		{ "members of members", "{'m':{'a':['a'],'b':['b']}}", "{'m':{'b':['b','c']}}",
		  "{'m':{'a':null,'b':['b','c']}}" },
		{ "an object in place of a number", "{'x':1}", "{'x':{'a':1}}", "{'x':{'a':1}}" },
		{ "another kind", "{'a':1}", "[1,{'a':2}]", "{}" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
		CLEANUP(jdoc_destroyp) struct jdoc *from = body_fixture(rows[i].from);
		CLEANUP(jdoc_destroyp) struct jdoc *to = body_fixture(rows[i].to);
		CLEANUP(jdoc_destroyp) struct jdoc *patch = jdoc_new_object();

		unit_row(rows[i].name);
		mirror_difference(from, to, patch);
		jdoc_format(patch, &body);
		body_fixture_expect(&body, rows[i].want);
	}
}

static void test_nothing_there(void **state UNUSED)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *from = body_fixture("{'a':1}");
	CLEANUP(jdoc_destroyp) struct jdoc *patch = jdoc_new_object();

	mirror_difference(from, NULL, patch);
	jdoc_format(patch, &body);
	body_fixture_expect(&body, "{'a':null}");
}

static void test_digests(void **state UNUSED)
{
	static const struct {
		const char *a, *b;
		bool same;
	} rows[] = {
		{ "{'a':1,'b':[1,2]}", "{'b':[1,2],'a':1}", true },
		{ "{'a':{'x':true,'y':null}}", "{'a':{'y':null,'x':true}}", true },
		{ "{'a':1}", "{'a':2}", false },
		{ "{'a':1}", "{'b':1}", false },
		{ "{'a':1}", "{'a':'1'}", false },
		{ "{'a':[1,2]}", "{'a':[2,1]}", false },
		{ "{'a':'x','b':'y'}", "{'a':'y','b':'x'}", false },
		{ "{'a':{'b':1}}", "{'a':{},'b':1}", false },
		{ "[]", "{}", false },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(jdoc_destroyp) struct jdoc *a = body_fixture(rows[i].a);
		CLEANUP(jdoc_destroyp) struct jdoc *b = body_fixture(rows[i].b);

		unit_row_number(i);
		assert_int_equal(mirror_digest(a) == mirror_digest(b), rows[i].same);
	}
}

enum { MEMBERS = 2000 };

/* An object of another cluster may have any number of members: with a search for each it would be
 * millions of comparisons. */
static void test_many_members(void **state UNUSED)
{
	CLEANUP(jdoc_destroyp) struct jdoc *from = jdoc_new_object();
	CLEANUP(jdoc_destroyp) struct jdoc *to = jdoc_new_object();
	CLEANUP(jdoc_destroyp) struct jdoc *patch = jdoc_new_object();
	char key[16];

	for (int i = 0; i < MEMBERS; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		(void)jdoc_add_take(from, key, jdoc_new_int(i));
		snprintf(key, sizeof(key), "k%d", 3 * MEMBERS / 2 - i);
		(void)jdoc_add_take(to, key, jdoc_new_int(i));
	}
	compares_made = 0;
	mirror_difference(from, to, patch);
	assert_in_range(compares_made, MEMBERS, 60 * MEMBERS);
	/* Half are gone, half are new, and of the others one is equal. */
	assert_int_equal(jdoc_count(patch), 3 * MEMBERS / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_patch),        cmocka_unit_test(test_differences),
		cmocka_unit_test(test_many_members), cmocka_unit_test(test_nothing_there),
		cmocka_unit_test(test_digests),
	};

	return cmocka_run_group_tests_name("manager/mirror", tests, NULL, NULL);
}
