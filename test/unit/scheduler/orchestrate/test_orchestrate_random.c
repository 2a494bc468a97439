/* Random fleets: workers that preempt, signal, evict, forget and revert; connections that break;
 * answers that are lost; managers that restart at any write, on a machine with another clock. After
 * each thing that the manager does, what orchestrate.h promises is checked against the truth on the
 * workers. In the end everything works again, one cluster has room for the taking, and the Workload
 * has to run. */
#include "scheduler/orchestrate/orchestrate.h"

#include "lib/unit.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/rng.h"
#include "base/strbuf.h"
#include "lib/seeds.h"

#define FLEETS 3000
#define STEPS 250
#define WORKERS_MAX 5
#define S CLOCK_NS_PER_S
#define START (INT64_C(1800000000) * S)
#define NEVER INT64_MAX

struct worker {
	/* The state there. */
	char name[16], uid[32];
	unsigned replicas; /* that it has had */
	bool exists, open, foreign_gate, signals, reserved, admitted, preempting;
	bool knows_gates, has_room, has_victims, checks_hang, refuses, connected, is_slow;
	enum replica_answer answer;
	unsigned evictions; /* of the replica */
	int64_t looks_at, freed_at, admitted_at, reverts_at;
	/* The part of it that the manager has seen. */
	struct replica seen;
	unsigned evictions_at_grant;
};

struct fleet {
	struct rng rng;
	uint64_t seed;
	struct orchestrate_options opt;
	struct worker v[WORKERS_MAX];
	size_t n;
	int64_t now, clock; /* of the world; what the manager's clock is ahead by */
	struct strbuf token;
	uint64_t signals; /* seen so far */
	bool calm;        /* nothing fails any more */
	bool wanted;
	unsigned grants, opened, closed, ended[TOKEN_OUTCOME_COUNT_];
	int64_t wake_at;
};

static bool chance(struct fleet *f, unsigned percent)
{
	return rng_below(&f->rng, 100) < percent;
}

static bool fails(struct fleet *f, unsigned percent)
{
	return !f->calm && chance(f, percent);
}

static int64_t seconds(struct fleet *f, unsigned most)
{
	return (int64_t)rng_below(&f->rng, most + 1) * S;
}

#define CHECK(f, cond, ...)                                                                        \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			print_message("seed %u: ", (unsigned)(f)->seed);                           \
			print_message(__VA_ARGS__);                                                \
			fail();                                                                    \
		}                                                                                  \
	} while (false)

/* --- workers -----------------------------------------------------------------------------------*/

static void create_replica(struct fleet *f, struct worker *w)
{
	w->exists = true;
	w->open = w->signals = w->reserved = w->admitted = w->preempting = false;
	w->answer = REPLICA_NO_ANSWER;
	w->looks_at = f->now + seconds(f, 15);
	w->reverts_at = NEVER;
	snprintf(w->uid, sizeof(w->uid), "%s-%u", w->name, ++w->replicas);
}

static void reserve(struct fleet *f, struct worker *w)
{
	w->reserved = true;
	w->preempting = w->signals = false;
	w->admitted_at = w->checks_hang ? NEVER : f->now + seconds(f, 60);
}

/* One cycle of the worker's scheduler looks at the replica. */
static void look(struct fleet *f, struct worker *w)
{
	w->looks_at = f->now + S + seconds(f, w->is_slow ? 120 : 10);
	if (!w->exists || w->reserved) {
		return;
	}
	if (w->has_room || (w->preempting && f->now >= w->freed_at)) {
		reserve(f, w);
	} else if (w->preempting) {
		w->answer = REPLICA_IS_PREEMPTING;
	} else if (!w->has_victims) {
		w->answer = REPLICA_DOES_NOT_FIT; /* the signal stays as it was */
	} else if (w->knows_gates && (!w->open || w->foreign_gate)) {
		w->answer = REPLICA_GATED;
		w->signals = true;
	} else {
		w->preempting = true;
		w->answer = REPLICA_IS_PREEMPTING;
		w->freed_at = f->now + seconds(f, f->calm ? 60 : 1500);
	}
}

static void evict_replica(struct fleet *f, struct worker *w)
{
	w->evictions++;
	w->open = w->signals = w->reserved = w->admitted = w->preempting = false;
	w->answer = REPLICA_NO_ANSWER;
	w->reverts_at = NEVER;
	w->looks_at = f->now + seconds(f, 10);
}

