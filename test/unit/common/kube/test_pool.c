#include "kube/pool.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "lib/net/fake_transport.h"
#include "process/log.h"

#define MS CLOCK_NS_PER_MS

/* The pool in manual mode: the owner steps it and the transport. */
struct fixture {
	struct clock_fake clock;
	struct fake_transport *transport;
	struct pool_limiter *limiter;
	struct pool *pool;
	struct strbuf log; /* "start x 0;finish x 200;free x;" */
	enum pool_verdict verdict;
	bool start_nothing, forbid;
};

struct item {
	struct fixture *f;
	char name[16];
};

static bool start(void *ctx, void *item, unsigned sends, struct http_call *call,
		  struct strbuf *scratch)
{
	struct fixture *f = ctx;
	struct item *it = item;

	strbuf_printf(&f->log, "start %s %u;", it->name, sends);
	strbuf_printf(scratch, "/x/%s", it->name);
	call->method = HTTP_PATCH;
	call->url = scratch->p;
	return !f->start_nothing;
}

static enum pool_verdict finish(void *ctx, void *item, const struct http_result *result)
{
	struct fixture *f = ctx;

	strbuf_printf(&f->log, "finish %s %d%s;", ((struct item *)item)->name, result->status,
		      result->error == ERR_CANCELLED ? " cancelled" : "");
	return f->verdict;
}

static void free_item(void *item)
{
	struct item *it = item;

	strbuf_printf(&it->f->log, "free %s;", it->name);
	free(it);
}

static bool may_send(void *ctx)
{
	return !((struct fixture *)ctx)->forbid;
}

static const struct pool_ops ops = { start, finish, free_item };

static void begin(struct fixture *f, unsigned slots, double qps, unsigned burst)
{
	struct pool_options opt = { .name = "test",
				    .ops = &ops,
				    .slots = slots,
				    .timeout_ns = 5000 * MS,
				    .backoff_min_ns = 100 * MS,
				    .backoff_max_ns = 800 * MS,
				    .refused_max_ns = 8000 * MS,
				    .seed = 1,
				    .may_send = may_send };

	*f = (struct fixture){ .log = STRBUF_INIT };
	clock_fake_init(&f->clock, 0);
	f->transport = fake_transport_create(&f->clock);
	f->limiter = pool_limiter_create(qps, burst, &f->clock.base);
	opt.ctx = f;
	opt.transport = fake_transport_base(f->transport);
	opt.clock = &f->clock.base;
	opt.limiter = f->limiter;
	f->pool = pool_create(&opt);
}

static void end(struct fixture *f)
{
	pool_destroy(f->pool);
	pool_limiter_destroy(f->limiter);
	fake_transport_destroy(f->transport);
	strbuf_finish(&f->log);
}

static void add_named(struct fixture *f, const char *key, const char *name)
{
	struct item *it = xmalloc_zero(1, sizeof(*it));

	it->f = f;
	snprintf(it->name, sizeof(it->name), "%s", name);
	pool_add(f->pool, str_of(key), it);
}

static void add(struct fixture *f, const char *key)
{
	add_named(f, key, key);
}

static void expect_log(struct fixture *f, const char *text)
{
	assert_string_equal(f->log.p, text);
	strbuf_reset(&f->log);
}

static void test_one_request(void **state)
{
	struct fixture f;
	uint64_t id;
	(void)state;

	begin(&f, 2, 0, 0);
	assert_false(pool_step(f.pool));
	assert_int_equal(pool_wake_at(f.pool), CLOCK_NEVER);
	add(&f, "a");
	assert_int_equal(pool_waiting(f.pool), 1);
	assert_int_equal(pool_wake_at(f.pool), 0);
	assert_true(pool_step(f.pool));
	assert_false(pool_step(f.pool));
	assert_int_equal(pool_in_flight(f.pool), 1);
	id = fake_transport_expect(f.transport, "PATCH /x/a");
	assert_int_equal(fake_transport_request(f.transport, id)->timeout_ns, 5000 * MS);
	fake_transport_answer(f.transport, id, 200, "{}");
	expect_log(&f, "start a 0;finish a 200;free a;");
	assert_int_equal(pool_in_flight(f.pool), 0);
	end(&f);
}

