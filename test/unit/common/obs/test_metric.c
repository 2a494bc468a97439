#include "obs/exposition.h"
#include "obs/metric.h"

#include "lib/unit.h"

#include <pthread.h>
#include <stdio.h>

#include "base/attrs.h"
#include "base/strbuf.h"

static const char *const queue_label[] = { "queue", NULL };

static void check(struct metric_registry *r, const char *want)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;

	exposition_render(r, &out);
	assert_string_equal(out.p, want);
}

static void test_counter(void **state)
{
	struct metric_registry *r = metric_registry_create();
	struct metric_family *f =
		metric_register(r, "ungated_total", "Pods.", METRIC_COUNTER, queue_label);
	struct metric_cell *b = metric_cell(f, (const char *const[]){ "b" });

	(void)state;
	check(r, "# HELP ungated_total Pods.\n# TYPE ungated_total counter\n"
		 "ungated_total{queue=\"b\"} 0\n");
	metric_cell_add(b, 3);
	metric_cell_add(b, 4);
	assert_true(metric_cell_get(b) == 7);
	assert_ptr_equal(metric_cell(f, (const char *const[]){ "b" }), b);
	metric_cell_add(metric_cell(f, (const char *const[]){ "a" }), 1);
	check(r, "# HELP ungated_total Pods.\n# TYPE ungated_total counter\n"
		 "ungated_total{queue=\"a\"} 1\nungated_total{queue=\"b\"} 7\n");
	metric_remove(f, (const char *const[]){ "b" });
	metric_remove(f, (const char *const[]){ "b" });
	check(r, "# HELP ungated_total Pods.\n# TYPE ungated_total counter\n"
		 "ungated_total{queue=\"a\"} 1\n");
	metric_registry_destroy(r);
	metric_registry_destroy(NULL);
}

static void test_gauge(void **state)
{
	struct metric_registry *r = metric_registry_create();
	struct metric_family *f = metric_register(r, "depth", "Depth.", METRIC_GAUGE, NULL);
	struct metric_cell *c = metric_cell(f, NULL);

	(void)state;
	metric_cell_set(c, 5);
	metric_cell_add(c, -2);
	assert_true(metric_cell_get(c) == 3);
	check(r, "# HELP depth Depth.\n# TYPE depth gauge\ndepth 3\n");
	metric_registry_destroy(r);
}

static void test_histogram(void **state)
{
	static const double bounds[] = { 0.1, 1, 10 };
	struct metric_registry *r = metric_registry_create();
	struct metric_family *f =
		metric_register_histogram(r, "age", "Age.", queue_label, bounds, 3);
	struct metric_cell *c = metric_cell(f, (const char *const[]){ "q" });

	(void)state;
	metric_cell_observe(c, 0.1); /* a bound belongs to its own bucket */
	metric_cell_observe(c, 0.5);
	metric_cell_observe(c, 100);
	assert_true(metric_cell_get(c) == 100.6);
	assert_int_equal(metric_cell_observations(c), 3);
	check(r, "# HELP age Age.\n# TYPE age histogram\n"
		 "age_bucket{queue=\"q\",le=\"0.1\"} 1\n"
		 "age_bucket{queue=\"q\",le=\"1\"} 2\n"
		 "age_bucket{queue=\"q\",le=\"10\"} 2\n"
		 "age_bucket{queue=\"q\",le=\"+Inf\"} 3\n"
		 "age_sum{queue=\"q\"} 100.6\nage_count{queue=\"q\"} 3\n");
	metric_registry_destroy(r);
}

static void test_cell_limit(void **state)
{
	struct metric_registry *r = metric_registry_create();
	struct metric_family *f = metric_register(r, "n", "N.", METRIC_COUNTER, queue_label);
	struct metric_cell *last = NULL;
	char name[32];

	(void)state;
	for (int i = 0; i < METRIC_MAX_CELLS; i++) {
		snprintf(name, sizeof(name), "q%d", i);
		last = metric_cell(f, (const char *const[]){ name });
		assert_true(metric_cell_get(last) == 0);
		metric_cell_add(last, 1);
	}
	/* At the limit every further queue counts into one cell; known ones keep their own. */
	metric_cell_add(metric_cell(f, (const char *const[]){ "new-1" }), 1);
	metric_cell_add(metric_cell(f, (const char *const[]){ "new-2" }), 1);
	assert_true(metric_cell_get(metric_cell(f, (const char *const[]){ "other" })) == 2);
	assert_ptr_equal(metric_cell(f, (const char *const[]){ name }), last);
	metric_registry_destroy(r);
}

static void test_replaced_as_a_whole(void **state)
{
	static const char *const labels[] = { "queue", "state", NULL };
	struct metric_registry *r = metric_registry_create();
	struct metric_family *f = metric_register(r, "n", "N.", METRIC_GAUGE, labels);

	(void)state;
	metric_begin(f);
	metric_cell_set(metric_cell(f, (const char *const[]){ "a", "x" }), 1);
	metric_cell_set(metric_cell(f, (const char *const[]){ "a", "y" }), 2);
	metric_cell_set(metric_cell(f, (const char *const[]){ "b", "x" }), 3);
	metric_end(f);
	metric_begin(f);
	metric_cell_set(metric_cell(f, (const char *const[]){ "a", "y" }), 4);
	metric_cell_set(metric_cell(f, (const char *const[]){ "b", "x" }), 3);
	metric_end(f);
	check(r, "# HELP n N.\n# TYPE n gauge\nn{queue=\"a\",state=\"y\"} 4\n"
		 "n{queue=\"b\",state=\"x\"} 3\n");
	metric_remove_where(f, (const char *const[]){ "b", "y" }, 2);
	metric_remove_where(f, (const char *const[]){ "y" }, 1);
	metric_remove_where(f, (const char *const[]){ "b" }, 1);
	check(r, "# HELP n N.\n# TYPE n gauge\nn{queue=\"a\",state=\"y\"} 4\n");
	metric_registry_destroy(r);
}

static void *count(void *arg)
{
	struct metric_family **f = arg;

	for (int i = 0; i < 2000; i++) {
		metric_cell_add(metric_cell(f[0], (const char *const[]){ i % 2 ? "a" : "b" }), 1);
		metric_cell_observe(metric_cell(f[1], NULL), 2);
	}
	return NULL;
}

static void test_threads(void **state)
{
	static const double bounds[] = { 1 };
	struct metric_registry *r = metric_registry_create();
	struct metric_family *f[2] = {
		metric_register(r, "n", "N.", METRIC_COUNTER, queue_label),
		metric_register_histogram(r, "h", "H.", NULL, bounds, 1),
	};
	pthread_t threads[4];

	(void)state;
	for (int i = 0; i < 4; i++) {
		assert_int_equal(pthread_create(&threads[i], NULL, count, f), 0);
	}
	for (int i = 0; i < 20; i++) {
		CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;

		exposition_render(r, &out);
		assert_true(out.len > 0);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
	}
	check(r, "# HELP h H.\n# TYPE h histogram\nh_bucket{le=\"1\"} 0\n"
		 "h_bucket{le=\"+Inf\"} 8000\nh_sum 16000\nh_count 8000\n"
		 "# HELP n N.\n# TYPE n counter\nn{queue=\"a\"} 4000\nn{queue=\"b\"} 4000\n");
	metric_registry_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counter),
		cmocka_unit_test(test_gauge),
		cmocka_unit_test(test_histogram),
		cmocka_unit_test(test_cell_limit),
		cmocka_unit_test(test_replaced_as_a_whole),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests_name("metric", tests, NULL, NULL);
}
