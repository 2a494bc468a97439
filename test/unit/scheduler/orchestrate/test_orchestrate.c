/* On which cluster a Workload may preempt: each rule in a world of its own. */
#include "scheduler/orchestrate/orchestrate.h"

#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"

#define S CLOCK_NS_PER_S
#define START (INT64_C(1800000000) * S)

/* --- a world -----------------------------------------------------------------------------------*/

struct world {
	struct orchestrate_options opt;
	struct token token;
	struct token_room room; /* of what it has in the beginning */
	struct replica replicas[3];
	struct orchestrate_step step;
	bool unwanted;
	int64_t connecting_until, offers_until;
	int64_t now;
};

static const char *const clusters[] = { "one", "two", "three" };
static const char *const uids[] = { "u1", "u2", "u3" };

/* Three clusters, none of which has looked at its replica. */
static void begin(struct world *w)
{
	*w = (struct world){ .now = START };
	orchestrate_defaults(&w->opt);
	w->opt.mode = ORCHESTRATE_ORDER;
	w->token.lost_at = REPLICA_NOT_SEEN;
	w->token.attempts = w->room.v;
	for (size_t i = 0; i < ARRAY_LEN(w->replicas); i++) {
		w->replicas[i] = (struct replica){ .cluster = clusters[i],
						   .uid = uids[i],
						   .reachable = true,
						   .has_gate = true,
						   .signal_seen = REPLICA_NOT_SEEN,
						   .open_seen = REPLICA_NOT_SEEN,
						   .ahead_seen = REPLICA_NOT_SEEN,
						   .cost = REPLICA_COST_UNKNOWN };
	}
}

static void signal_from(struct world *w, size_t i, uint64_t number)
{
	w->replicas[i].signals = true;
	w->replicas[i].answer = REPLICA_GATED;
	w->replicas[i].signal_seen = w->now;
	w->replicas[i].signal_number = number;
}

static void cannot(struct world *w, size_t i)
{
	w->replicas[i].answer = REPLICA_DOES_NOT_FIT;
}

/* All ask for the gate, in the order of the configuration. */
static void signal_all(struct world *w)
{
	for (size_t i = 0; i < ARRAY_LEN(w->replicas); i++) {
		signal_from(w, i, i + 1);
	}
}

static void hold(struct world *w, size_t i)
{
	w->token.phase = TOKEN_GRANTED;
	w->token.epoch = 1;
	w->token.holder = clusters[i];
	w->token.uid = uids[i];
	w->token.granted_at = w->now;
}

static void open_gate(struct world *w, size_t i)
{
	w->replicas[i].is_open = true;
	w->replicas[i].open_seen = w->now;
}

static void failed(struct world *w, size_t i, enum token_outcome outcome)
{
	w->room.v[w->token.n++] =
		(struct token_attempt){ clusters[i], w->now - 60 * S, w->now, outcome, 0 };
}

static enum orchestrate_act next(struct world *w)
{
	const struct orchestrate_view view = { .token = &w->token,
					       .replicas = w->replicas,
					       .n = ARRAY_LEN(w->replicas),
					       .connecting_until = w->connecting_until,
					       .offers_until = w->offers_until,
					       .wanted = !w->unwanted,
					       .now = w->now };

	orchestrate_next(&w->opt, &view, &w->step);
	return w->step.act;
}

static void expect_wait(struct world *w, int64_t at)
{
	assert_int_equal(next(w), ORCHESTRATE_WAIT);
	assert_true(w->step.at == at);
}

static void expect_grant(struct world *w, size_t i)
{
	assert_int_equal(next(w), ORCHESTRATE_RECORD);
	assert_int_equal(w->step.token.phase, TOKEN_GRANTED);
	assert_string_equal(w->step.token.holder, clusters[i]);
	assert_string_equal(w->step.token.uid, uids[i]);
	assert_true(w->step.token.granted_at == w->now);
	assert_int_equal(w->step.token.epoch, w->token.epoch + 1);
}

static void expect_act(struct world *w, enum orchestrate_act what, size_t i)
{
	assert_int_equal(next(w), what);
	assert_int_equal(w->step.replica, i);
}

