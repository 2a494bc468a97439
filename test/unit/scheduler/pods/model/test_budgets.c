#include "scheduler/pods/model/budgets.h"

#include <stdio.h>

#include "api/core/disruption_budget.h"
#include "base/err.h"
#include "lib/decode_fixture.h"
#include "lib/pods/cluster_fixture.h"
#include "lib/unit.h"

static struct cluster *make(void)
{
	struct cluster *c = cluster_create();

	budgets_begin(c);
	return c;
}

static int put(struct cluster *c, const struct api_disruption_budget *b, struct err *err)
{
	const struct budgets_spec spec = { .namespace_ = str_of(b->meta.namespace_),
					   .name = str_of(b->meta.name),
					   .uid = b->meta.uid,
					   .generation = b->meta.generation,
					   .selector = b->spec.selector,
					   .allowed = (uint32_t)disruption_budget_allowed(b) };

	return budgets_set(c, &spec, err);
}

/* A budget ns/NAME; selector: JSON with ' for ", NULL: none. */
static int set(struct cluster *c, const char *name, const char *selector, int64_t generation,
	       int allowed)
{
	struct api_disruption_budget b;
	struct err err = ERR_INIT;
	char text[600];

	snprintf(text, sizeof(text),
		 "{'metadata':{'namespace':'ns','name':'%s','uid':'u-%s','generation':%lld},"
		 "'spec':{%s%s},'status':{'observedGeneration':%lld,'disruptionsAllowed':%d}}",
		 name, name, (long long)generation,
		 selector == NULL ? "" : "'selector':", selector == NULL ? "" : selector,
		 (long long)generation, allowed);
	decode_fixture(&disruption_budget_fields, text, &b);
	return put(c, &b, &err);
}

static void label(struct cluster *c, struct task *t, const char *app)
{
	const struct field_pair pair = { "app", app };
	const struct field_map labels = { &pair, app[0] == '\0' ? 0 : 1 };

	budgets_set_labels(c, t, &labels);
}

static const char *budget_of(const struct cluster *c, const struct task *t)
{
	const struct budget *b = budgets_of(c, t);

	return b != NULL ? b->key : t->budget == MODEL_NONE ? "" : "several";
}

