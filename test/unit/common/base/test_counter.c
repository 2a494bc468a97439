#include "base/counter.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/attrs.h"
#include "base/strbuf.h"

static const char *const queue_label[] = { "queue", NULL };

static void check(struct counter_registry *r, const char *want)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;

	counter_render(r, &out);
	assert_string_equal(out.p, want);
}

static void test_counter(void **state)
{
	struct counter_registry *r = counter_registry_create();
	struct counter_family *f =
		counter_register(r, "ungated_total", "Pods.", COUNTER_COUNTER, queue_label);
	struct counter_cell *b = counter_cell(f, (const char *const[]){ "b" });

	(void)state;
	check(r, "# HELP ungated_total Pods.\n# TYPE ungated_total counter\n"
		 "ungated_total{queue=\"b\"} 0\n");
	counter_add(b, 3);
	counter_add(b, 4);
	assert_true(counter_get(b) == 7);
	assert_ptr_equal(counter_cell(f, (const char *const[]){ "b" }), b);
	counter_add(counter_cell(f, (const char *const[]){ "a" }), 1);
	check(r, "# HELP ungated_total Pods.\n# TYPE ungated_total counter\n"
		 "ungated_total{queue=\"a\"} 1\nungated_total{queue=\"b\"} 7\n");
	counter_remove(f, (const char *const[]){ "b" });
	counter_remove(f, (const char *const[]){ "b" });
	check(r, "# HELP ungated_total Pods.\n# TYPE ungated_total counter\n"
		 "ungated_total{queue=\"a\"} 1\n");
	counter_registry_destroy(r);
	counter_registry_destroy(NULL);
}

static void test_gauge(void **state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {
		{ 0, "0" },
		{ 0.1, "0.1" },
		{ -2.5, "-2.5" },
		{ 1e15, "1e+15" },
		{ 1.0 / 3, "0.33333333333333331" },
		{ INFINITY, "+Inf" },
		{ -INFINITY, "-Inf" },
		{ NAN, "NaN" },
	};
	struct counter_registry *r = counter_registry_create();
	struct counter_family *f = counter_register(r, "depth", "Depth.", COUNTER_GAUGE, NULL);
	struct counter_cell *c = counter_cell(f, NULL);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char want[128];

		counter_set(c, cases[i].value);
		snprintf(want, sizeof(want), "# HELP depth Depth.\n# TYPE depth gauge\ndepth %s\n",
			 cases[i].text);
		check(r, want);
	}
	counter_set(c, 5);
	counter_add(c, -2);
	assert_true(counter_get(c) == 3);
	counter_registry_destroy(r);
}

static void test_histogram(void **state)
{
	static const double bounds[] = { 0.1, 1, 10 };
	struct counter_registry *r = counter_registry_create();
	struct counter_family *f =
		counter_register_histogram(r, "age", "Age.", queue_label, bounds, 3);
	struct counter_cell *c = counter_cell(f, (const char *const[]){ "q" });

	(void)state;
	counter_observe(c, 0.1); /* a bound belongs to its own bucket */
	counter_observe(c, 0.5);
	counter_observe(c, 100);
	assert_true(counter_get(c) == 100.6);
	assert_int_equal(counter_observations(c), 3);
	check(r, "# HELP age Age.\n# TYPE age histogram\n"
		 "age_bucket{queue=\"q\",le=\"0.1\"} 1\n"
		 "age_bucket{queue=\"q\",le=\"1\"} 2\n"
		 "age_bucket{queue=\"q\",le=\"10\"} 2\n"
		 "age_bucket{queue=\"q\",le=\"+Inf\"} 3\n"
		 "age_sum{queue=\"q\"} 100.6\nage_count{queue=\"q\"} 3\n");
	counter_registry_destroy(r);
}

static void test_escapes_and_order(void **state)
{
	static const char *const labels[] = { "ns", "name", NULL };
	struct counter_registry *r = counter_registry_create();
	struct counter_family *z = counter_register(r, "z", "a\\b\nc\"d", COUNTER_COUNTER, labels);
	struct counter_family *a = counter_register(r, "a", "First.", COUNTER_GAUGE, NULL);

	(void)state;
	/* "a" + "bc" is not "ab" + "c". */
	counter_add(counter_cell(z, (const char *const[]){ "ab", "c" }), 1);
	counter_add(counter_cell(z, (const char *const[]){ "a", "bc" }), 2);
	counter_add(counter_cell(z, (const char *const[]){ "", "x\"y\\z\n" }), 3);
	counter_add(counter_cell(z, (const char *const[]){ "n\xc0\x80", "\xc3\xa9" }), 4);
	counter_set(counter_cell(a, NULL), 1);
	check(r, "# HELP a First.\n# TYPE a gauge\na 1\n"
		 "# HELP z a\\\\b\\nc\"d\n# TYPE z counter\n"
		 "z{ns=\"\",name=\"x\\\"y\\\\z\\n\"} 3\n"
		 "z{ns=\"a\",name=\"bc\"} 2\nz{ns=\"ab\",name=\"c\"} 1\n"
		 "z{ns=\"n\xef\xbf\xbd\",name=\"\xc3\xa9\"} 4\n");
	assert_ptr_equal(counter_register(r, "z", "again", COUNTER_COUNTER, labels), z);
	counter_registry_destroy(r);
}