static void disturb(struct fleet *f, struct worker *w)
{
	switch (rng_below(&f->rng, 10)) {
	case 0:
		w->connected = !w->connected;
		break;
	case 1:
		w->has_room = chance(f, 10);
		break;
	case 2:
		w->has_victims = chance(f, 80);
		break;
	case 3:
		w->refuses = chance(f, 20);
		break;
	case 4:
		w->foreign_gate = chance(f, 10);
		break;
	case 5:
		evict_replica(f, w);
		break;
	case 6:
		w->exists = false;
		break;
	case 7:
		w->is_slow = chance(f, 20);
		break;
	case 8:
		w->checks_hang = chance(f, 30);
		break;
	default:
		w->knows_gates = chance(f, 95);
		break;
	}
}

static void live(struct fleet *f, struct worker *w)
{
	if (w->reverts_at <= f->now) { /* the worker's scheduler writes what it read before */
		w->open = w->open && w->preempting;
		w->reverts_at = NEVER;
	}
	if (w->looks_at <= f->now) {
		look(f, w);
	}
	if (w->reserved && w->admitted_at <= f->now) {
		w->admitted = true;
	}
}

/* --- the manager sees      ---------------------------------------------------------------------*/

static int64_t manager_now(const struct fleet *f)
{
	return f->now + f->clock;
}

static void since(const struct fleet *f, bool is, int64_t *seen)
{
	*seen = !is ? REPLICA_NOT_SEEN : *seen == REPLICA_NOT_SEEN ? manager_now(f) : *seen;
}

static void observe(struct fleet *f, struct worker *w)
{
	struct replica *r = &w->seen;
	bool new_replica = w->exists && !str_streq(r->uid, w->uid);

	r->reachable = w->connected;
	if (!w->connected) {
		r->open_seen = REPLICA_NOT_SEEN;
		return;
	}
	if (!w->exists || new_replica) {
		r->signal_seen = r->open_seen = r->ahead_seen = REPLICA_NOT_SEEN;
		r->refused = false;
	}
	r->uid = w->exists ? w->uid : NULL;
	r->has_gate = true;
	r->is_open = w->exists && w->open;
	r->other_gate = w->foreign_gate;
	r->signals = w->exists && w->signals;
	r->evicted = w->evictions > w->evictions_at_grant;
	r->reserved = w->exists && w->reserved;
	r->admitted = w->exists && w->admitted;
	r->answer = w->answer;
	if (r->signals && r->signal_seen == REPLICA_NOT_SEEN) {
		r->signal_number = ++f->signals;
	}
	since(f, r->signals, &r->signal_seen);
	since(f, r->is_open, &r->open_seen);
	since(f, r->reserved || (w->exists && w->preempting), &r->ahead_seen);
}

static void observe_all(struct fleet *f)
{
	for (size_t i = 0; i < f->n; i++) {
		observe(f, &f->v[i]);
	}
}

/* A new process, maybe on another machine, has the annotation and what it reads from the workers.
 */
static void restart(struct fleet *f)
{
	f->clock = chance(f, 50) ? f->clock : seconds(f, 7200) - 3600 * S;
	f->signals = 0;
	for (size_t i = 0; i < f->n; i++) {
		struct worker *w = &f->v[i];

		w->seen = (struct replica){ .cluster = w->name,
					    .signal_seen = REPLICA_NOT_SEEN,
					    .open_seen = REPLICA_NOT_SEEN,
					    .ahead_seen = REPLICA_NOT_SEEN,
					    .cost = REPLICA_COST_UNKNOWN };
		w->evictions_at_grant = w->evictions;
	}
	observe_all(f);
}

/* --- the promises     --------------------------------------------------------------------------*/

static bool was_given_up(const struct token *t, const char *cluster)
{
	for (size_t i = 0; i < t->n; i++) {
		if (strcmp(t->attempts[i].cluster, cluster) == 0) {
			return true;
		}
	}
	return false;
}

static void check_open(struct fleet *f, const struct token *t, size_t to)
{
	CHECK(f, t->phase == TOKEN_GRANTED && strcmp(t->holder, f->v[to].name) == 0,
	      "I4: the gate of %s is opened without a grant\n", f->v[to].name);
	CHECK(f, str_streq(t->uid, f->v[to].uid),
	      "I4: the gate of %s is opened, and the grant is of a replica before it\n",
	      f->v[to].name);
	for (size_t i = 0; i < f->n; i++) {
		const struct worker *w = &f->v[i];
		enum replica_class c = replica_class(&w->seen);

		if (i == to || !w->exists) {
			continue;
		}
		CHECK(f, !w->open || !w->connected || w->admitted,
		      "I1: the gate of %s is opened beside that of %s\n", f->v[to].name, w->name);
		CHECK(f, !w->open || w->connected || was_given_up(t, w->name),
		      "I1: the gate of %s is opened, and that of %s was not given up\n",
		      f->v[to].name, w->name);
		CHECK(f,
		      c != REPLICA_ADMITTED &&
			      ((c != REPLICA_RESERVED && c != REPLICA_PREEMPTING) ||
			       manager_now(f) - w->seen.ahead_seen >= f->opt.ahead_ns),
		      "I2: the gate of %s is opened, while %s is %s\n", f->v[to].name, w->name,
		      replica_class_name(c));
	}
}

