#include "scheduler/ctl/explain/offer_explain.h"

#include "lib/unit.h"

#include <string.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "scheduler/orchestrate/orchestrate.h"

#define S CLOCK_NS_PER_S
#define NOW (INT64_C(1768467600) * S) /* 2026-01-15T09:00:00Z */

/* A replica in a few letters: . none yet, u not looked at, c does not fit, C candidate, P makes
 * room, R has quota, A admitted, h another gate closed, H no gate of ours, x out of reach, - not
 * asked; o after it: the gate is open. */
static bool make(const char *letters, struct replica *r)
{
	char c = letters[0];

	*r = (struct replica){ .cluster = "w", .uid = "u", .reachable = c != 'x' };
	r->uid = c == '.' ? NULL : "u";
	r->has_gate = c != 'H';
	r->other_gate = c == 'h';
	r->is_open = letters[1] == 'o';
	r->signals = strchr("ChH", c) != NULL;
	r->answer = r->signals ? REPLICA_GATED
		    : c == 'c' ? REPLICA_DOES_NOT_FIT
		    : c == 'P' ? REPLICA_IS_PREEMPTING
			       : REPLICA_NO_ANSWER;
	r->reserved = c == 'R' || c == 'A';
	r->admitted = c == 'A';
	return c != '-';
}

#define GRANTED(extra)                                                                             \
	"{'epoch':1,'phase':'Granted','holder':'w1','uid':'u','grantedAt':'2026-01-15T08:59:00."   \
	"000000Z'" extra "}"
#define REVOKING                                                                                   \
	"{'epoch':1,'phase':'Revoking','holder':'w1','uid':'u','grantedAt':'2026-01-15T08:59:00."  \
	"000000Z','outcome':'Timeout'}"
#define FAILED(ended)                                                                              \
	"{'epoch':1,'phase':'Free','attempts':[{'cluster':'w1','began':'2026-01-15T08:50:00."      \
	"000000Z','ended':'" ended "','outcome':'Timeout'}]}"

/* Replicas of w1 and w2, the token, the verdicts about both. */
static const struct {
	const char *w1, *w2, *token, *says1, *says2;
} rows[] = {
	{ "C", "C", "", "would preempt, and may be chosen next",
	  "would preempt, and may be chosen next" },
	{ "C", "u", "", "would preempt; up to 10 s are given to w2 for its answer",
	  "its scheduler has not looked at the replica yet" },
	{ "C", "x", "", "would preempt; up to 10 s are given to w2 for its answer",
	  "cannot be reached: m" },
	{ "C", "-", "", "would preempt, and may be chosen next", "not asked: m" },
	{ "C", "R", "", "would preempt, and waits while w2 has quota",
	  "has quota, and waits for the admission checks there" },
	{ "C", "P", "", "would preempt, and waits while w2 makes room",
	  "makes room without the token: no other one may preempt meanwhile" },
	{ "C", "A", "", "would preempt, and waits while w2 has quota", "is admitted there" },
	{ "c", ".", "", "does not fit there: m", "it has no replica yet" },
	{ "h", "H", "", "another preemption gate of the replica is closed: team/freeze",
	  "the replica has no gate that the manager may open" },
	{ "C", "C", GRANTED(""), "has the token: its gate is still closed",
	  "would preempt, and waits while w1 has the token" },
	{ "Co", "C", GRANTED(""), "has the token: its gate is open, and it has not preempted yet",
	  "would preempt, and waits while w1 has the token" },
	{ "Po", "C", GRANTED(""), "has the token: its victims are on their way out",
	  "would preempt, and waits while w1 has the token" },
	{ "Ro", "c", GRANTED(""),
	  "has the token: it has quota, and waits for the admission checks "
	  "there",
	  "does not fit there: m" },
	{ "Ao", "c", GRANTED(""), "has the token: it is admitted there", "does not fit there: m" },
	{ "x", "C", GRANTED(""), "has the token: it cannot be reached, and may be preempting",
	  "would preempt, and waits while w1 has the token" },
	{ "-", "-", GRANTED(""), "has the token: not asked how far it is: m", "not asked: m" },
	{ "Co", "C", REVOKING, "gives the token back (Timeout): its gate is closed first",
	  "would preempt, and waits while w1 has the token" },
	{ "C", "c", FAILED("2026-01-15T08:59:40.000000Z"),
	  "would preempt; after its failures it pauses until 2026-01-15T09:00:10Z",
	  "does not fit there: m" },
	{ "C", "c", FAILED("2026-01-15T08:59:00.000000Z"), "would preempt, and may be chosen next",
	  "does not fit there: m" },
};

static char *with_double_quotes(const char *text)
{
	char *copy = xmalloc_dup(text);

	for (char *p = copy; *p != '\0'; p++) {
		*p = *p == '\'' ? '"' : *p;
	}
	return copy;
}

