/* The token as text, and what is kept of attempts. */
#include "scheduler/orchestrate/token.h"

#include "lib/unit.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "scheduler/orchestrate/replica.h"

#define S CLOCK_NS_PER_S
#define START (INT64_C(1800000000) * S)

static void assert_same(const struct token *a, const struct token *b)
{
	assert_true(a->epoch == b->epoch && a->phase == b->phase && a->lost_at == b->lost_at);
	assert_true(str_streq(a->holder, b->holder) && str_streq(a->uid, b->uid));
	assert_true(a->phase == TOKEN_FREE || a->granted_at == b->granted_at);
	assert_true(a->phase != TOKEN_REVOKING || a->outcome == b->outcome);
	assert_int_equal(a->n, b->n);
	for (size_t i = 0; i < a->n; i++) {
		assert_string_equal(a->attempts[i].cluster, b->attempts[i].cluster);
		assert_true(a->attempts[i].began == b->attempts[i].began &&
			    a->attempts[i].ended == b->attempts[i].ended &&
			    a->attempts[i].outcome == b->attempts[i].outcome);
	}
}

static void expect_round_trip(const struct token *t)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct err err = ERR_INIT;
	struct token back;

	token_format(t, &text);
	assert_int_equal(token_parse(strbuf_str(&text), START, arena, &back, &err), 0);
	assert_same(t, &back);
}

static void it_is_read_as_it_was_written(void **state)
{
	struct token_attempt attempts[TOKEN_OUTCOME_COUNT_];
	struct token t = { .lost_at = REPLICA_NOT_SEEN };

	(void)state;
	expect_round_trip(&t);
	t.lost_at = START;
	expect_round_trip(&t);
	t = (struct token){ .epoch = 3,
			    .attempts = attempts,
			    .phase = TOKEN_GRANTED,
			    .holder = "worker-2",
			    .uid = "u2",
			    .granted_at = START + 250 * CLOCK_NS_PER_MS,
			    .lost_at = REPLICA_NOT_SEEN };
	expect_round_trip(&t);
	for (unsigned o = 0; o < TOKEN_OUTCOME_COUNT_; o++) {
		attempts[t.n++] = (struct token_attempt){ "worker-1", START - S, START,
							  (enum token_outcome)o, 5 * o };
		t.phase = TOKEN_REVOKING;
		t.outcome = (enum token_outcome)o;
		expect_round_trip(&t);
	}
}

static void the_text(void **state)
{
	static const struct token_attempt attempt = { "a", START - 90 * S, START - S, TOKEN_TIMEOUT,
						      3 };
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct token t = { .epoch = 2,
			   .phase = TOKEN_REVOKING,
			   .holder = "b",
			   .uid = "u",
			   .granted_at = START,
			   .outcome = TOKEN_CANNOT,
			   .lost_at = REPLICA_NOT_SEEN,
			   .attempts = &attempt,
			   .n = 1 };

	(void)state;
	token_format(&t, &text);
	assert_string_equal(
		text.p,
		"{\"epoch\":2,\"phase\":\"Revoking\",\"holder\":\"b\",\"uid\":\"u\","
		"\"grantedAt\":\"2027-01-15T08:00:00.000000Z\",\"outcome\":\"DoesNotFit\","
		"\"attempts\":[{\"cluster\":\"a\",\"began\":\"2027-01-15T07:58:30.000000Z\","
		"\"ended\":\"2027-01-15T07:59:59.000000Z\",\"outcome\":\"Timeout\",\"victims\":3}]"
		"}");
}

#define ENDED                                                                                      \
	"{\"cluster\":\"a\",\"outcome\":\"Gone\",\"began\":\"2027-01-15T08:00:00Z\",\"ended\":"    \
	"\"2027-01-15T08:00:00Z\""
#define HELD                                                                                       \
	"\"phase\":\"Granted\",\"holder\":\"a\",\"uid\":\"u\",\"grantedAt\":\"2027-01-15T08:00:"   \
	"00Z\""

