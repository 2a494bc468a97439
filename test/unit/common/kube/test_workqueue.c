#include "kube/workqueue.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/clock.h"

#define MS CLOCK_NS_PER_MS

static struct clock_fake now;

static struct workqueue *make(double jitter)
{
	const struct workqueue_options opt = {
		.delay_min_ns = 10 * MS, .delay_max_ns = 40 * MS, .jitter = jitter, .seed = 1
	};

	clock_fake_init(&now, 0);
	return workqueue_create(&opt, &now.base);
}

/* The next key as text; "-": none. Valid until the key is done. */
static const char *next(struct workqueue *wq)
{
	struct str key;

	return workqueue_next(wq, &key) ? key.p : "-";
}

static void add(struct workqueue *wq, const char *key)
{
	workqueue_add(wq, str_of(key));
}

static void done(struct workqueue *wq, const char *key)
{
	workqueue_done(wq, str_of(key));
}

static void test_each_key_once_in_order(void **state)
{
	struct workqueue *wq = make(0);
	(void)state;

	assert_int_equal(workqueue_wake_at(wq), CLOCK_NEVER);
	add(wq, "b");
	add(wq, "a");
	add(wq, "b");
	assert_int_equal(workqueue_waiting(wq), 2);
	assert_int_equal(workqueue_wake_at(wq), 0);
	assert_string_equal(next(wq), "b");
	assert_string_equal(next(wq), "a");
	assert_string_equal(next(wq), "-");
	done(wq, "a");
	done(wq, "b");
	assert_string_equal(next(wq), "-");
	add(wq, "b");
	assert_string_equal(next(wq), "b");
	workqueue_destroy(wq);
	workqueue_destroy(NULL);
}

static void test_add_while_processing(void **state)
{
	struct workqueue *wq = make(0);
	(void)state;

	add(wq, "a");
	assert_string_equal(next(wq), "a");
	add(wq, "a");
	add(wq, "a");
	assert_int_equal(workqueue_waiting(wq), 0);
	assert_string_equal(next(wq), "-");
	done(wq, "a");
	assert_string_equal(next(wq), "a");
	done(wq, "a");
	assert_string_equal(next(wq), "-");
	workqueue_destroy(wq);
}

static void fail_once(struct workqueue *wq, const char *key, int64_t expected_delay)
{
	int64_t at = clock_mono(&now.base);

	assert_string_equal(next(wq), key);
	workqueue_retry(wq, str_of(key));
	done(wq, key);
	assert_int_equal(workqueue_wake_at(wq) - at, expected_delay);
	assert_string_equal(next(wq), "-");
	clock_fake_advance(&now, expected_delay - 1);
	assert_string_equal(next(wq), "-");
	clock_fake_advance(&now, 1);
}

static void test_backoff_per_key(void **state)
{
	struct workqueue *wq = make(0);
	(void)state;

	add(wq, "a");
	fail_once(wq, "a", 10 * MS);
	fail_once(wq, "a", 20 * MS);
	fail_once(wq, "a", 40 * MS);
	fail_once(wq, "a", 40 * MS);
	assert_string_equal(next(wq), "a");
	/* Without forget the key remembers its failures while idle; another key has its own. */
	done(wq, "a");
	add(wq, "b");
	fail_once(wq, "b", 10 * MS);
	assert_string_equal(next(wq), "b");
	done(wq, "b");
	workqueue_forget(wq, STR_LIT("a"));
	add(wq, "a");
	fail_once(wq, "a", 10 * MS);
	workqueue_destroy(wq);
}

static void test_retry_of_an_idle_key(void **state)
{
	struct workqueue *wq = make(0);
	(void)state;

	workqueue_retry(wq, STR_LIT("a"));
	workqueue_retry(wq, STR_LIT("a")); /* waits already */
	add(wq, "a");                      /* does not shorten the wait */
	assert_int_equal(workqueue_waiting(wq), 1);
	assert_int_equal(workqueue_wake_at(wq), 10 * MS);
	clock_fake_advance(&now, 10 * MS);
	assert_string_equal(next(wq), "a");
	workqueue_destroy(wq);
}

static void test_retry_wins_over_add(void **state)
{
	struct workqueue *wq = make(0);
	(void)state;

	add(wq, "a");
	assert_string_equal(next(wq), "a");
	add(wq, "a");
	workqueue_retry(wq, STR_LIT("a"));
	done(wq, "a");
	assert_string_equal(next(wq), "-");
	assert_int_equal(workqueue_wake_at(wq), 10 * MS);
	workqueue_destroy(wq);
}

static void test_delayed_keys_come_by_time(void **state)
{
	struct workqueue *wq = make(0);
	(void)state;

	workqueue_retry(wq, STR_LIT("x"));
	clock_fake_advance(&now, 1 * MS);
	workqueue_retry(wq, STR_LIT("y"));
	workqueue_retry(wq, STR_LIT("a"));
	clock_fake_advance(&now, 50 * MS);
	assert_string_equal(next(wq), "x");
	assert_string_equal(next(wq), "y");
	assert_string_equal(next(wq), "a");
	workqueue_destroy(wq);
}