static void test_held_pool_waits(void **state)
{
	struct fixture f;
	(void)state;

	begin(&f, 2, 0, 0);
	add(&f, "a");
	pool_hold_until(f.pool, 20 * MS);
	pool_hold_until(f.pool, 10 * MS);
	assert_false(pool_step(f.pool));
	assert_int_equal(pool_wake_at(f.pool), 20 * MS);
	clock_fake_advance(&f.clock, 20 * MS);
	assert_true(pool_step(f.pool));
	fake_transport_expect(f.transport, "PATCH /x/a");
	end(&f);
}

static void test_slots_bound_what_is_in_flight(void **state)
{
	struct fixture f;
	uint64_t a;
	(void)state;

	begin(&f, 2, 0, 0);
	add(&f, "a");
	add(&f, "b");
	add(&f, "c");
	assert_true(pool_step(f.pool) && pool_step(f.pool));
	assert_false(pool_step(f.pool));
	assert_int_equal(pool_wake_at(f.pool), CLOCK_NEVER);
	a = fake_transport_expect(f.transport, "PATCH /x/a");
	fake_transport_expect(f.transport, "PATCH /x/b");
	fake_transport_answer(f.transport, a, 200, "");
	assert_true(pool_step(f.pool));
	fake_transport_expect(f.transport, "PATCH /x/c");
	assert_int_equal(pool_in_flight(f.pool), 2);
	end(&f);
}

static void test_unanswered_is_what_is_sent_or_can_be(void **state)
{
	struct fixture f;
	uint64_t a;
	(void)state;

	begin(&f, 1, 0, 0);
	assert_int_equal(pool_unanswered(f.pool), 0);
	add(&f, "a");
	add(&f, "b");
	assert_int_equal(pool_unanswered(f.pool), 2);
	assert_true(pool_step(f.pool));
	assert_int_equal(pool_unanswered(f.pool), 2);
	a = fake_transport_expect(f.transport, "PATCH /x/a");
	f.verdict = POOL_RETRY;
	fake_transport_answer(f.transport, a, 500, "");
	/* It backs off. */
	assert_int_equal(pool_waiting(f.pool), 2);
	assert_int_equal(pool_unanswered(f.pool), 1);
	f.verdict = POOL_DONE;
	assert_true(pool_step(f.pool));
	fake_transport_answer(f.transport, fake_transport_expect(f.transport, "PATCH /x/b"), 200,
			      "");
	assert_int_equal(pool_unanswered(f.pool), 0);
	clock_fake_advance(&f.clock, 1000 * MS);
	assert_int_equal(pool_unanswered(f.pool), 1);
	end(&f);
}

static void test_newer_item_replaces_one_that_waits(void **state)
{
	struct fixture f;
	(void)state;

	begin(&f, 1, 0, 0);
	add_named(&f, "k", "old");
	add_named(&f, "k", "new");
	expect_log(&f, "free old;");
	assert_int_equal(pool_waiting(f.pool), 1);
	pool_step(f.pool);
	expect_log(&f, "start new 0;");
	end(&f);
}

static void test_newer_item_runs_after_the_one_in_flight(void **state)
{
	struct fixture f;
	uint64_t id;
	(void)state;

	begin(&f, 4, 0, 0);
	add_named(&f, "k", "old");
	pool_step(f.pool);
	add_named(&f, "k", "new");
	assert_false(pool_step(f.pool));
	id = fake_transport_expect(f.transport, "PATCH /x/old");
	fake_transport_answer(f.transport, id, 200, "");
	assert_true(pool_step(f.pool));
	expect_log(&f, "start old 0;finish old 200;free old;start new 0;");
	end(&f);
}

