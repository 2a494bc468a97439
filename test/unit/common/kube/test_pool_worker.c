#include "kube/pool_private.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/unit.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "lib/net/fake_transport.h"

#define MS CLOCK_NS_PER_MS
#define KEYS 200

/* The pool with threads. The test's thread is the transport's. */
struct fixture {
	struct fake_transport *transport;
	struct pool *pool;
	atomic_uint started, finished, cancelled, freed;
	atomic_uint fail_first; /* so many answers get the verdict RETRY */
	pthread_mutex_t lock;
	pthread_cond_t changed; /* of finished */
};

struct item {
	struct fixture *f;
	unsigned n;
};

static bool start(void *ctx, void *item, unsigned sends, struct http_call *call,
		  struct strbuf *scratch)
{
	struct fixture *f = ctx;

	(void)sends;
	atomic_fetch_add(&f->started, 1);
	strbuf_printf(scratch, "/x/%u", ((struct item *)item)->n);
	call->method = HTTP_POST;
	call->url = scratch->p;
	return true;
}

static enum pool_verdict finish(void *ctx, void *item, const struct http_result *result)
{
	struct fixture *f = ctx;
	unsigned left = atomic_load(&f->fail_first);

	(void)item;
	while (left > 0 && !atomic_compare_exchange_weak(&f->fail_first, &left, left - 1)) {
	}
	if (result->error == ERR_CANCELLED) {
		atomic_fetch_add(&f->cancelled, 1);
	}
	pthread_mutex_lock(&f->lock);
	atomic_fetch_add(&f->finished, 1);
	pthread_cond_signal(&f->changed);
	pthread_mutex_unlock(&f->lock);
	return left > 0 ? (left % 2 == 0 ? POOL_RETRY : POOL_AGAIN) : POOL_DONE;
}

static void free_item(void *item)
{
	struct item *it = item;

	atomic_fetch_add(&it->f->freed, 1);
	free(it);
}

static const struct pool_ops ops = { start, finish, free_item };

static void begin(struct fixture *f, unsigned workers, unsigned slots)
{
	struct pool_options opt = { .name = "test",
				    .ops = &ops,
				    .workers = workers,
				    .slots = slots,
				    .timeout_ns = 5000 * MS,
				    .backoff_min_ns = 1 * MS,
				    .backoff_max_ns = 2 * MS,
				    .seed = 1,
				    .clock = clock_real() };

	*f = (struct fixture){ .lock = PTHREAD_MUTEX_INITIALIZER,
			       .changed = PTHREAD_COND_INITIALIZER };
	f->transport = fake_transport_create(NULL);
	opt.ctx = f;
	opt.transport = fake_transport_base(f->transport);
	f->pool = pool_create(&opt);
}

static void end(struct fixture *f)
{
	pool_destroy(f->pool);
	fake_transport_destroy(f->transport);
}

static void add(struct fixture *f, unsigned n)
{
	struct item *it = xmalloc_zero(1, sizeof(*it));
	char key[16];

	it->f = f;
	it->n = n;
	snprintf(key, sizeof(key), "k%u", n);
	pool_add(f->pool, str_of(key), it);
}

static void answer_one(struct fixture *f)
{
	fake_transport_wait(f->transport, 1);
	fake_transport_answer(f->transport, fake_transport_expect_prefix(f->transport, "POST /x/"),
			      200, "{}");
}

static void wait_finished(struct fixture *f, unsigned n)
{
	pthread_mutex_lock(&f->lock);
	while (atomic_load(&f->finished) < n) {
		pthread_cond_wait(&f->changed, &f->lock);
	}
	pthread_mutex_unlock(&f->lock);
}

static void test_hole_10_all_work_gets_done(void **state)
{
	struct fixture f;
	(void)state;

	begin(&f, 5, 8);
	for (unsigned i = 0; i < KEYS; i++) {
		add(&f, i);
	}
	for (unsigned i = 0; i < KEYS; i++) {
		answer_one(&f);
	}
	wait_finished(&f, KEYS);
	pool_stop(f.pool, 1000 * MS);
	assert_int_equal(f.started, KEYS);
	assert_int_equal(f.freed, KEYS);
	assert_int_equal(pool_in_flight(f.pool), 0);
	end(&f);
}