static void test_selectors_cover_pods(void **state)
{
	static const struct {
		const char *selector, *app, *expected;
	} rows[] = {
		{ "{'matchLabels':{'app':'a'}}", "a", "ns/b" },
		{ "{'matchLabels':{'app':'a'}}", "b", "" },
		{ "{'matchLabels':{'app':'a'}}", "", "" },
		{ "{'matchExpressions':[{'key':'app','operator':'Exists'}]}", "b", "ns/b" },
		{ "{'matchExpressions':[{'key':'app','operator':'DoesNotExist'}]}", "", "ns/b" },
		{ "{}", "a", "ns/b" },
		{ "{}", "", "ns/b" },
		{ NULL, "a", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cluster *c = make();
		struct task *before = cluster_fixture_task(c, "before", NULL, 1), *after;

		unit_row(rows[i].selector);
		label(c, before, rows[i].app);
		assert_int_equal(set(c, "b", rows[i].selector, 1, 1), 0);
		after = cluster_fixture_task(c, "after", NULL, 1);
		label(c, after, rows[i].app);
		assert_string_equal(budget_of(c, before), rows[i].expected);
		assert_string_equal(budget_of(c, after), rows[i].expected);
		cluster_destroy(c);
	}
}

static void test_all_changes_are_followed(void **state)
{
	struct cluster *c = make();
	struct task *t = cluster_fixture_task(c, "t", NULL, 1);
	uint64_t gen;

	(void)state;
	label(c, t, "a");
	assert_int_equal(set(c, "one", "{'matchLabels':{'app':'a'}}", 1, 1), 0);
	assert_int_equal(set(c, "two", "{'matchLabels':{'app':'b'}}", 1, 1), 0);
	gen = c->demand_gen;
	assert_int_equal(set(c, "two", "{'matchLabels':{'app':'a'}}", 2, 1), 0);
	assert_string_equal(budget_of(c, t), "several");
	assert_true(c->demand_gen != gen);
	assert_true(budgets_remove(c, STR_LIT("ns/one")));
	assert_false(budgets_remove(c, STR_LIT("ns/one")));
	assert_string_equal(budget_of(c, t), "ns/two");
	label(c, t, "b");
	assert_string_equal(budget_of(c, t), "");
	label(c, t, "a");
	assert_string_equal(budget_of(c, t), "ns/two");
	budgets_set_labels(c, t, NULL);
	assert_string_equal(budget_of(c, t), "");
	label(c, t, "a");
	cluster_task_remove(c, t);
	t = cluster_fixture_task(c, "next", NULL, 1);
	assert_string_equal(budget_of(c, t), "");
	assert_int_equal(set(c, "two", NULL, 3, 1), 0);
	label(c, t, "a");
	assert_string_equal(budget_of(c, t), "");
	cluster_destroy(c);
}

/* The pod that takes the place of one that has gone is still found. */
static void test_pods_go_one_by_one(void **state)
{
	struct cluster *c = make();
	struct task *first = cluster_fixture_task(c, "first", NULL, 1),
		    *second = cluster_fixture_task(c, "second", NULL, 1),
		    *third = cluster_fixture_task(c, "third", NULL, 1);

	(void)state;
	label(c, first, "a");
	label(c, second, "a");
	label(c, third, "a");
	cluster_task_remove(c, first);
	cluster_task_remove(c, third);
	assert_int_equal(set(c, "b", "{'matchLabels':{'app':'a'}}", 1, 1), 0);
	assert_string_equal(budget_of(c, second), "ns/b");
	cluster_destroy(c);
}

/* The generation does not change with the status: the selector is not looked at again. A new budget
 * of the same name begins with the same one. */
static void test_the_selector_is_that_of_the_generation(void **state)
{
	struct api_disruption_budget b;
	struct cluster *c = make();
	struct task *t = cluster_fixture_task(c, "t", NULL, 1);

	(void)state;
	label(c, t, "a");
	assert_int_equal(set(c, "b", "{'matchLabels':{'app':'a'}}", 1, 1), 0);
	assert_int_equal(set(c, "b", "{'matchLabels':{'app':'b'}}", 1, 7), 0);
	assert_string_equal(budget_of(c, t), "ns/b");
	assert_int_equal(budgets_of(c, t)->allowed, 7);
	decode_fixture(&disruption_budget_fields,
		       "{'metadata':{'namespace':'ns','name':'b','uid':'new','generation':1}}", &b);
	assert_int_equal(put(c, &b, NULL), 0);
	assert_string_equal(budget_of(c, t), "");
	cluster_destroy(c);
}

static void test_evictions_count_until_the_next_status(void **state)
{
	struct cluster *c = make();
	struct task *t = cluster_fixture_task(c, "t", NULL, 1);
	struct budget *b;

	(void)state;
	budgets_evict(c, t, true);
	label(c, t, "a");
	assert_int_equal(set(c, "b", "{}", 1, 2), 0);
	b = budgets_of(c, t);
	budgets_evict(c, t, true);
	budgets_evict(c, t, true);
	assert_int_equal(b->granted, 2);
	budgets_evict(c, t, false);
	assert_int_equal(b->granted, 1);
	assert_int_equal(set(c, "b", "{}", 1, 2), 0);
	assert_int_equal(b->granted, 0);
	budgets_evict(c, t, false);
	assert_int_equal(b->granted, 0);
	cluster_destroy(c);
}

static void test_what_is_refused(void **state)
{
	struct cluster *c = make();
	struct task *t = cluster_fixture_task(c, "t", NULL, 1);
	char name[20];

	(void)state;
	label(c, t, "a");
	assert_int_equal(set(c, "b", "{}", 1, 1), 0);
	assert_int_equal(
		set(c, "b", "{'matchExpressions':[{'key':'app','operator':'Near'}]}", 2, 1),
		-ERR_INVALID);
	assert_string_equal(budget_of(c, t), "ns/b");
	for (int i = 1; i < BUDGETS_MAX; i++) {
		snprintf(name, sizeof(name), "b-%d", i);
		assert_int_equal(set(c, name, NULL, 1, 1), 0);
	}
	assert_int_equal(set(c, "one-more", "{}", 1, 1), -ERR_INVALID);
	assert_string_equal(budget_of(c, t), "ns/b");
	assert_int_equal(set(c, "b", NULL, 3, 1), 0);
	assert_string_equal(budget_of(c, t), "");
	cluster_destroy(c);
}

static void test_nothing_is_kept_where_none_is_read(void **state)
{
	struct cluster *c = cluster_create();
	struct task *t = cluster_fixture_task(c, "t", NULL, 1);

	(void)state;
	label(c, t, "a");
	assert_int_equal(t->budget, MODEL_NONE);
	cluster_destroy(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_selectors_cover_pods),
		cmocka_unit_test(test_all_changes_are_followed),
		cmocka_unit_test(test_pods_go_one_by_one),
		cmocka_unit_test(test_the_selector_is_that_of_the_generation),
		cmocka_unit_test(test_evictions_count_until_the_next_status),
		cmocka_unit_test(test_what_is_refused),
		cmocka_unit_test(test_nothing_is_kept_where_none_is_read),
	};

	return cmocka_run_group_tests_name("pods/model/budgets", tests, decode_fixture_open,
					   decode_fixture_close);
}