static void test_retry_after_backoff(void **state)
{
	struct fixture f;
	int64_t first, second;
	(void)state;

	begin(&f, 1, 0, 0);
	f.verdict = POOL_RETRY;
	add(&f, "a");
	pool_step(f.pool);
	fake_transport_fail(f.transport, fake_transport_expect(f.transport, "PATCH /x/a"),
			    ERR_TIMEOUT, true);
	expect_log(&f, "start a 0;finish a 0;");
	assert_false(pool_step(f.pool));
	first = pool_wake_at(f.pool);
	assert_in_range(first, 75 * MS, 125 * MS);
	clock_fake_advance(&f.clock, first);
	assert_true(pool_step(f.pool));
	expect_log(&f, "start a 1;");
	fake_transport_answer(f.transport, fake_transport_expect(f.transport, "PATCH /x/a"), 500,
			      "");
	second = pool_wake_at(f.pool) - first;
	assert_in_range(second, 150 * MS, 250 * MS);
	clock_fake_advance(&f.clock, second);
	f.verdict = POOL_DONE;
	pool_step(f.pool);
	fake_transport_answer(f.transport, fake_transport_expect(f.transport, "PATCH /x/a"), 200,
			      "");
	expect_log(&f, "finish a 500;start a 2;finish a 200;free a;");
	/* Success resets the backoff. */
	f.verdict = POOL_RETRY;
	add(&f, "a");
	pool_step(f.pool);
	fake_transport_answer(f.transport, fake_transport_expect(f.transport, "PATCH /x/a"), 500,
			      "");
	assert_in_range(pool_wake_at(f.pool) - clock_mono(&f.clock.base), 75 * MS, 125 * MS);
	end(&f);
}

static void keep_line(struct str line, void *ctx)
{
	struct strbuf *lines = ctx;

	strbuf_add_str(lines, line);
}

static void test_failures_in_a_row_are_logged(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf lines = STRBUF_INIT;
	struct fixture f;
	(void)state;

	begin(&f, 1, 0, 0);
	f.verdict = POOL_RETRY;
	log_set_sink(keep_line, &lines);
	add(&f, "a");
	for (int attempts = 1; attempts <= 17; attempts++) {
		assert_true(pool_step(f.pool));
		fake_transport_answer(f.transport, fake_transport_expect(f.transport, "PATCH /x/a"),
				      500, "{\"kind\":\"Status\",\"message\":\"no webhook\"}");
		assert_int_equal(lines.len > 0, attempts == 8 || attempts == 16);
		if (lines.len > 0) {
			assert_non_null(strstr(lines.p, "\"a request fails again and again\""));
			assert_non_null(strstr(lines.p, "key=\"a\""));
			assert_non_null(
				strstr(lines.p, attempts == 8 ? "attempts=8" : "attempts=16"));
			assert_non_null(strstr(lines.p, "status=500"));
			assert_non_null(strstr(lines.p, "no webhook"));
		}
		strbuf_reset(&lines);
		clock_fake_advance(&f.clock, pool_wake_at(f.pool) - clock_mono(&f.clock.base));
	}
	log_set_sink(NULL, NULL);
	end(&f);
}

static void test_retry_gives_way_to_newer_item(void **state)
{
	struct fixture f;
	(void)state;

	begin(&f, 1, 0, 0);
	f.verdict = POOL_RETRY;
	add_named(&f, "k", "old");
	pool_step(f.pool);
	add_named(&f, "k", "new");
	fake_transport_answer(f.transport, fake_transport_expect(f.transport, "PATCH /x/old"), 500,
			      "");
	expect_log(&f, "start old 0;finish old 500;free old;");
	/* The key's wait is inherited. */
	assert_false(pool_step(f.pool));
	clock_fake_advance(&f.clock, 200 * MS);
	assert_true(pool_step(f.pool));
	expect_log(&f, "start new 0;");
	end(&f);
}

static int64_t refuse(struct fixture *f, const char *line)
{
	assert_true(pool_step(f->pool));
	fake_transport_answer(f->transport, fake_transport_expect(f->transport, line), 403, "");
	return pool_wake_at(f->pool) - clock_mono(&f->clock.base);
}

/* A refused item waits longer each time, unless its content has changed. */
static void test_refused_waits_longer(void **state)
{
	struct fixture f;
	int64_t wait = 0;
	(void)state;

	begin(&f, 1, 0, 0);
	f.verdict = POOL_REFUSED;
	add_named(&f, "k", "old");
	for (int i = 0; i < 12; i++) {
		clock_fake_advance(&f.clock, wait);
		wait = refuse(&f, "PATCH /x/old");
	}
	assert_in_range(wait, 6000 * MS, 10000 * MS);
	assert_false(pool_step(f.pool));
	strbuf_reset(&f.log);
	add_named(&f, "k", "new");
	wait = refuse(&f, "PATCH /x/new");
	expect_log(&f, "free old;start new 0;finish new 403;");
	assert_in_range(wait, 6000 * MS, 10000 * MS);
	/* One that comes while it is in flight does not wait either; nothing is left of the old. */
	clock_fake_advance(&f.clock, wait);
	assert_true(pool_step(f.pool));
	add_named(&f, "k", "last");
	fake_transport_answer(f.transport, fake_transport_expect(f.transport, "PATCH /x/new"), 403,
			      "");
	f.verdict = POOL_DONE;
	assert_int_equal(refuse(&f, "PATCH /x/last"), CLOCK_NEVER - clock_mono(&f.clock.base));
	expect_log(&f, "start new 1;finish new 403;free new;start last 0;finish last 403;free "
		       "last;");
	end(&f);
}