static void test_cell_limit(void **state)
{
	struct counter_registry *r = counter_registry_create();
	struct counter_family *f = counter_register(r, "n", "N.", COUNTER_COUNTER, queue_label);
	struct counter_cell *last = NULL;
	char name[32];

	(void)state;
	for (int i = 0; i < COUNTER_MAX_CELLS; i++) {
		snprintf(name, sizeof(name), "q%d", i);
		last = counter_cell(f, (const char *const[]){ name });
		assert_true(counter_get(last) == 0);
		counter_add(last, 1);
	}
	/* At the limit every further queue counts into one cell; known ones keep their own. */
	counter_add(counter_cell(f, (const char *const[]){ "new-1" }), 1);
	counter_add(counter_cell(f, (const char *const[]){ "new-2" }), 1);
	assert_true(counter_get(counter_cell(f, (const char *const[]){ "other" })) == 2);
	assert_ptr_equal(counter_cell(f, (const char *const[]){ name }), last);
	counter_registry_destroy(r);
}

static void test_told_as_a_whole(void **state)
{
	static const char *const labels[] = { "queue", "state", NULL };
	struct counter_registry *r = counter_registry_create();
	struct counter_family *f = counter_register(r, "n", "N.", COUNTER_GAUGE, labels);

	(void)state;
	counter_begin(f);
	counter_set(counter_cell(f, (const char *const[]){ "a", "x" }), 1);
	counter_set(counter_cell(f, (const char *const[]){ "a", "y" }), 2);
	counter_set(counter_cell(f, (const char *const[]){ "b", "x" }), 3);
	counter_end(f);
	counter_begin(f);
	counter_set(counter_cell(f, (const char *const[]){ "a", "y" }), 4);
	counter_set(counter_cell(f, (const char *const[]){ "b", "x" }), 3);
	counter_end(f);
	check(r, "# HELP n N.\n# TYPE n gauge\nn{queue=\"a\",state=\"y\"} 4\n"
		 "n{queue=\"b\",state=\"x\"} 3\n");
	counter_remove_where(f, (const char *const[]){ "b", "y" }, 2);
	counter_remove_where(f, (const char *const[]){ "y" }, 1);
	counter_remove_where(f, (const char *const[]){ "b" }, 1);
	check(r, "# HELP n N.\n# TYPE n gauge\nn{queue=\"a\",state=\"y\"} 4\n");
	counter_registry_destroy(r);
}

static void *count(void *arg)
{
	struct counter_family **f = arg;

	for (int i = 0; i < 2000; i++) {
		counter_add(counter_cell(f[0], (const char *const[]){ i % 2 ? "a" : "b" }), 1);
		counter_observe(counter_cell(f[1], NULL), 2);
	}
	return NULL;
}

static void test_threads(void **state)
{
	static const double bounds[] = { 1 };
	struct counter_registry *r = counter_registry_create();
	struct counter_family *f[2] = {
		counter_register(r, "n", "N.", COUNTER_COUNTER, queue_label),
		counter_register_histogram(r, "h", "H.", NULL, bounds, 1),
	};
	pthread_t threads[4];

	(void)state;
	for (int i = 0; i < 4; i++) {
		assert_int_equal(pthread_create(&threads[i], NULL, count, f), 0);
	}
	for (int i = 0; i < 20; i++) {
		CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;

		counter_render(r, &out);
		assert_true(out.len > 0);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
	}
	check(r, "# HELP h H.\n# TYPE h histogram\nh_bucket{le=\"1\"} 0\n"
		 "h_bucket{le=\"+Inf\"} 8000\nh_sum 16000\nh_count 8000\n"
		 "# HELP n N.\n# TYPE n counter\nn{queue=\"a\"} 4000\nn{queue=\"b\"} 4000\n");
	counter_registry_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counter),    cmocka_unit_test(test_gauge),
		cmocka_unit_test(test_histogram),  cmocka_unit_test(test_escapes_and_order),
		cmocka_unit_test(test_cell_limit), cmocka_unit_test(test_told_as_a_whole),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests_name("counter", tests, NULL, NULL);
}
