/* The connection to a worker: every event in every state, and the times between attempts. */
#include "scheduler/multikueue/connection.h"

#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"

#define S CLOCK_NS_PER_S
#define WALL (INT64_C(1800000000) * S)

struct fixture {
	struct connection c;
	int64_t mono;
};

static bool send(struct fixture *f, enum connection_event e)
{
	return connection_event(&f->c, e, "ClientConnectionFailed", "no route", f->mono,
				WALL + f->mono);
}

/* Brings it into a state. */
static void begin(struct fixture *f, enum connection_state state)
{
	*f = (struct fixture){ .mono = 0 };
	connection_init(&f->c, WALL);
	for (unsigned e = CONNECTION_CONFIGURED; f->c.state < state; e++) {
		if (e != CONNECTION_BAD_CONFIG) {
			assert_true(send(f, (enum connection_event)e));
		}
	}
}

#define NO CONNECTION_STATE_COUNT_

static void every_event_in_every_state(void **state)
{
	static const struct {
		const char *name;
		enum connection_event event;
		enum connection_state from[CONNECTION_STATE_COUNT_];
	} rows[] = {
		{ "configured",
		  CONNECTION_CONFIGURED,
		  { CONNECTION_DOWN, CONNECTION_DOWN, CONNECTION_DOWN, CONNECTION_DOWN } },
		{ "bad configuration",
		  CONNECTION_BAD_CONFIG,
		  { CONNECTION_UNCONFIGURED, CONNECTION_UNCONFIGURED, CONNECTION_UNCONFIGURED,
		    CONNECTION_UNCONFIGURED } },
		{ "started", CONNECTION_STARTED, { NO, CONNECTION_CONNECTING, NO, NO } },
		{ "established", CONNECTION_ESTABLISHED, { NO, NO, CONNECTION_UP, NO } },
		{ "failed", CONNECTION_FAILED, { NO, NO, CONNECTION_DOWN, NO } },
		{ "lost", CONNECTION_LOST, { NO, NO, CONNECTION_DOWN, CONNECTION_DOWN } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		for (unsigned from = 0; from < CONNECTION_STATE_COUNT_; from++) {
			enum connection_state to = rows[i].from[from];
			struct fixture f;

			unit_row(rows[i].name);
			begin(&f, (enum connection_state)from);
			assert_int_equal(send(&f, rows[i].event), to != NO);
			assert_int_equal(f.c.state, to == NO ? from : to);
		}
	}
}

static void pauses(void **state)
{
	static const int64_t seconds[] = { 5, 10, 20, 40, 80, 160, 320, 320, 320 };
	struct fixture f;

	(void)state;
	begin(&f, CONNECTION_DOWN);
	for (size_t i = 0; i < ARRAY_LEN(seconds); i++) {
		unit_row_number(i);
		assert_true(connection_is_due(&f.c, f.mono));
		assert_true(send(&f, CONNECTION_STARTED));
		assert_true(send(&f, CONNECTION_FAILED));
		assert_true(connection_wake_at(&f.c) == f.mono + seconds[i] * S);
		assert_false(connection_is_due(&f.c, f.mono + seconds[i] * S - 1));
		f.mono += seconds[i] * S;
	}
	assert_true(send(&f, CONNECTION_CONFIGURED)); /* a new kubeconfig is tried at once */
	assert_true(connection_is_due(&f.c, f.mono));
	assert_true(send(&f, CONNECTION_STARTED));
	assert_true(send(&f, CONNECTION_FAILED));
	assert_true(connection_wake_at(&f.c) == f.mono + 5 * S);
}

static void limits_of_an_attempt(void **state)
{
	static const int64_t minutes[] = { 1, 2, 4, 8, 10, 10 };
	struct fixture f;

	(void)state;
	begin(&f, CONNECTION_DOWN);
	for (size_t i = 0; i < ARRAY_LEN(minutes); i++) {
		unit_row_number(i);
		assert_true(send(&f, CONNECTION_STARTED));
		assert_true(connection_wake_at(&f.c) == f.mono + minutes[i] * 60 * S);
		assert_true(send(&f, CONNECTION_FAILED));
	}
}

/* workerLostTimeout counts from the first loss, whatever fails after it. */
static void the_first_loss_counts(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, CONNECTION_DOWN);
	assert_true(f.c.lost_at == WALL);
	f.mono = 10 * S;
	assert_true(send(&f, CONNECTION_STARTED));
	assert_true(send(&f, CONNECTION_FAILED));
	assert_true(f.c.lost_at == WALL);
	begin(&f, CONNECTION_UP);
	f.mono = 20 * S;
	assert_true(send(&f, CONNECTION_LOST));
	assert_true(f.c.lost_at == WALL + 20 * S);
	assert_true(connection_is_due(&f.c, f.mono)); /* at once */
	f.mono = 30 * S;
	assert_true(send(&f, CONNECTION_STARTED));
	assert_true(send(&f, CONNECTION_FAILED));
	assert_true(send(&f, CONNECTION_BAD_CONFIG));
	assert_true(send(&f, CONNECTION_CONFIGURED));
	assert_true(f.c.lost_at == WALL + 20 * S);
}