static void test_again_goes_at_once_and_first(void **state)
{
	struct fixture f;
	(void)state;

	begin(&f, 1, 0, 0);
	f.verdict = POOL_AGAIN;
	add_named(&f, "k", "old");
	pool_step(f.pool);
	add_named(&f, "k", "new");
	add(&f, "other");
	fake_transport_fail(f.transport, fake_transport_expect(f.transport, "PATCH /x/old"), ERR_IO,
			    true);
	assert_int_equal(pool_wake_at(f.pool), clock_mono(&f.clock.base));
	assert_int_equal(pool_in_flight(f.pool), 1);
	assert_true(pool_step(f.pool));
	expect_log(&f, "start old 0;finish old 0;start old 1;");
	f.verdict = POOL_DONE;
	fake_transport_answer(f.transport, fake_transport_expect(f.transport, "PATCH /x/old"), 200,
			      "");
	assert_true(pool_step(f.pool));
	expect_log(&f, "finish old 200;free old;start other 0;");
	end(&f);
}

static void test_nothing_to_do(void **state)
{
	struct fixture f;
	(void)state;

	begin(&f, 1, 1, 1);
	f.start_nothing = true;
	add(&f, "a");
	add(&f, "b");
	/* No token is spent. */
	assert_true(pool_step(f.pool) && pool_step(f.pool));
	assert_false(pool_step(f.pool));
	fake_transport_expect_none(f.transport);
	expect_log(&f, "start a 0;free a;start b 0;free b;");
	end(&f);
}

static void test_not_allowed_to_send(void **state)
{
	struct fixture f;
	(void)state;

	begin(&f, 1, 1, 1);
	f.forbid = true;
	add(&f, "a");
	assert_true(pool_step(f.pool));
	fake_transport_expect_none(f.transport);
	expect_log(&f, "start a 0;finish a 0 cancelled;free a;");
	f.forbid = false;
	add(&f, "b");
	assert_true(pool_step(f.pool));
	fake_transport_expect(f.transport, "PATCH /x/b");
	end(&f);
}

static void test_limiter_spreads_sends(void **state)
{
	struct fixture f;
	(void)state;

	begin(&f, 10, 10, 1);
	add(&f, "a");
	add(&f, "b");
	assert_true(pool_step(f.pool));
	assert_false(pool_step(f.pool));
	assert_in_range(pool_wake_at(f.pool), 99 * MS, 101 * MS);
	clock_fake_advance(&f.clock, pool_wake_at(f.pool));
	assert_true(pool_step(f.pool));
	end(&f);
}

static void test_retry_after_holds_the_whole_pool(void **state)
{
	static const int statuses[] = { 429, 503 };
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(statuses); i++) {
		struct fixture f;

		unit_row_number(i);
		begin(&f, 2, 0, 0);
		f.verdict = POOL_RETRY;
		add(&f, "a");
		pool_step(f.pool);
		add(&f, "b");
		fake_transport_answer_later(f.transport,
					    fake_transport_expect(f.transport, "PATCH /x/a"),
					    statuses[i], 3);
		assert_false(pool_step(f.pool));
		assert_int_equal(pool_wake_at(f.pool), 3000 * MS);
		clock_fake_advance(&f.clock, 2999 * MS);
		assert_false(pool_step(f.pool));
		clock_fake_advance(&f.clock, 1 * MS);
		assert_true(pool_step(f.pool));
		assert_false(pool_step(f.pool)); /* one after the other now */
		end(&f);
	}
}

#define BUSY_SLOTS 8
#define BUSY_ITEMS 100