static void check_grant(struct fleet *f, const struct token *t)
{
	int64_t first = INT64_MAX;
	bool waits = false;

	for (size_t i = 0; i < f->n; i++) {
		const struct replica *r = &f->v[i].seen;
		enum replica_class c = replica_class(r);

		if (r->reachable && r->is_open && strcmp(r->cluster, t->holder) == 0) {
			return; /* taken over as it was found */
		}
		waits |= c == REPLICA_UNEVALUATED || c == REPLICA_UNREACHABLE;
		if (c == REPLICA_CANDIDATE && r->signal_seen < first) {
			first = r->signal_seen;
		}
	}
	CHECK(f, !waits || manager_now(f) - first >= f->opt.window_ns,
	      "I3: %s gets the token before all have answered\n", t->holder);
}

/* The token is free again. Was the gate of its holder left open, out of reach, its time must be
 * over. */
static void check_end(struct fleet *f, const struct token_attempt *a)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct worker *w = &f->v[i];

		if (strcmp(w->name, a->cluster) == 0 && w->exists && w->open && !w->admitted) {
			CHECK(f, manager_now(f) - a->began >= f->opt.timeout_ns,
			      "I1: %s loses the token while it may preempt (%s)\n", w->name,
			      token_outcome_name(a->outcome));
		}
	}
}

/* After the manager has done all that it wanted to. */
static void check_rest(struct fleet *f, const struct token *t)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct worker *w = &f->v[i];

		CHECK(f,
		      !w->exists || !w->open || !w->connected || w->admitted ||
			      (t->phase == TOKEN_GRANTED && strcmp(t->holder, w->name) == 0),
		      "I1: the gate of %s stays open\n", w->name);
	}
}

/* --- the manager -------------------------------------------------------------------------------*/

static void write_token(struct fleet *f, const struct token *t)
{
	if (t->phase == TOKEN_FREE && t->n > 0) {
		f->ended[t->attempts[t->n - 1].outcome]++;
		check_end(f, &t->attempts[t->n - 1]);
	}
	if (t->phase == TOKEN_GRANTED) {
		f->grants++;
		check_grant(f, t);
		for (size_t i = 0; i < f->n; i++) {
			f->v[i].evictions_at_grant = f->v[i].evictions;
			f->v[i].seen.refused = f->v[i].seen.evicted = false;
		}
	}
	strbuf_reset(&f->token);
	token_format(t, &f->token);
}

static void write_gate(struct fleet *f, struct worker *w, bool open)
{
	if (!w->connected || !w->exists || fails(f, 10)) {
		return; /* lost on the way */
	}
	if (open && w->refuses) {
		w->seen.refused = true;
		return;
	}
	w->open = open;
	f->opened += open;
	f->closed += !open;
	if (open) {
		w->looks_at = w->is_slow ? w->looks_at : f->now + seconds(f, 5);
		w->reverts_at = fails(f, 10) ? f->now + seconds(f, 3) : NEVER;
	}
}

/* Does one thing; false: there is nothing to do. */
static bool act(struct fleet *f)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct replica replicas[WORKERS_MAX];
	struct err err = ERR_INIT;
	struct orchestrate_step step;
	struct token token;

	assert_int_equal(token_parse(strbuf_str(&f->token), manager_now(f), arena, &token, &err),
			 0);
	for (size_t i = 0; i < f->n; i++) {
		replicas[i] = f->v[i].seen;
	}
	orchestrate_next(&f->opt,
			 &(struct orchestrate_view){ .token = &token,
						     .replicas = replicas,
						     .n = f->n,
						     .wanted = f->wanted,
						     .now = manager_now(f) },
			 &step);
	f->wake_at = step.at == CLOCK_NEVER ? NEVER : step.at - f->clock;
	switch (step.act) {
	case ORCHESTRATE_WAIT:
		check_rest(f, &token);
		return false;
	case ORCHESTRATE_RECORD:
		if (!fails(f, 10)) { /* else another writer was faster */
			write_token(f, &step.token);
		}
		break;
	case ORCHESTRATE_OPEN:
		check_open(f, &token, step.replica);
		write_gate(f, &f->v[step.replica], true);
		break;
	case ORCHESTRATE_CLOSE:
		write_gate(f, &f->v[step.replica], false);
		break;
	}
	if (fails(f, 5)) {
		restart(f);
	}
	observe_all(f);
	return true;
}