static void text_that_was_edited(void **state)
{
	static const struct {
		const char *text, *error;
	} rows[] = {
		{ "x", "" },
		{ "[]", "" },
		{ "{}", "phase: missing" },
		{ "{\"phase\":\"Mine\"}", "phase: unknown" },
		{ "{\"phase\":\"Granted\"}", "holder, uid and grantedAt are required" },
		{ "{\"epoch\":-1," HELD "}", "epoch: negative" },
		{ "{\"phase\":\"Revoking\",\"holder\":\"a\"}", "outcome: missing" },
		{ "{" HELD ",\"attempts\":[{\"cluster\":\"a\",\"outcome\":\"Won\"}]}",
		  "attempts[].outcome: unknown" },
		{ "{" HELD ",\"attempts\":[{\"cluster\":\"a\",\"outcome\":\"Gone\"}]}",
		  "attempts[0]: cluster and times are required" },
		{ "{" HELD ",\"attempts\":[" ENDED ",\"victims\":-1}]}",
		  "attempts[0].victims: out of range" },
		{ "{" HELD ",\"attempts\":[" ENDED ",\"victims\":4294967296}]}",
		  "attempts[0].victims: out of range" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
		struct err err = ERR_INIT;
		struct token t;

		unit_row(rows[i].text);
		assert_int_equal(token_parse(str_of(rows[i].text), START, arena, &t, &err),
				 -ERR_INVALID);
		assert_non_null(strstr(err.text, rows[i].error));
		assert_int_equal(t.phase, TOKEN_FREE);
		assert_true(t.lost_at == START);
		assert_int_equal(t.n, 0);
	}
}

static void too_long_a_text(void **state)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct err err = ERR_INIT;
	struct token t;

	(void)state;
	strbuf_add_c(&text, "{" HELD "}");
	while (text.len <= TOKEN_MAX_BYTES) {
		strbuf_add_ch(&text, ' ');
	}
	assert_int_equal(token_parse(strbuf_str(&text), START, arena, &t, &err), -ERR_INVALID);
	strbuf_truncate(&text, TOKEN_MAX_BYTES);
	assert_int_equal(token_parse(strbuf_str(&text), START, arena, &t, &err), 0);
	assert_int_equal(t.phase, TOKEN_GRANTED);
}

/* The longest token: names of clusters have at most 253 characters. */
static void the_longest_text_can_be_read(void **state)
{
	static struct token_room room;
	char name[254];
	struct token t = { .epoch = INT64_MAX,
			   .attempts = room.v,
			   .phase = TOKEN_REVOKING,
			   .holder = name,
			   .uid = "ec6a04d0-25c5-4c9f-a5c4-6a0d4c1dcb44",
			   .granted_at = START,
			   .outcome = TOKEN_NO_REACTION,
			   .lost_at = START };

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	while (t.n < TOKEN_MAX_ATTEMPTS) {
		room.v[t.n++] =
			(struct token_attempt){ name, START, START, TOKEN_UNREACHABLE, UINT32_MAX };
	}
	expect_round_trip(&t);
}

static void too_many_attempts(void **state)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct err err = ERR_INIT;
	struct token t;

	(void)state;
	strbuf_add_c(&text, "{" HELD ",\"attempts\":[");
	for (int i = 0; i <= TOKEN_MAX_ATTEMPTS; i++) {
		strbuf_add_c(&text, i == 0 ? "{}" : ",{}");
	}
	strbuf_add_c(&text, "]}");
	assert_int_equal(token_parse(strbuf_str(&text), START, arena, &t, &err), -ERR_INVALID);
	assert_string_equal(err.text, "attempts: more than 100");
}

static void attempts_of_many_clusters_are_kept(void **state)
{
	static const struct {
		size_t clusters, kept;
	} rows[] = { { 1, 20 }, { 20, 20 }, { 21, 21 }, { 100, 100 }, { 101, 100 } };
	static struct token_room room;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct token t = { .lost_at = REPLICA_NOT_SEEN };

		unit_row_number(i);
		for (size_t k = 0; k <= rows[i].kept; k++) {
			t.holder = "a";
			t.granted_at = START + (int64_t)k * S;
			token_end(&t, TOKEN_TIMEOUT, START, rows[i].clusters, &room);
		}
		assert_int_equal(t.n, rows[i].kept);
		assert_true(t.attempts[0].began == START + S);
	}
}

static void attempts_are_kept(void **state)
{
	struct token t = { .lost_at = REPLICA_NOT_SEEN };
	struct token_room room;
	int64_t last;

	(void)state;
	assert_int_equal(token_failures(&t, "a", &last), 0);
	assert_true(last == REPLICA_NOT_SEEN);
	for (int i = 0; i < TOKEN_KEPT_ATTEMPTS + 5; i++) {
		t.phase = TOKEN_GRANTED;
		t.holder = i % 2 == 0 ? "a" : "b";
		t.granted_at = START + i * S;
		token_end(&t, i == 24 ? TOKEN_NEEDLESS : TOKEN_TIMEOUT, START + (i + 1) * S, 2,
			  &room);
		assert_int_equal(t.phase, TOKEN_FREE);
		assert_null(t.holder);
	}
	assert_int_equal(t.n, TOKEN_KEPT_ATTEMPTS);
	assert_true(t.attempts[0].began == START + 5 * S);
	assert_int_equal(token_failures(&t, "a", &last), 9); /* 6, 8, ..., 22 */
	assert_true(last == START + 23 * S);
	assert_int_equal(token_failures(&t, "b", &last), 10);
	assert_true(last == START + 24 * S);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_read_as_it_was_written),
		cmocka_unit_test(the_text),
		cmocka_unit_test(text_that_was_edited),
		cmocka_unit_test(too_long_a_text),
		cmocka_unit_test(the_longest_text_can_be_read),
		cmocka_unit_test(attempts_are_kept),
		cmocka_unit_test(too_many_attempts),
		cmocka_unit_test(attempts_of_many_clusters_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
