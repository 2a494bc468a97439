#include "kube/wakeup.h"

#include "lib/unit.h"

#include "base/clock.h"
#include "lib/net/fake_transport.h"

struct fixture {
	struct clock_fake clock;
	struct fake_transport *transport;
	struct wakeup *wakeup;
	unsigned fired;
	int64_t fired_at;
	int64_t then; /* fn sets the timer to this, 0: no */
	bool destroy_in_fn;
};

static void on_wakeup(void *ctx)
{
	struct fixture *f = ctx;

	f->fired++;
	f->fired_at = clock_mono(&f->clock.base);
	if (f->then != 0) {
		wakeup_set(f->wakeup, f->then);
		f->then = 0;
	}
	if (f->destroy_in_fn) {
		wakeup_destroy(f->wakeup);
		f->wakeup = NULL;
	}
}

static void begin(struct fixture *f)
{
	*f = (struct fixture){ 0 };
	clock_fake_init(&f->clock, 0);
	f->transport = fake_transport_create(&f->clock);
	f->wakeup = wakeup_create(fake_transport_base(f->transport), &f->clock.base, on_wakeup, f);
}

static void end(struct fixture *f)
{
	wakeup_destroy(f->wakeup);
	fake_transport_destroy(f->transport);
}

static void test_fires_once(void **state)
{
	struct fixture f;
	(void)state;

	begin(&f);
	wakeup_set(f.wakeup, 10);
	fake_transport_advance(f.transport, 9);
	assert_int_equal(f.fired, 0);
	fake_transport_advance(f.transport, 100);
	assert_int_equal(f.fired, 1);
	assert_int_equal(f.fired_at, 10);
	end(&f);
}

static void test_put_off(void **state)
{
	struct fixture f;
	(void)state;

	begin(&f);
	wakeup_set(f.wakeup, 10);
	wakeup_set(f.wakeup, 30);
	fake_transport_advance(f.transport, 100);
	assert_int_equal(f.fired, 1);
	assert_int_equal(f.fired_at, 30);
	end(&f);
}

static void test_brought_forward(void **state)
{
	struct fixture f;
	(void)state;

	begin(&f);
	wakeup_set(f.wakeup, 30);
	wakeup_set(f.wakeup, 10);
	fake_transport_advance(f.transport, 100);
	assert_int_equal(f.fired, 1);
	assert_int_equal(f.fired_at, 10);
	end(&f);
}

static void test_cleared(void **state)
{
	struct fixture f;
	(void)state;

	begin(&f);
	wakeup_set(f.wakeup, 10);
	wakeup_set(f.wakeup, CLOCK_NEVER);
	fake_transport_advance(f.transport, 100);
	assert_int_equal(f.fired, 0);
	end(&f);
}

static void test_set_in_fn(void **state)
{
	struct fixture f;
	(void)state;

	begin(&f);
	f.then = 25;
	wakeup_set(f.wakeup, 10);
	fake_transport_advance(f.transport, 100);
	assert_int_equal(f.fired, 2);
	assert_int_equal(f.fired_at, 25);
	end(&f);
}

static void test_past_time_fires_soon(void **state)
{
	struct fixture f;
	(void)state;

	begin(&f);
	clock_fake_advance(&f.clock, 50);
	wakeup_set(f.wakeup, 10);
	assert_int_equal(f.fired, 0); /* never inside set */
	fake_transport_run(f.transport);
	assert_int_equal(f.fired, 1);
	end(&f);
}

static void test_destroyed_with_calls_under_way(void **state)
{
	struct fixture f;
	(void)state;

	begin(&f);
	wakeup_set(f.wakeup, 30);
	wakeup_set(f.wakeup, 10);
	wakeup_destroy(f.wakeup);
	f.wakeup = NULL;
	fake_transport_advance(f.transport, 100);
	assert_int_equal(f.fired, 0);
	end(&f);

	begin(&f);
	f.destroy_in_fn = true;
	wakeup_set(f.wakeup, 30);
	wakeup_set(f.wakeup, 10);
	fake_transport_advance(f.transport, 100);
	assert_int_equal(f.fired, 1);
	end(&f);
}

static void test_transport_goes_first(void **state)
{
	struct fixture f;
	(void)state;

	begin(&f);
	wakeup_set(f.wakeup, 10);
	fake_transport_destroy(f.transport);
	assert_int_equal(f.fired, 0);
	wakeup_destroy(f.wakeup);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fires_once),
		cmocka_unit_test(test_put_off),
		cmocka_unit_test(test_brought_forward),
		cmocka_unit_test(test_cleared),
		cmocka_unit_test(test_set_in_fn),
		cmocka_unit_test(test_past_time_fires_soon),
		cmocka_unit_test(test_destroyed_with_calls_under_way),
		cmocka_unit_test(test_transport_goes_first),
	};

	return cmocka_run_group_tests_name("wakeup", tests, NULL, NULL);
}