static void expect_end(struct world *w, enum token_outcome outcome)
{
	assert_int_equal(next(w), ORCHESTRATE_RECORD);
	assert_int_equal(w->step.token.phase, TOKEN_FREE);
	assert_null(w->step.token.holder);
	assert_int_equal(w->step.token.attempts[w->step.token.n - 1].outcome, outcome);
	assert_true(w->step.token.attempts[w->step.token.n - 1].ended == w->now);
}

static void expect_revoke(struct world *w, enum token_outcome outcome)
{
	assert_int_equal(next(w), ORCHESTRATE_RECORD);
	assert_int_equal(w->step.token.phase, TOKEN_REVOKING);
	assert_int_equal(w->step.token.outcome, outcome);
}

/* --- collecting answers ------------------------------------------------------------------------*/

static void nobody_asks(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	expect_wait(&w, CLOCK_NEVER);
	for (size_t i = 0; i < 3; i++) {
		cannot(&w, i);
	}
	expect_wait(&w, CLOCK_NEVER);
}

/* Hole: a cluster that has room answers last, and the one that asked first has evicted by then. */
static void others_are_waited_for(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	signal_from(&w, 0, 1);
	w.now += 4 * S;
	expect_wait(&w, START + 10 * S);
	cannot(&w, 1);
	expect_wait(&w, START + 10 * S);
	cannot(&w, 2);
	expect_grant(&w, 0);
}

/* A replica of several Workloads, of which one asks and another one has no answer yet. */
static void each_part_of_a_replica_is_waited_for(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	signal_from(&w, 0, 1);
	cannot(&w, 1);
	cannot(&w, 2);
	w.replicas[0].unanswered = true;
	w.now += 4 * S;
	expect_wait(&w, START + 10 * S);
	w.now = START + 10 * S;
	expect_grant(&w, 0);
}

static void the_window_ends(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	signal_from(&w, 1, 1);
	w.replicas[0].reachable = false;
	w.now += 10 * S;
	expect_grant(&w, 1);
}

/* All that it was offered to have answered, and one more cluster is about to be offered. */
static void the_next_offer_is_waited_for(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	signal_from(&w, 0, 1);
	cannot(&w, 1);
	cannot(&w, 2);
	w.offers_until = START + 3 * S;
	expect_wait(&w, START + 3 * S);
	w.now = START + 3 * S;
	expect_grant(&w, 0);
	w.offers_until = START + 60 * S;
	expect_wait(&w, START + 10 * S);
	w.now = START + 10 * S;
	expect_grant(&w, 0);
	w.now = START;
	w.opt.window_ns = 0;
	expect_grant(&w, 0);
}

/* A clock that is set back does not make a wait longer than it is. */
static void the_clock_is_set_back(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	signal_from(&w, 0, 1);
	w.now -= 3600 * S;
	expect_wait(&w, w.now + 10 * S);
}

static void without_a_window_the_first_gets_it(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	w.opt.window_ns = 0;
	signal_from(&w, 2, 1);
	expect_grant(&w, 2);
}

/* --- the choice --------------------------------------------------------------------------------*/

