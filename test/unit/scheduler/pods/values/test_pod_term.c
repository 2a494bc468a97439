#include "scheduler/pods/values/pod_term.h"

#include <string.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "collections/intern.h"
#include "lib/unit.h"

static const char *values[] = { "b", "a" }, *spaces[] = { "s2", "s1", "s2" };
static struct match_expr pods_expr, spaces_expr;
static struct pod_term term;

static int setup(void **state)
{
	(void)state;
	values[0] = "b";
	values[1] = "a";
	spaces[0] = "s2";
	spaces[1] = "s1";
	spaces[2] = "s2";
	pods_expr = (struct match_expr){ .key = "k", .values = values, .nvalues = 2 };
	spaces_expr = (struct match_expr){ .key = "team", .op = MATCH_EXISTS };
	term = (struct pod_term){ .kind = POD_TERM_SPREAD,
				  .selects = true,
				  .selects_namespaces = true,
				  .topology_key = "zone",
				  .namespaces = spaces,
				  .nnamespaces = 3,
				  .namespaces_by = { &spaces_expr, 1, 0 },
				  .pods = { &pods_expr, 1, 0 },
				  .max_skew = 1,
				  .min_domains = 1 };
	return 0;
}

static void format(const struct pod_term *t, struct strbuf *out)
{
	strbuf_reset(out);
	pod_term_format(t, out);
}

static void test_lists_get_one_order(void **state)
{
	(void)state;
	pod_term_normalise(&term);
	assert_int_equal(term.nnamespaces, 2);
	assert_string_equal(term.namespaces[0], "s1");
	assert_string_equal(term.namespaces[1], "s2");
	assert_string_equal(pods_expr.values[0], "a");
}

static void test_every_member_is_in_the_text(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT, other = STRBUF_INIT;
	struct pod_term changed[10];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(changed); i++) {
		changed[i] = term;
	}
	changed[0].kind = POD_TERM_AFFINITY;
	changed[1].selects = false;
	changed[2].selects_namespaces = false;
	changed[3].topology_key = "rack";
	changed[4].nnamespaces = 1;
	changed[5].pods.nexprs = 0;
	changed[6].max_skew = 2;
	changed[7].min_domains = 2;
	changed[8].ignores_affinity = true;
	changed[9].honors_taints = true;
	format(&term, &text);
	for (size_t i = 0; i < ARRAY_LEN(changed); i++) {
		unit_row_number(i);
		format(&changed[i], &other);
		assert_string_not_equal(text.p, other.p);
	}
	/* The weight of a preference. */
	changed[0].kind = changed[1].kind = POD_TERM_PREFERRED;
	changed[1].selects = true;
	changed[0].weight = 1;
	changed[1].weight = -1;
	format(&changed[0], &text);
	format(&changed[1], &other);
	assert_string_not_equal(text.p, other.p);
	format(&term, &text);
	changed[6].kind = changed[7].kind = POD_TERM_SPREAD_ANYWAY;
	changed[7].min_domains = 1;
	format(&changed[6], &other);
	assert_string_not_equal(text.p, other.p);
	format(&changed[7], &text);
	assert_string_not_equal(text.p, other.p);
	/* The selector has nothing to do with the rest. */
	strbuf_reset(&text);
	strbuf_reset(&other);
	pod_term_format_selector(&term, &text);
	pod_term_format_selector(&changed[3], &other);
	assert_string_equal(text.p, other.p);
}

static void test_copies_are_deep(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT, other = STRBUF_INIT;
	struct pod_term *copy;

	(void)state;
	term.selector = (const struct pod_selector *)&term;
	copy = pod_term_copy(&term, 1);
	assert_null(copy->selector);
	format(&term, &text);
	values[0] = "changed";
	spaces[0] = "changed";
	pods_expr.key = "changed";
	format(copy, &other);
	assert_string_equal(text.p, other.p);
	pod_term_free(copy, 1);
	assert_null(pod_term_copy(NULL, 0));
	pod_term_free(NULL, 0);
}

static void test_names_are_kept_in_a_sweep(void **state)
{
	static const char *const texts[] = { "zone", "s1", "team", "k", "v" };
	struct intern *names = intern_create();
	const char *in[ARRAY_LEN(texts)];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		in[i] = intern_name(names, intern_id(names, str_of(texts[i])));
	}
	term.topology_key = in[0];
	term.namespaces = &in[1];
	term.nnamespaces = 1;
	spaces_expr.key = in[2];
	pods_expr.key = in[3];
	pods_expr.values = &in[4];
	pods_expr.nvalues = 1;
	(void)intern_id(names, STR_LIT("unused"));
	pod_term_mark(names, &term);
	intern_sweep(names);
	assert_int_equal(intern_live(names), ARRAY_LEN(texts));
	intern_destroy(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_lists_get_one_order, setup),
		cmocka_unit_test_setup(test_every_member_is_in_the_text, setup),
		cmocka_unit_test_setup(test_copies_are_deep, setup),
		cmocka_unit_test_setup(test_names_are_kept_in_a_sweep, setup),
	};

	return cmocka_run_group_tests_name("pods/values/pod_term", tests, NULL, NULL);
}