/* One request at a time, or 429: what came first is done. Returns how many were refused. */
static unsigned answer_as_one_seat(struct fixture *f, unsigned *done)
{
	unsigned refused = 0;
	uint64_t id;

	for (bool first = true; fake_transport_pending(f->transport) > 0; first = false) {
		id = fake_transport_expect_prefix(f->transport, "PATCH ");
		f->verdict = first ? POOL_DONE : POOL_RETRY;
		if (first) {
			fake_transport_answer(f->transport, id, 200, "");
			++*done;
		} else {
			fake_transport_answer_later(f->transport, id, 429, 1);
			refused++;
		}
	}
	return refused;
}

/* A server with one seat and no queue: the pool learns to come one by one, and only now and then
 * tries two. */
static void test_busy_server_gets_fewer_at_once(void **state)
{
	struct fixture f;
	unsigned done = 0, refused = 0;
	(void)state;

	begin(&f, BUSY_SLOTS, 0, 0);
	for (int i = 0; i < BUSY_ITEMS; i++) {
		char key[16];

		snprintf(key, sizeof(key), "k%d", i);
		add(&f, key);
	}
	while (done < BUSY_ITEMS) {
		unsigned sent = 0;

		while (pool_step(f.pool)) {
			sent++;
		}
		assert_true(sent <= BUSY_SLOTS);
		refused += answer_as_one_seat(&f, &done);
		if (pool_wake_at(f.pool) != CLOCK_NEVER &&
		    pool_wake_at(f.pool) > clock_mono(&f.clock.base)) {
			clock_fake_advance(&f.clock,
					   pool_wake_at(f.pool) - clock_mono(&f.clock.base));
		}
	}
	assert_true(refused <= BUSY_SLOTS + BUSY_ITEMS / 20);
	end(&f);
}

static void test_drop_oldest(void **state)
{
	struct fixture f;
	(void)state;

	begin(&f, 1, 0, 0);
	add(&f, "a");
	add(&f, "b");
	assert_true(pool_drop_oldest(f.pool));
	expect_log(&f, "free a;");
	pool_step(f.pool);
	assert_false(pool_drop_oldest(f.pool));
	expect_log(&f, "start b 0;");
	end(&f);
}

static void test_stop_frees_everything_once(void **state)
{
	struct fixture f;
	(void)state;

	begin(&f, 2, 0, 0);
	f.verdict = POOL_AGAIN;
	add(&f, "flies");
	add(&f, "again");
	pool_step(f.pool);
	pool_step(f.pool);
	fake_transport_expect(f.transport, "PATCH /x/flies");
	fake_transport_answer(f.transport, fake_transport_expect(f.transport, "PATCH /x/again"),
			      200, "");
	add(&f, "waits");
	strbuf_reset(&f.log);
	pool_stop(f.pool, 0);
	expect_log(&f, "free waits;free again;free flies;");
	assert_int_equal(fake_transport_open(f.transport), 0);
	assert_int_equal(pool_in_flight(f.pool), 0);
	add(&f, "late");
	expect_log(&f, "free late;");
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_request),
		cmocka_unit_test(test_held_pool_waits),
		cmocka_unit_test(test_slots_bound_what_is_in_flight),
		cmocka_unit_test(test_unanswered_is_what_is_sent_or_can_be),
		cmocka_unit_test(test_newer_item_replaces_one_that_waits),
		cmocka_unit_test(test_newer_item_runs_after_the_one_in_flight),
		cmocka_unit_test(test_retry_after_backoff),
		cmocka_unit_test(test_failures_in_a_row_are_logged),
		cmocka_unit_test(test_retry_gives_way_to_newer_item),
		cmocka_unit_test(test_refused_waits_longer),
		cmocka_unit_test(test_again_goes_at_once_and_first),
		cmocka_unit_test(test_nothing_to_do),
		cmocka_unit_test(test_not_allowed_to_send),
		cmocka_unit_test(test_limiter_spreads_sends),
		cmocka_unit_test(test_retry_after_holds_the_whole_pool),
		cmocka_unit_test(test_busy_server_gets_fewer_at_once),
		cmocka_unit_test(test_drop_oldest),
		cmocka_unit_test(test_stop_frees_everything_once),
	};

	return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