static void modes(void **state)
{
	static const struct {
		const char *name;
		enum orchestrate_mode mode;
		uint64_t numbers[3];
		int64_t costs[3];
		size_t chosen;
	} rows[] = {
		{ "order", ORCHESTRATE_ORDER, { 3, 2, 1 }, { 9, 8, 7 }, 0 },
		{ "the first that asked", ORCHESTRATE_COMPAT, { 3, 1, 2 }, { 1, 9, 2 }, 1 },
		{ "the cheapest", ORCHESTRATE_COST, { 1, 2, 3 }, { 9, 8, 7 }, 2 },
		{ "equal costs: order", ORCHESTRATE_COST, { 3, 2, 1 }, { 7, 7, 7 }, 0 },
		{ "unknown is the median, which is lower",
		  ORCHESTRATE_COST,
		  { 1, 2, 3 },
		  { 9, -1, 7 },
		  1 },
		{ "unknown is the median, which is not lower",
		  ORCHESTRATE_COST,
		  { 1, 2, 3 },
		  { 7, -1, 9 },
		  0 },
		{ "nothing is known: order", ORCHESTRATE_COST, { 3, 2, 1 }, { -1, -1, -1 }, 0 },
		{ "free of charge", ORCHESTRATE_COST, { 1, 2, 3 }, { 1, 1, 0 }, 2 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;

		unit_row(rows[i].name);
		begin(&w);
		w.opt.mode = rows[i].mode;
		for (size_t k = 0; k < 3; k++) {
			signal_from(&w, k, rows[i].numbers[k]);
			w.replicas[k].cost = rows[i].costs[k];
		}
		expect_grant(&w, rows[i].chosen);
	}
}

static void no_candidates(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	signal_all(&w);
	w.replicas[0].answer = REPLICA_DOES_NOT_FIT; /* the signal is stale */
	w.replicas[1].other_gate = true;
	expect_grant(&w, 2);
	w.replicas[2].has_gate = false;
	expect_wait(&w, CLOCK_NEVER);
	w.replicas[1].other_gate = false;
	expect_grant(&w, 1);
	w.replicas[1].busy = true;
	expect_wait(&w, CLOCK_NEVER);
}

/* A gate that is opened where nothing can be preempted is open for a probe, and then closed. */
static void the_busy_one_is_the_only_one_that_can_preempt(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	signal_all(&w);
	w.opt.mode = ORCHESTRATE_COST;
	w.replicas[0].cost = REPLICA_COST_CANNOT;
	w.replicas[1].cost = 7;
	w.replicas[2].cost = REPLICA_COST_CANNOT;
	w.replicas[1].busy = true;
	expect_wait(&w, CLOCK_NEVER);
	w.replicas[2].cost = REPLICA_COST_UNKNOWN;
	expect_grant(&w, 2);
	w.replicas[2].cost = REPLICA_COST_CANNOT;
	w.replicas[1].busy = false;
	expect_grant(&w, 1);
	w.replicas[1].busy = true;
	w.opt.mode = ORCHESTRATE_ORDER;
	expect_grant(&w, 0);
	w.opt.mode = ORCHESTRATE_COST;
	w.replicas[1].cost = REPLICA_COST_CANNOT;
	expect_grant(&w, 0);
	w.replicas[1].cost = 7;
	failed(&w, 1, TOKEN_TIMEOUT);
	w.now += 3600 * S;
	expect_grant(&w, 0);
}

/* The cheapest one may fail again and again while another one has room. */
static void failures_come_last(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	signal_all(&w);
	failed(&w, 0, TOKEN_TIMEOUT);
	expect_grant(&w, 1);
	w.now += 3600 * S;
	expect_grant(&w, 1);
	failed(&w, 1, TOKEN_NO_REACTION);
	failed(&w, 2, TOKEN_EVICTED);
	failed(&w, 2, TOKEN_EVICTED);
	expect_grant(&w, 0);
	failed(&w, 0, TOKEN_TIMEOUT); /* after the second time: a minute */
	expect_wait(&w, w.now + 30 * S);
	w.now += 30 * S;
	expect_grant(&w, 1);
	failed(&w, 1, TOKEN_TIMEOUT);
	expect_wait(&w, w.now + 30 * S);
	w.now += 30 * S;
	expect_grant(&w, 0);
}

static void what_ended_well_is_no_failure(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	signal_all(&w);
	failed(&w, 0, TOKEN_ADMITTED);
	failed(&w, 0, TOKEN_NEEDLESS);
	expect_grant(&w, 0);
}

/* --- others are ahead --------------------------------------------------------------------------*/

static void quota_elsewhere(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	signal_all(&w);
	w.replicas[1].reserved = true;
	w.replicas[1].ahead_seen = w.now;
	expect_wait(&w, w.now + 1800 * S);
	w.now += 1800 * S;
	expect_grant(&w, 0);
}

/* A worker without the feature preempts whatever its gate says. */
static void room_is_made_elsewhere(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	signal_all(&w);
	w.replicas[1].answer = REPLICA_IS_PREEMPTING;
	w.replicas[1].ahead_seen = w.now;
	expect_wait(&w, w.now + 1800 * S);
}

static void a_holder_that_has_not_begun_gives_back(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	signal_all(&w);
	hold(&w, 0);
	open_gate(&w, 0);
	w.replicas[1].reserved = true;
	w.replicas[1].ahead_seen = w.now;
	expect_revoke(&w, TOKEN_NEEDLESS);
	w.replicas[0].answer = REPLICA_IS_PREEMPTING; /* too late: its victims are leaving */
	expect_wait(&w, w.now + 1800 * S);
}

static void it_runs_somewhere(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	signal_all(&w);
	w.replicas[2].admitted = w.replicas[2].reserved = true;
	expect_wait(&w, CLOCK_NEVER);
	hold(&w, 0);
	open_gate(&w, 0);
	expect_wait(&w, CLOCK_NEVER); /* the manager removes the others now */
}

/* --- the holder --------------------------------------------------------------------------------*/

static void the_gate_is_opened_after_the_grant(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	signal_all(&w);
	hold(&w, 1);
	expect_act(&w, ORCHESTRATE_OPEN, 1);
	open_gate(&w, 1);
	expect_wait(&w, w.now + 20 * S);
}

/* Hole: a worker's scheduler writes the status that it read before, and the gate is closed again. A
 * manager that goes by open gates would choose another cluster now. */
static void a_gate_that_closed_by_itself_is_opened_again(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	signal_all(&w);
	hold(&w, 1);
	w.now += 60 * S;
	expect_act(&w, ORCHESTRATE_OPEN, 1);
	w.now += 240 * S;
	expect_end(&w, TOKEN_TIMEOUT);
}

static void answers_of_an_open_gate(void **state)
{
	static const struct {
		const char *name;
		enum replica_answer answer;
		bool signals, reserved;
		int64_t after; /* seconds */
		enum token_outcome outcome;
	} rows[] = {
		{ "still asks", REPLICA_GATED, true, false, 20, TOKEN_NO_REACTION },
		{ "does not fit after all", REPLICA_DOES_NOT_FIT, true, false, 20, TOKEN_CANNOT },
		{ "is not looked at", REPLICA_NO_ANSWER, false, false, 300, TOKEN_TIMEOUT },
		{ "victims leave", REPLICA_IS_PREEMPTING, true, false, 1200, TOKEN_TIMEOUT },
		{ "waits for its checks", REPLICA_GATED, false, true, 1800, TOKEN_TIMEOUT },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct replica *r;
		struct world w;

		unit_row(rows[i].name);
		begin(&w);
		signal_all(&w);
		hold(&w, 0);
		open_gate(&w, 0);
		r = &w.replicas[0];
		r->answer = rows[i].answer;
		r->signals = rows[i].signals;
		r->reserved = rows[i].reserved;
		r->ahead_seen = w.now;
		expect_wait(&w, w.now + rows[i].after * S);
		w.now += rows[i].after * S - 1;
		expect_wait(&w, w.now + 1);
		w.now += 1;
		expect_revoke(&w, rows[i].outcome);
	}
}

/* The cluster of the holder was made anew. The replica there is another one, which may fit now: its
 * answer is waited for, though the window of the first signal is over. */
static void the_answer_of_a_replica_made_anew_is_waited_for(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	signal_all(&w);
	w.now += 60 * S;
	failed(&w, 0, TOKEN_GONE);
	w.replicas[0].uid = NULL;
	w.replicas[0].signals = false;
	w.replicas[0].answer = REPLICA_NO_ANSWER;
	expect_wait(&w, w.now + 10 * S);
	w.replicas[0].uid = "new";
	w.now += 9 * S;
	expect_wait(&w, w.now + 1 * S);
	w.now += 1 * S;
	expect_grant(&w, 1);
}

/* A cluster that is lost again and again, and each time is back before it had to react. */
static void an_attempt_without_a_reaction_has_an_end(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	signal_all(&w);
	hold(&w, 0);
	open_gate(&w, 0);
	w.now += 299 * S;
	w.replicas[0].open_seen = w.now;
	expect_wait(&w, w.now + 1 * S);
	w.now += 1 * S;
	expect_revoke(&w, TOKEN_TIMEOUT);
}

static void what_ends_an_attempt_at_once(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	signal_all(&w);
	hold(&w, 0);
	w.replicas[0].evicted = true;
	expect_end(&w, TOKEN_EVICTED);
	w.replicas[0].evicted = false;
	w.replicas[0].refused = true;
	expect_end(&w, TOKEN_REFUSED);
	w.replicas[0].refused = false;
	w.replicas[0].uid = "another";
	expect_end(&w, TOKEN_GONE);
	w.replicas[0].uid = NULL;
	expect_end(&w, TOKEN_GONE);
	w.token.holder = "not offered any more";
	expect_end(&w, TOKEN_GONE);
	hold(&w, 0);
	w.replicas[0].uid = uids[0];
	cannot(&w, 0);
	expect_end(&w, TOKEN_CANNOT);
}

/* I10 */
static void the_victims_stand_with_the_attempt(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	signal_all(&w);
	hold(&w, 0);
	open_gate(&w, 0);
	w.replicas[0].victims = 3;
	w.replicas[1].victims = 5;
	w.replicas[0].evicted = true;
	expect_end(&w, TOKEN_EVICTED);
	assert_int_equal(w.step.token.attempts[0].victims, 3);
	w.replicas[0].reachable = false; /* as it was seen last */
	w.now += 5 * 60 * S;
	expect_end(&w, TOKEN_UNREACHABLE);
	assert_int_equal(w.step.token.attempts[0].victims, 3);
	w.replicas[0].reachable = true;
	w.replicas[0].uid = "another";
	expect_end(&w, TOKEN_GONE);
	assert_int_equal(w.step.token.attempts[0].victims, 0);
}

/* Hole: the connection to the holder is lost; a manager that goes by what it can reach opens
 * another gate at once, while the first is still preempting. */
/* A manager that has just begun has connected to nothing. Kueue opens the gate of the cluster that
 * happens to be connected first. */
static void a_new_manager_connects_first(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	signal_all(&w);
	hold(&w, 0);
	open_gate(&w, 0);
	w.replicas[0].reachable = false;
	w.now += 400 * S;
	w.connecting_until = w.now + 60 * S;
	expect_wait(&w, w.connecting_until);
	w.unwanted = true;
	expect_wait(&w, w.connecting_until);
	w.unwanted = false;
	w.token.phase = TOKEN_REVOKING;
	expect_wait(&w, w.connecting_until);
	w.now = w.connecting_until;
	w.token.phase = TOKEN_GRANTED;
	expect_end(&w, TOKEN_UNREACHABLE);
}

static void a_holder_out_of_reach_keeps_it(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	signal_all(&w);
	hold(&w, 0);
	open_gate(&w, 0);
	w.replicas[0].reachable = false;
	w.now += 299 * S;
	expect_wait(&w, w.now + 1 * S);
	w.now += 1 * S;
	expect_end(&w, TOKEN_UNREACHABLE);
	w.token = w.step.token;
	expect_grant(&w, 1);
	w.token = w.step.token;
	expect_act(&w, ORCHESTRATE_OPEN, 1);
	open_gate(&w, 1);
	w.replicas[0].reachable =
		true; /* it is back, and its gate is closed before anything else */
	expect_act(&w, ORCHESTRATE_CLOSE, 0);
}

/* Hole: gates add up, one with each timeout. */
static void the_gate_is_closed_before_the_next_one_opens(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	signal_all(&w);
	hold(&w, 0);
	open_gate(&w, 0);
	w.now += 20 * S;
	expect_revoke(&w, TOKEN_NO_REACTION);
	w.token = w.step.token;
	expect_act(&w, ORCHESTRATE_CLOSE, 0);
	w.replicas[0].is_open = false;
	expect_end(&w, TOKEN_NO_REACTION);
	w.token = w.step.token;
	expect_grant(&w, 1);
}

static void a_gate_that_is_to_be_closed_is_out_of_reach(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	signal_all(&w);
	hold(&w, 0);
	open_gate(&w, 0);
	w.token.phase = TOKEN_REVOKING;
	w.token.outcome = TOKEN_CANNOT;
	w.replicas[0].reachable = false;
	expect_wait(&w, w.now + 300 * S);
	w.now += 300 * S;
	expect_end(&w, TOKEN_CANNOT);
}

/* --- the beginning and the end -----------------------------------------------------------------*/

static void gates_that_others_opened(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	open_gate(&w, 1);
	open_gate(&w, 2);
	expect_grant(&w, 1);
	w.token = w.step.token;
	expect_act(&w, ORCHESTRATE_CLOSE, 2);
	w.unwanted = true;
	expect_act(&w, ORCHESTRATE_CLOSE, 1);
}

static void it_is_not_wanted_any_more(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	signal_all(&w);
	hold(&w, 0);
	open_gate(&w, 0);
	w.unwanted = true;
	expect_act(&w, ORCHESTRATE_CLOSE, 0);
	w.replicas[0].is_open = false;
	expect_end(&w, TOKEN_NEEDLESS);
	w.replicas[0].is_open = w.replicas[0].admitted = true;
	expect_end(&w, TOKEN_ADMITTED);
	w.token = w.step.token;
	expect_wait(&w, CLOCK_NEVER);
}

/* It may be wanted again while the first gate is still open, out of reach. */
static void it_is_not_wanted_while_the_holder_is_out_of_reach(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	signal_all(&w);
	hold(&w, 0);
	open_gate(&w, 0);
	w.replicas[0].reachable = false;
	w.unwanted = true;
	expect_wait(&w, w.now + 300 * S);
	w.now += 300 * S;
	expect_end(&w, TOKEN_NEEDLESS);
}

/* The annotation was edited by hand: the gate of a cluster that cannot be reached may be open. */
static void a_lost_token(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	signal_all(&w);
	w.token.lost_at = w.now;
	expect_grant(&w, 0);
	assert_true(w.step.token.lost_at == REPLICA_NOT_SEEN);
	w.replicas[2].reachable = false;
	w.now += 10 * S;
	expect_wait(&w, START + 300 * S);
	w.now = START + 300 * S;
	expect_grant(&w, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_asks),
		cmocka_unit_test(others_are_waited_for),
		cmocka_unit_test(each_part_of_a_replica_is_waited_for),
		cmocka_unit_test(the_window_ends),
		cmocka_unit_test(the_next_offer_is_waited_for),
		cmocka_unit_test(the_clock_is_set_back),
		cmocka_unit_test(without_a_window_the_first_gets_it),
		cmocka_unit_test(modes),
		cmocka_unit_test(no_candidates),
		cmocka_unit_test(the_busy_one_is_the_only_one_that_can_preempt),
		cmocka_unit_test(failures_come_last),
		cmocka_unit_test(what_ended_well_is_no_failure),
		cmocka_unit_test(quota_elsewhere),
		cmocka_unit_test(room_is_made_elsewhere),
		cmocka_unit_test(a_holder_that_has_not_begun_gives_back),
		cmocka_unit_test(it_runs_somewhere),
		cmocka_unit_test(the_gate_is_opened_after_the_grant),
		cmocka_unit_test(a_gate_that_closed_by_itself_is_opened_again),
		cmocka_unit_test(answers_of_an_open_gate),
		cmocka_unit_test(the_answer_of_a_replica_made_anew_is_waited_for),
		cmocka_unit_test(an_attempt_without_a_reaction_has_an_end),
		cmocka_unit_test(what_ends_an_attempt_at_once),
		cmocka_unit_test(the_victims_stand_with_the_attempt),
		cmocka_unit_test(a_new_manager_connects_first),
		cmocka_unit_test(a_holder_out_of_reach_keeps_it),
		cmocka_unit_test(the_gate_is_closed_before_the_next_one_opens),
		cmocka_unit_test(a_gate_that_is_to_be_closed_is_out_of_reach),
		cmocka_unit_test(gates_that_others_opened),
		cmocka_unit_test(it_is_not_wanted_any_more),
		cmocka_unit_test(it_is_not_wanted_while_the_holder_is_out_of_reach),
		cmocka_unit_test(a_lost_token),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
