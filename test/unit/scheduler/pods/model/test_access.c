#include "scheduler/pods/model/access.h"

#include "base/err.h"
#include "enc/field.h"
#include "lib/pods/cluster_fixture.h"
#include "lib/unit.h"

static void label(struct cluster *c, const char *ns, const char *value)
{
	const struct field_pair pair = { "team", value };
	const struct field_map labels = { &pair, value == NULL ? 0 : 1 };

	(void)access_set_namespace(c, str_of(ns), &labels);
}

static void rule(struct cluster *c, const char *queue, const char *text)
{
	if (access_set_queue(c, str_of(queue), text)) {
		(void)queue_topology_changed(c);
	}
}

static const char *bar(const struct cluster *c, const struct podgroup *g)
{
	return g->barred_by == MODEL_NONE ? "" : c->queues.v[g->barred_by]->name;
}

/* The fixture's PodGroups lie in namespace "ns". */
static void test_a_queue_is_for_what_all_above_it_match(void **state)
{
	static const struct {
		const char *top, *leaf, *team, *expected;
	} rows[] = {
		{ NULL, NULL, NULL, "" },
		{ NULL, "team=a", "a", "" },
		{ NULL, "team=a", "b", "leaf" },
		{ NULL, "team=a", NULL, "leaf" },
		{ "team=a", NULL, "b", "top" },
		{ "team=a", "team", "b", "top" },
		{ "team=b", "team=a", "c", "leaf" },
		{ "team in (a,b)", "team!=a", "b", "" },
		{ "", NULL, NULL, "" },
		{ "team in (", NULL, "a", "top" },
		{ "kubernetes.io/metadata.name=ns", "kubernetes.io/metadata.name!=other", "a", "" },
		{ "kubernetes.io/metadata.name=other", NULL, "a", "top" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cluster *c = cluster_create();
		struct podgroup *g;
		uint64_t gen;

		unit_row(rows[i].top);
		cluster_fixture_queue(c, "top", NULL, -1);
		cluster_fixture_queue(c, "leaf", "top", -1);
		g = cluster_fixture_podgroup(c, "j", "leaf", 1);
		label(c, "ns", rows[i].team);
		rule(c, "top", rows[i].top);
		rule(c, "leaf", rows[i].leaf);
		assert_string_equal(bar(c, g), rows[i].expected);
		g = cluster_fixture_podgroup(c, "later", "leaf", 1);
		assert_string_equal(bar(c, g), rows[i].expected);
		gen = c->queues.v[g->queue]->podgroups_gen;
		label(c, "ns", rows[i].team);
		assert_int_equal(c->queues.v[g->queue]->podgroups_gen, gen);
		rule(c, "top", NULL);
		rule(c, "leaf", NULL);
		assert_string_equal(bar(c, g), "");
		cluster_destroy(c);
	}
}

static void test_changes_are_checked_again(void **state)
{
	struct cluster *c = cluster_create();
	struct err err = ERR_INIT;
	struct podgroup *g;
	uint64_t gen;

	(void)state;
	cluster_fixture_queue(c, "q", NULL, -1);
	cluster_fixture_queue(c, "free", NULL, -1);
	rule(c, "q", "team=a");
	g = cluster_fixture_podgroup(c, "j", "q", 1);
	assert_string_equal(bar(c, g), "q");
	gen = c->queues.v[g->queue]->podgroups_gen;
	label(c, "ns", "a");
	assert_string_equal(bar(c, g), "");
	assert_true(c->queues.v[g->queue]->podgroups_gen > gen);
	assert_true(access_set_namespace(c, STR_LIT("ns"), NULL));
	assert_string_equal(bar(c, g), "q");
	cluster_podgroup_set_queue(c, g, STR_LIT("free"));
	assert_string_equal(bar(c, g), "");
	assert_false(access_set_queue(c, STR_LIT("q"), "team=a"));
	assert_int_equal(access_check_queue(c, STR_LIT("q"), &err), 0);
	assert_true(access_set_queue(c, STR_LIT("q"), "team in b"));
	assert_int_equal(access_check_queue(c, STR_LIT("q"), &err), -ERR_INVALID);
	assert_non_null(strstr(err.text, "metadata.annotations[headgate.io/namespace-selector]: "));
	cluster_destroy(c);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_queue_is_for_what_all_above_it_match),
		cmocka_unit_test(test_changes_are_checked_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