static void test_drop_oldest(void **state)
{
	struct workqueue *wq = make(0);
	struct str key;
	(void)state;

	workqueue_retry(wq, STR_LIT("late"));
	add(wq, "first");
	add(wq, "busy");
	assert_true(workqueue_drop_oldest(wq, &key) && str_eq_c(key, "first"));
	assert_string_equal(next(wq), "busy");
	assert_true(workqueue_drop_oldest(wq, &key) && str_eq_c(key, "late"));
	assert_false(workqueue_drop_oldest(wq, &key));
	assert_int_equal(workqueue_waiting(wq), 0);
	/* A dropped key starts afresh. */
	add(wq, "late");
	assert_string_equal(next(wq), "late");
	workqueue_destroy(wq);
}

static void test_jitter_stays_in_bounds(void **state)
{
	struct workqueue *wq = make(0.5);
	int64_t min = INT64_MAX, max = 0;
	(void)state;

	for (int i = 0; i < 200; i++) {
		char key[2] = { (char)('A' + i % 26), 0 };
		int64_t delay;

		workqueue_retry(wq, str_of(key));
		delay = workqueue_wake_at(wq) - clock_mono(&now.base);
		min = delay < min ? delay : min;
		max = delay > max ? delay : max;
		clock_fake_advance(&now, delay);
		assert_string_equal(next(wq), key);
		workqueue_forget(wq, str_of(key));
		done(wq, key);
	}
	assert_true(min >= 5 * MS && max <= 15 * MS && max - min > 5 * MS);
	workqueue_destroy(wq);
}

static void test_add_after(void **state)
{
	struct workqueue *wq = make(0);
	(void)state;

	workqueue_add_after(wq, str_of("a"), 50 * MS);
	assert_int_equal(workqueue_wake_at(wq), 50 * MS);
	/* A waiting key keeps its time when it is added again. */
	workqueue_add_after(wq, str_of("a"), 90 * MS);
	add(wq, "a");
	clock_fake_advance(&now, 50 * MS - 1);
	assert_string_equal(next(wq), "-");
	clock_fake_advance(&now, 1);
	assert_string_equal(next(wq), "a");
	/* While it is processed: the same afterwards; at once, if that is asked for as well. */
	workqueue_add_after(wq, str_of("a"), 50 * MS);
	workqueue_add_after(wq, str_of("a"), 90 * MS);
	clock_fake_advance(&now, 20 * MS);
	done(wq, "a");
	assert_int_equal(workqueue_waiting(wq), 1);
	assert_int_equal(workqueue_wake_at(wq), 100 * MS);
	clock_fake_advance(&now, 30 * MS);
	assert_string_equal(next(wq), "a");
	workqueue_add_after(wq, str_of("a"), 50 * MS);
	add(wq, "a");
	done(wq, "a");
	assert_string_equal(next(wq), "a");
	workqueue_add_after(wq, str_of("a"), 5 * MS);
	clock_fake_advance(&now, 5 * MS);
	done(wq, "a");
	assert_string_equal(next(wq), "a");
	done(wq, "a");
	/* It was no failure: the backoff starts from its beginning. */
	workqueue_retry(wq, str_of("a"));
	assert_int_equal(workqueue_wake_at(wq), 115 * MS);
	workqueue_destroy(wq);
}

static void test_a_longer_backoff_and_its_end(void **state)
{
	struct workqueue *wq = make(0);
	int64_t longer[] = { 10 * MS, 20 * MS, 40 * MS, 80 * MS, 160 * MS, 200 * MS, 200 * MS };
	(void)state;

	workqueue_make_ready(wq, str_of("a")); /* unknown: no effect */
	add(wq, "a");
	workqueue_make_ready(wq, str_of("a"));
	for (size_t i = 0; i < ARRAY_LEN(longer); i++) {
		unit_row_number(i);
		assert_string_equal(next(wq), "a");
		workqueue_retry_up_to(wq, str_of("a"), 200 * MS);
		done(wq, "a");
		assert_int_equal(workqueue_wake_at(wq) - clock_mono(&now.base), longer[i]);
		clock_fake_advance(&now, longer[i]);
	}
	assert_string_equal(next(wq), "a");
	workqueue_retry(wq, str_of("a"));      /* another failure: its own end */
	workqueue_make_ready(wq, str_of("a")); /* in work: no effect */
	done(wq, "a");
	assert_int_equal(workqueue_wake_at(wq) - clock_mono(&now.base), 40 * MS);
	workqueue_make_ready(wq, str_of("a"));
	assert_string_equal(next(wq), "a");
	assert_string_equal(next(wq), "-");
	done(wq, "a");
	add(wq, "a");
	fail_once(wq, "a", 40 * MS); /* its failures still count */
	workqueue_destroy(wq);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_key_once_in_order),
		cmocka_unit_test(test_add_while_processing),
		cmocka_unit_test(test_backoff_per_key),
		cmocka_unit_test(test_retry_of_an_idle_key),
		cmocka_unit_test(test_retry_wins_over_add),
		cmocka_unit_test(test_delayed_keys_come_by_time),
		cmocka_unit_test(test_drop_oldest),
		cmocka_unit_test(test_jitter_stays_in_bounds),
		cmocka_unit_test(test_add_after),
		cmocka_unit_test(test_a_longer_backoff_and_its_end),
	};

	return cmocka_run_group_tests_name("workqueue", tests, NULL, NULL);
}