static void manage(struct fleet *f)
{
	observe_all(f);
	for (int i = 0; act(f); i++) {
		if (i >= 20) { /* a gate that cannot be written is tried again later */
			CHECK(f, !f->calm, "the manager does not come to rest\n");
			f->wake_at = f->now + S;
			return;
		}
	}
}

/* --- a run -------------------------------------------------------------------------------------*/

static void begin(struct fleet *f, uint64_t seed)
{
	*f = (struct fleet){ .seed = seed, .now = START, .wanted = true, .wake_at = NEVER };
	rng_init(&f->rng, seed);
	orchestrate_defaults(&f->opt);
	f->opt.mode = (enum orchestrate_mode)rng_below(&f->rng, 3);
	f->opt.window_ns = chance(f, 30) ? 0 : f->opt.window_ns;
	f->n = 1 + rng_below(&f->rng, WORKERS_MAX);
	for (size_t i = 0; i < f->n; i++) {
		struct worker *w = &f->v[i];

		snprintf(w->name, sizeof(w->name), "w%zu", i);
		w->connected = chance(f, 90);
		w->knows_gates = chance(f, 95);
		w->has_victims = chance(f, 80);
		w->admitted_at = w->reverts_at = NEVER;
		create_replica(f, w);
	}
	restart(f);
}

static void pass_time(struct fleet *f, unsigned most)
{
	int64_t next = f->now + S + seconds(f, most);

	for (size_t i = 0; i < f->n; i++) {
		next = f->v[i].looks_at < next ? f->v[i].looks_at : next;
	}
	next = f->wake_at < next ? f->wake_at : next;
	f->now = next > f->now ? next : f->now + 1;
	for (size_t i = 0; i < f->n; i++) {
		live(f, &f->v[i]);
	}
}

static bool is_admitted(const struct fleet *f)
{
	for (size_t i = 0; i < f->n; i++) {
		if (f->v[i].exists && f->v[i].admitted) {
			return true;
		}
	}
	return false;
}

/* Everything is mended; one cluster alone can take it, by preemption. */
static void calm_down(struct fleet *f)
{
	size_t able = rng_below(&f->rng, f->n);

	f->calm = f->wanted = true;
	for (size_t i = 0; i < f->n; i++) {
		struct worker *w = &f->v[i];

		w->connected = w->knows_gates = true;
		w->has_room = w->is_slow = w->checks_hang = w->refuses = w->foreign_gate = false;
		w->has_victims = i == able;
		if (!w->exists) {
			create_replica(f, w);
		}
		if (w->preempting && i != able) {
			evict_replica(f, w);
		}
		if (w->reserved && !w->admitted) {
			w->admitted_at = f->now;
		}
	}
}

static void play(struct fleet *f, uint64_t seed)
{
	int64_t until;

	begin(f, seed);
	for (int i = 0; i < STEPS; i++) {
		if (chance(f, 15)) {
			disturb(f, &f->v[rng_below(&f->rng, f->n)]);
		}
		if (chance(f, 3)) {
			f->wanted = !f->wanted;
		}
		for (size_t k = 0; k < f->n; k++) { /* the manager offers it again */
			if (!f->v[k].exists && f->v[k].connected && chance(f, 20)) {
				create_replica(f, &f->v[k]);
			}
		}
		if (chance(f, 2)) {
			restart(f);
		}
		if (!is_admitted(f) || chance(f, 50)) {
			manage(f);
		}
		pass_time(f, 90);
	}
	calm_down(f);
	until = f->now + 12 * 3600 * S;
	while (!is_admitted(f)) {
		CHECK(f, f->now < until, "I6: it never runs: %.*s\n", (int)f->token.len,
		      f->token.p);
		manage(f);
		pass_time(f, 600);
	}
	strbuf_finish(&f->token);
}

static void promises_hold(void **state)
{
	unsigned grants = 0, opened = 0, closed = 0, ended[TOKEN_OUTCOME_COUNT_] = { 0 };
	const struct seeds seeds = seeds_of_run(FLEETS);

	(void)state;
	for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
		struct fleet f;

		play(&f, seed);
		grants += f.grants;
		opened += f.opened;
		closed += f.closed;
		for (size_t o = 0; o < ARRAY_LEN(ended); o++) {
			ended[o] += f.ended[o];
		}
	}
	print_message("%u grants, %u gates opened, %u closed\n", grants, opened, closed);
	for (size_t o = 0; o < ARRAY_LEN(ended); o++) {
		print_message("  %s: %u\n", token_outcome_name((enum token_outcome)o), ended[o]);
		assert_true(ended[o] > 0 ||
			    !seeds.usual); /* each way in which an attempt ends has been met */
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(promises_hold) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