static void explain_token(struct offer *o, const char *token)
{
	CLEANUP(xmalloc_freep) char *text = with_double_quotes(token);
	struct orchestrate_options opt;

	orchestrate_defaults(&opt);
	offer_explain(o, str_of(arena_dup(o->arena, text)), &opt, NOW);
}

static void explain(struct offer *o, const char *w1, const char *w2, const char *token)
{
	const char *letters[] = { w1, w2 }, *names[] = { "w1", "w2" };

	*o = (struct offer){ .arena = arena_create(0), .check = "mk", .config = "all" };
	for (size_t i = 0; i < 2; i++) {
		struct replica *r = arena_zero(o->arena, 1, sizeof(*r));
		struct offer_worker w = { .cluster = names[i], .message = "m" };

		w.other_gate = letters[i][0] == 'h' ? "team/freeze" : NULL;
		if (make(letters[i], r)) {
			w.replica = r;
		}
		vec_push(&o->workers, w);
	}
	explain_token(o, token);
}

static void verdicts(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf name = STRBUF_INIT;
		struct offer o;

		strbuf_printf(&name, "%s %s %s", rows[i].w1, rows[i].w2, rows[i].token);
		unit_row(name.p);
		explain(&o, rows[i].w1, rows[i].w2, rows[i].token);
		assert_null(o.token_error);
		assert_int_equal(o.workers.n, 2);
		assert_string_equal(o.workers.v[0].verdict, rows[i].says1);
		assert_string_equal(o.workers.v[1].verdict, rows[i].says2);
		offer_explain_finish(&o);
	}
}

static void how_long_the_holder_has_the_token(void **state UNUSED)
{
	static const struct {
		const char *w1, *token;
		int64_t until, until_progress; /* seconds from the grant; 0: not at all */
	} times[] = {
		{ "C", "", 0, 0 },
		{ "Co", GRANTED(""), 300, 0 },
		{ "Po", GRANTED(""), 1200, 0 },
		{ "-", GRANTED(""), 300, 1200 },
	};

	for (size_t i = 0; i < ARRAY_LEN(times); i++) {
		int64_t granted = NOW - 60 * S;
		struct offer o;

		unit_row_number(i);
		explain(&o, times[i].w1, "c", times[i].token);
		assert_int_equal(o.until, times[i].until == 0 ? 0 : granted + times[i].until * S);
		assert_int_equal(o.until_progress, times[i].until_progress == 0
							   ? 0
							   : granted + times[i].until_progress * S);
		offer_explain_finish(&o);
	}
}

/* A cluster that was taken out of the MultiKueueConfig may still have a gate open. */
static void workers_that_only_the_token_names(void **state UNUSED)
{
	struct offer o;

	explain(&o, "C", "c",
		"{'epoch':2,'phase':'Granted','holder':'w9','uid':'u','grantedAt':'2026-01-15T08:"
		"59:00.000000Z','attempts':[{'cluster':'w8','began':'2026-01-15T08:50:00.000000Z',"
		"'ended':'2026-01-15T08:55:00.000000Z','outcome':'Gone'}]}");
	assert_int_equal(o.workers.n, 4);
	assert_string_equal(o.workers.v[2].cluster, "w8");
	assert_string_equal(o.workers.v[2].answer, "NotAsked");
	assert_string_equal(o.workers.v[2].verdict,
			    "not asked: the MultiKueueConfig does not name it");
	assert_int_equal(o.workers.v[2].failures, 1);
	assert_string_equal(o.workers.v[3].cluster, "w9");
	assert_string_equal(o.workers.v[3].verdict,
			    "has the token: not asked how far it is: the MultiKueueConfig does not "
			    "name it");
	assert_string_equal(o.workers.v[0].answer, "Candidate");
	offer_explain_finish(&o);
	o = (struct offer){ .arena = arena_create(0), .unlisted = "why" };
	explain_token(&o, FAILED("2026-01-15T08:59:00.000000Z"));
	assert_int_equal(o.workers.n, 1);
	assert_string_equal(o.workers.v[0].verdict, "not asked: why");
	offer_explain_finish(&o);
}

static void a_token_that_cannot_be_read(void **state UNUSED)
{
	struct offer o;

	explain(&o, "C", "c", "{'phase':'Lent'}");
	assert_string_equal(o.token_error, "phase: unknown");
	assert_int_equal(o.token.phase, TOKEN_FREE);
	assert_string_equal(o.workers.v[0].verdict, "would preempt, and may be chosen next");
	offer_explain_finish(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verdicts),
		cmocka_unit_test(how_long_the_holder_has_the_token),
		cmocka_unit_test(workers_that_only_the_token_names),
		cmocka_unit_test(a_token_that_cannot_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