/* Lists are allowed and watches refused: each attempt succeeds, and is lost at once. */
static void a_connection_that_does_not_last_has_failed(void **state)
{
	static const struct {
		int64_t lasts, pause;
	} rows[] = { { 0, 5 }, { 9, 10 }, { 0, 20 }, { 10, 0 }, { 9, 5 } };
	struct fixture f;

	(void)state;
	begin(&f, CONNECTION_DOWN);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row_number(i);
		assert_true(send(&f, CONNECTION_STARTED));
		assert_true(send(&f, CONNECTION_ESTABLISHED));
		f.mono += rows[i].lasts * S;
		assert_true(send(&f, CONNECTION_LOST));
		assert_true(connection_wake_at(&f.c) == f.mono + rows[i].pause * S);
		f.mono += rows[i].pause * S;
	}
}

static void expect_condition(struct fixture *f, const char *status, const char *reason,
			     const char *message)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	const char *why;

	assert_string_equal(connection_condition(&f->c, f->mono, WALL + f->mono, &why, &text),
			    status);
	assert_string_equal(why, reason);
	assert_string_equal(text.len == 0 ? "" : text.p, message);
}

static void the_condition(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, CONNECTION_DOWN);
	expect_condition(&f, "False", "ClientConnectionFailed", "not connected yet");
	begin(&f, CONNECTION_UP);
	expect_condition(&f, "True", "Active", "Connected");
	f.mono += 60 * S;
	assert_true(send(&f, CONNECTION_LOST));
	expect_condition(&f, "False", "ClientConnectionFailed", "no route");
	assert_true(send(&f, CONNECTION_STARTED));
	assert_true(send(&f, CONNECTION_FAILED));
	f.mono += 2 * S;
	expect_condition(&f, "False", "ClientConnectionFailed",
			 "no route; connection attempts: 1, next connection attempt: "
			 "2027-01-15T08:01:05Z");
	assert_true(connection_event(&f.c, CONNECTION_BAD_CONFIG, "InsecureKubeConfig",
				     "insecure-skip-tls-verify is set", f.mono, WALL));
	expect_condition(&f, "False", "InsecureKubeConfig", "insecure-skip-tls-verify is set");
	assert_true(connection_wake_at(&f.c) == CLOCK_NEVER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_event_in_every_state),
		cmocka_unit_test(pauses),
		cmocka_unit_test(limits_of_an_attempt),
		cmocka_unit_test(the_first_loss_counts),
		cmocka_unit_test(a_connection_that_does_not_last_has_failed),
		cmocka_unit_test(the_condition),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