static void test_slots_times_workers(void **state)
{
	struct fixture f;
	(void)state;

	begin(&f, 3, 2);
	for (unsigned i = 0; i < 20; i++) {
		add(&f, i);
	}
	fake_transport_wait(f.transport, 6);
	assert_int_equal(pool_in_flight(f.pool), 6);
	assert_int_equal(pool_waiting(f.pool), 14);
	for (unsigned i = 0; i < 20; i++) {
		answer_one(&f);
	}
	wait_finished(&f, 20);
	end(&f);
}

static void test_failures_come_back(void **state)
{
	struct fixture f;
	(void)state;

	begin(&f, 2, 4);
	atomic_store(&f.fail_first, 50);
	for (unsigned i = 0; i < 20; i++) {
		add(&f, i);
	}
	for (unsigned i = 0; i < 70; i++) {
		answer_one(&f);
	}
	wait_finished(&f, 70);
	pool_stop(f.pool, 1000 * MS);
	assert_int_equal(f.freed, 20);
	end(&f);
}

static void *add_many(void *arg)
{
	for (unsigned i = 0; i < 100; i++) {
		add(arg, i % 7);
	}
	return NULL;
}

/* Same keys from several threads: whatever is merged, every item is freed exactly once and the
 * last item of each key has been sent. */
static void test_adders_race(void **state)
{
	struct fixture f;
	pthread_t threads[4];
	(void)state;

	begin(&f, 3, 2);
	for (size_t i = 0; i < 4; i++) {
		pthread_create(&threads[i], NULL, add_many, &f);
	}
	for (size_t i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
	}
	/* In this order: work moves from waiting to flying. */
	while (pool_waiting(f.pool) > 0 || pool_in_flight(f.pool) > 0) {
		if (fake_transport_pending(f.transport) > 0) {
			answer_one(&f);
		} else {
			sched_yield();
		}
	}
	pool_stop(f.pool, 1000 * MS);
	assert_int_equal(f.freed, 400);
	assert_true(f.finished >= 7);
	end(&f);
}

static void test_stop_cancels_what_flies(void **state)
{
	struct fixture f;
	(void)state;

	begin(&f, 2, 2);
	for (unsigned i = 0; i < 10; i++) {
		add(&f, i);
	}
	fake_transport_wait(f.transport, 4);
	pool_stop(f.pool, 0);
	assert_int_equal(f.cancelled, 4);
	assert_int_equal(f.freed, 10);
	add(&f, 99);
	assert_int_equal(f.freed, 11);
	end(&f);
}

static void *answer_four(void *arg)
{
	for (unsigned i = 0; i < 4; i++) {
		answer_one(arg);
	}
	return NULL;
}

static void test_stop_awaits_within_grace(void **state)
{
	struct fixture f;
	pthread_t thread;
	(void)state;

	begin(&f, 2, 2);
	for (unsigned i = 0; i < 4; i++) {
		add(&f, i);
	}
	fake_transport_wait(f.transport, 4);
	pthread_create(&thread, NULL, answer_four, &f);
	pool_stop(f.pool, 600000 * MS);
	pthread_join(thread, NULL);
	assert_int_equal(f.cancelled, 0);
	assert_int_equal(f.finished, 4);
	assert_int_equal(f.freed, 4);
	end(&f);
}

static void test_idle_pool_stops(void **state)
{
	struct fixture f;
	(void)state;

	begin(&f, 5, 1);
	end(&f);
	pool_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hole_10_all_work_gets_done),
		cmocka_unit_test(test_slots_times_workers),
		cmocka_unit_test(test_failures_come_back),
		cmocka_unit_test(test_adders_race),
		cmocka_unit_test(test_stop_cancels_what_flies),
		cmocka_unit_test(test_stop_awaits_within_grace),
		cmocka_unit_test(test_idle_pool_stops),
	};

	return cmocka_run_group_tests_name("pool_worker", tests, NULL, NULL);
}
