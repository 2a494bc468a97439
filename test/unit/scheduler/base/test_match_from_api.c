#include "api/core/pod.h"

#include "api/meta/selector.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "collections/intern.h"
#include "lib/decode_fixture.h"
#include "lib/unit.h"
#include "scheduler/base/match_from_api.h"
#include <string.h>

/* Terms and tolerations as classes of pods have them: test_from_api_class.c. */
static void test_label_selectors(void **state)
{
	struct intern *names = intern_create();
	struct arena *arena = arena_create(0);
	struct api_label_selector sel;
	struct match_expr *e;
	struct err err = ERR_INIT;
	size_t n;

	(void)state;
	decode_fixture(
		&selector_fields,
		"{'matchLabels':{'b':'2','a':'1'},'matchExpressions':[{'key':'c','operator':'"
		"NotIn','values':['x','y']},{'key':'d','operator':'Exists'},{'key':'e','operator"
		"':'DoesNotExist'}]}",
		&sel);
	assert_int_equal(match_from_api_label_selector(names, &sel, arena, &e, &n, NULL), 0);
	assert_int_equal(n, 5);
	assert_string_equal(e[0].key, "a");
	assert_string_equal(e[1].values[0], "2");
	assert_int_equal(e[2].op, MATCH_NOT_IN);
	assert_int_equal(e[2].nvalues, 2);
	assert_int_equal(e[3].op, MATCH_EXISTS);
	assert_int_equal(e[4].op, MATCH_NOT_EXISTS);
	decode_fixture(&selector_fields,
		       "{'matchLabels':{'a':'1'},'matchExpressions':[{'key':'c','operator':'Lt'}]}",
		       &sel);
	assert_int_equal(match_from_api_label_selector(names, &sel, arena, &e, &n, &err),
			 -ERR_INVALID);
	assert_string_equal(err.text, "matchExpressions[0]: operator: not for labels: \"Lt\"");
	arena_destroy(arena);
	intern_destroy(names);
}

static void test_labels_only(void **state)
{
	struct intern *names = intern_create();
	struct arena *arena = arena_create(0);
	struct api_pod_spec spec;
	const struct api_node_selector *sel;
	struct match_term *v;
	struct err err = ERR_INIT;
	size_t n;

	(void)state;
	decode_fixture(
		&pod_spec_fields,
		"{'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{'"
		"nodeSelectorTerms':[{'matchExpressions':[{'key':'a','operator':'Gt','values':['"
		"3']}],'matchFields':[{'key':'what','operator':'In'}]},{}]}}}}",
		&spec);
	sel = spec.affinity->node->required;
	assert_int_equal(match_from_api_labels_only(names, sel, arena, &v, &n, NULL), 0);
	assert_int_equal(n, 2);
	assert_int_equal(v[0].nexprs, 1);
	assert_int_equal(v[0].exprs[0].op, MATCH_GT);
	assert_int_equal(v[1].nexprs, 0);
	assert_int_equal(match_from_api_required(names, sel, arena, &v, &n, &err), -ERR_INVALID);
	assert_non_null(strstr(err.text, "nodeSelectorTerms[0]: matchFields: only metadata.name"));
	arena_destroy(arena);
	intern_destroy(names);
}

static void test_a_full_table_is_an_error(void **state)
{
	struct intern *names = intern_create_max(1);
	const char *text;
	struct err err = ERR_INIT;
	uint8_t effect = 9;

	(void)state;
	assert_int_equal(match_from_api_text(names, NULL, &text, &err), 0);
	assert_string_equal(text, "");
	assert_int_equal(match_from_api_text(names, "a", &text, &err), -ERR_INVALID);
	assert_false(match_from_api_effect("None", &effect));
	assert_int_equal(effect, 9);
	assert_true(match_from_api_effect("PreferNoSchedule", &effect));
	assert_int_equal(effect, TAINT_PREFER_NO_SCHEDULE);
	intern_destroy(names);
}

static int read_selector(struct intern *names, const struct api_pod_spec *spec, struct arena *arena,
			 struct err *err)
{
	struct label *v;
	size_t n;

	return match_from_api_selector(names, &spec->node_selector, arena, &v, &n, err);
}

static int read_required(struct intern *names, const struct api_pod_spec *spec, struct arena *arena,
			 struct err *err)
{
	struct match_term *v;
	size_t n;

	return match_from_api_required(names, spec->affinity->node->required, arena, &v, &n, err);
}

static int read_labels_only(struct intern *names, const struct api_pod_spec *spec,
			    struct arena *arena, struct err *err)
{
	struct match_term *v;
	size_t n;

	return match_from_api_labels_only(names, spec->affinity->node->required, arena, &v, &n,
					  err);
}

static int read_tolerations(struct intern *names, const struct api_pod_spec *spec,
			    struct arena *arena, struct err *err)
{
	struct match_from_api_tolerations t;

	return match_from_api_tolerations(names, spec->tolerations.v, spec->tolerations.n, arena,
					  &t, err);
}

static int read_label_selector(struct intern *names, const struct api_pod_spec *spec UNUSED,
			       struct arena *arena, struct err *err)
{
	struct api_label_selector sel;
	struct match_expr *v;
	size_t n;

	decode_fixture(&selector_fields,
		       "{'matchLabels':{'a':'b'},'matchExpressions':[{'key':'c','operator':'In',"
		       "'values':['d','e']}]}",
		       &sel);
	return match_from_api_label_selector(names, &sel, arena, &v, &n, err);
}

/* Whichever text the table has no room for: nothing is left out. */
static void test_each_text_needs_room(void **state)
{
	static const struct {
		const char *name;
		int (*read)(struct intern *names, const struct api_pod_spec *spec,
			    struct arena *arena, struct err *err);
		uint32_t texts;
	} rows[] = {
		{ "nodeSelector", read_selector, 4 },
		{ "required", read_required, 7 },
		{ "labels only", read_labels_only, 5 },
		{ "tolerations", read_tolerations, 4 },
		{ "label selector", read_label_selector, 5 },
	};
	struct api_pod_spec spec;

	(void)state;
	decode_fixture(&pod_spec_fields,
		       "{'nodeSelector':{'a':'b','c':'d'},'tolerations':[{'key':'a','value':'b'},"
		       "{'key':'c','operator':'Exists'}],'affinity':{'nodeAffinity':{"
		       "'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':[{"
		       "'matchExpressions':[{'key':'a','operator':'In','values':['b','c']},{'key':"
		       "'d','operator':'Gt','values':['3']}],'matchFields':[{'key':'metadata.name'"
		       ",'operator':'In','values':['n']}]}]}}}}",
		       &spec);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].name);
		for (uint32_t room = 1; room <= rows[i].texts; room++) {
			struct intern *names = intern_create_max(room);
			struct arena *arena = arena_create(0);
			struct err err = ERR_INIT;

			assert_int_equal(rows[i].read(names, &spec, arena, &err),
					 room < rows[i].texts ? -ERR_INVALID : 0);
			arena_destroy(arena);
			intern_destroy(names);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_label_selectors),
		cmocka_unit_test(test_labels_only),
		cmocka_unit_test(test_a_full_table_is_an_error),
		cmocka_unit_test(test_each_text_needs_room),
	};

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
