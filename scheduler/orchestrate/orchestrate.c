#include "scheduler/orchestrate/orchestrate.h"

#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"

#define NONE SIZE_MAX

void orchestrate_defaults(struct orchestrate_options *ret)
{
	*ret = (struct orchestrate_options){
		.mode = ORCHESTRATE_COST,
		.window_ns = 10 * CLOCK_NS_PER_S,
		.timeout_ns = 5 * 60 * CLOCK_NS_PER_S,
		.progress_ns = 20 * 60 * CLOCK_NS_PER_S,
		.probe_ns = 20 * CLOCK_NS_PER_S,
		.ahead_ns = 30 * 60 * CLOCK_NS_PER_S,
		.pause_ns = 30 * CLOCK_NS_PER_S,
	};
}

/* One decision. Times that have passed count as 0 when the clock was set back, so that no wait
 * grows beyond its length. */
struct decision {
	const struct orchestrate_options *opt;
	const struct orchestrate_view *view;
	struct orchestrate_step *step;
};

static int64_t passed(const struct decision *d, int64_t since)
{
	return since == REPLICA_NOT_SEEN ? 0 : clock_later(d->view->now - since, 0);
}

/* True when `wait` is over; otherwise the step ends no later than then. */
static bool is_over(const struct decision *d, int64_t since, int64_t wait)
{
	int64_t left = wait - passed(d, since);

	if (left > 0) {
		d->step->at = clock_earlier(d->step->at, d->view->now + left);
	}
	return left <= 0;
}

/* The time of a grant is over for a cluster that cannot be reached. A manager that has just begun
 * cannot reach any: it gives each one the time to connect, or the first one that did would be
 * granted the token while the gate of the holder is open. */
static bool is_out_of_reach(const struct decision *d, int64_t since)
{
	if (d->view->now < d->view->connecting_until) {
		d->step->at = clock_earlier(d->step->at, d->view->connecting_until);
		return false;
	}
	return is_over(d, since, d->opt->timeout_ns);
}

static void act(const struct decision *d, enum orchestrate_act what, size_t replica)
{
	d->step->act = what;
	d->step->replica = replica;
	d->step->at = CLOCK_NEVER;
}

/* The step is to write the token; the caller changes it from what it is. */
static struct token *record(const struct decision *d)
{
	act(d, ORCHESTRATE_RECORD, NONE);
	d->step->token = *d->view->token;
	return &d->step->token;
}

/* The replica may be another one than the attempt was of. */
static uint32_t victims_of(const struct decision *d)
{
	const struct token *t = d->view->token;

	for (size_t i = 0; i < d->view->n; i++) {
		const struct replica *r = &d->view->replicas[i];

		if (strcmp(r->cluster, t->holder) == 0 && str_streq(r->uid, t->uid)) {
			return r->victims;
		}
	}
	return 0;
}

static void finish(const struct decision *d, enum token_outcome outcome)
{
	struct token *t = record(d);

	t->victims = victims_of(d);
	token_end(t, outcome, d->view->now, d->view->n, &d->step->room);
}

static void revoke(const struct decision *d, enum token_outcome outcome)
{
	struct token *t = record(d);

	t->phase = TOKEN_REVOKING;
	t->outcome = outcome;
}

static size_t find_class(const struct decision *d, enum replica_class c)
{
	for (size_t i = 0; i < d->view->n; i++) {
		if (replica_class(&d->view->replicas[i]) == c) {
			return i;
		}
	}
	return NONE;
}

static size_t find_holder(const struct decision *d)
{
	const struct token *t = d->view->token;

	for (size_t i = 0; t->phase != TOKEN_FREE && i < d->view->n; i++) {
		if (strcmp(d->view->replicas[i].cluster, t->holder) == 0) {
			return i;
		}
	}
	return NONE;
}

static bool shows_open(const struct replica *r)
{
	return r->reachable && r->uid != NULL && r->is_open && !r->admitted;
}

/* A second open gate on one cluster, by which another Workload could preempt beside the one that
 * counts, or beside a replica that runs. */
static size_t find_second(const struct decision *d)
{
	for (size_t i = 0; i < d->view->n; i++) {
		const struct replica *r = &d->view->replicas[i];

		if (r->reachable && r->uid != NULL && r->stray) {
			return i;
		}
	}
	return NONE;
}

/* A gate that may be open is only the holder's, and that of a replica that runs. */
static size_t find_stray(const struct decision *d, size_t holder)
{
	bool granted = d->view->token->phase == TOKEN_GRANTED && d->view->wanted;

	for (size_t i = 0; i < d->view->n; i++) {
		if (shows_open(&d->view->replicas[i]) && !(granted && i == holder)) {
			return i;
		}
	}
	return NONE;
}

static void give(const struct decision *d, size_t to)
{
	struct token *t = record(d);

	t->epoch++;
	t->phase = TOKEN_GRANTED;
	t->holder = d->view->replicas[to].cluster;
	t->uid = d->view->replicas[to].uid;
	t->granted_at = d->view->now;
	t->lost_at = REPLICA_NOT_SEEN;
}

/* A gate is open on a cluster that never had the token here: another manager opened it, or a hand.
 */
static bool adopt(const struct decision *d)
{
	int64_t last;

	for (size_t i = 0; i < d->view->n && d->view->token->phase == TOKEN_FREE; i++) {
		const struct replica *r = &d->view->replicas[i];

		if (shows_open(r) && token_failures(d->view->token, r->cluster, &last) == 0) {
			give(d, i);
			return true;
		}
	}
	return false;
}

/* --- the choice --------------------------------------------------------------------------------*/

static int compare_costs(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* An unknown cost counts as the median of the known ones: neither a reason to go there nor to stay
 * away. */
static int64_t median_cost(const struct decision *d)
{
	int64_t costs[ORCHESTRATE_MAX_COSTS] = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < d->view->n && n < ARRAY_LEN(costs); i++) {
		const struct replica *r = &d->view->replicas[i];

		if (replica_class(r) == REPLICA_CANDIDATE && r->cost != REPLICA_COST_UNKNOWN) {
			costs[n++] = r->cost;
		}
	}
	qsort(costs, n, sizeof(costs[0]), compare_costs);
	return n == 0 ? 0 : costs[(n - 1) / 2];
}

static int64_t cost_of(const struct replica *r, int64_t median)
{
	return r->cost == REPLICA_COST_UNKNOWN ? median : r->cost;
}

/* A cluster that has failed fewer times goes first, whatever the mode: the best one may fail again
 * and again while the second best has room. */
static bool goes_before(const struct decision *d, const struct replica *a, const struct replica *b,
			int64_t median)
{
	int64_t last;
	size_t failed_a = token_failures(d->view->token, a->cluster, &last);
	size_t failed_b = token_failures(d->view->token, b->cluster, &last);

	if (failed_a != failed_b) {
		return failed_a < failed_b;
	}
	switch (d->opt->mode) {
	case ORCHESTRATE_COMPAT:
		return a->signal_number < b->signal_number;
	case ORCHESTRATE_COST:
		return cost_of(a, median) < cost_of(b, median);
	case ORCHESTRATE_ORDER:
		break;
	}
	return false; /* a is the later one in the configured order */
}

static bool has_paused(const struct decision *d, const struct replica *r)
{
	int64_t last;
	size_t failed = token_failures(d->view->token, r->cluster, &last);
	size_t doublings =
		failed > ORCHESTRATE_PAUSE_DOUBLINGS ? ORCHESTRATE_PAUSE_DOUBLINGS : failed;

	return failed == 0 || is_over(d, last, d->opt->pause_ns << (doublings - 1));
}

static bool can_preempt(const struct decision *d, const struct replica *r)
{
	return d->opt->mode != ORCHESTRATE_COST || r->cost != REPLICA_COST_CANNOT;
}

/* While only the limit of open gates keeps a cluster from being chosen, a cluster where by its own
 * rules nothing can be preempted is not chosen in its place: its gate would be open for a probe, in
 * vain. */
static size_t choose(const struct decision *d)
{
	int64_t median = median_cost(d);
	size_t best = NONE, busy = NONE;

	for (size_t i = 0; i < d->view->n; i++) {
		const struct replica *r = &d->view->replicas[i];
		size_t *slot = r->busy ? &busy : &best;

		if (replica_class(r) == REPLICA_CANDIDATE && has_paused(d, r) &&
		    (*slot == NONE || goes_before(d, r, &d->view->replicas[*slot], median))) {
			*slot = i;
		}
	}
	if (best != NONE && busy != NONE && !can_preempt(d, &d->view->replicas[best]) &&
	    can_preempt(d, &d->view->replicas[busy]) &&
	    !goes_before(d, &d->view->replicas[best], &d->view->replicas[busy], median)) {
		return NONE;
	}
	return best;
}

/* When the window began: with the first signal, and anew when an attempt ended. A cluster where
 * that changed the replica, or that was made anew, has not answered since. */
static int64_t window_began(const struct decision *d, int64_t first)
{
	const struct token *t = d->view->token;
	int64_t ended = t->n == 0 ? first : t->attempts[t->n - 1].ended;

	return ended > d->view->now ? first
				    : clock_later(first, ended); /* the clock was set back */
}

/* All have answered, or the window is over. Where one more cluster may
 * be offered soon, the first one that answers must not be taken for the only one. */
static bool is_collected(const struct decision *d)
{
	bool waits = d->view->now < d->view->offers_until;
	bool looked_at = true;
	int64_t first = INT64_MAX;

	for (size_t i = 0; i < d->view->n; i++) {
		const struct replica *r = &d->view->replicas[i];
		enum replica_class c = replica_class(r);

		waits |= c == REPLICA_UNREACHABLE;
		looked_at &= c != REPLICA_UNEVALUATED && !(r->reachable && r->unanswered);
		if (c == REPLICA_CANDIDATE) {
			first = clock_earlier(first, r->signal_seen);
		}
	}
	waits = waits && !is_over(d, first, d->opt->window_ns);
	looked_at = looked_at || is_over(d, window_began(d, first), d->opt->window_ns);
	if (!waits && looked_at) {
		return true;
	}
	if (d->view->now < d->view->offers_until) {
		d->step->at = clock_earlier(d->step->at, d->view->offers_until);
	}
	return false;
}

/* The holder of a lost token is not known: the gate of a cluster that cannot be reached may be
 * open. */
static bool is_found_again(const struct decision *d)
{
	return d->view->token->lost_at == REPLICA_NOT_SEEN ||
	       find_class(d, REPLICA_UNREACHABLE) == NONE ||
	       is_out_of_reach(d, d->view->token->lost_at);
}

static void grant(const struct decision *d)
{
	size_t to;

	if (find_class(d, REPLICA_CANDIDATE) == NONE || !is_collected(d) || !is_found_again(d)) {
		return;
	}
	to = choose(d);
	if (to != NONE) {
		give(d, to);
	}
}

/* --- the holder --------------------------------------------------------------------------------*/

/* The time for a reaction begins again whenever its cluster is back, so that it is bounded by that
 * of the attempt. */
static void await_reaction(const struct decision *d, const struct replica *r,
			   enum token_outcome without)
{
	if (is_over(d, r->open_seen, d->opt->probe_ns)) {
		revoke(d, without);
	} else if (is_over(d, d->view->token->granted_at, d->opt->timeout_ns)) {
		revoke(d, TOKEN_TIMEOUT);
	}
}

static void follow_open(const struct decision *d, const struct replica *r)
{
	int64_t granted = d->view->token->granted_at;

	switch (replica_class(r)) {
	case REPLICA_PREEMPTING:
		if (is_over(d, granted, d->opt->progress_ns)) {
			revoke(d, TOKEN_TIMEOUT);
		}
		return;
	case REPLICA_CANDIDATE:
	case REPLICA_HELD_BACK:
		await_reaction(d, r, TOKEN_NO_REACTION);
		return;
	case REPLICA_CANNOT:
		/* A cycle may still show what was decided before the gate was open. */
		await_reaction(d, r, TOKEN_CANNOT);
		return;
	case REPLICA_UNEVALUATED:
		if (is_over(d, granted, d->opt->timeout_ns)) {
			revoke(d, TOKEN_TIMEOUT);
		}
		return;
	case REPLICA_RESERVED:
		revoke(d, TOKEN_TIMEOUT); /* its worker's checks have had their time */
		return;
	case REPLICA_UNREACHABLE:
	case REPLICA_ADMITTED:
	case REPLICA_CLASS_COUNT_:
		return; /* dealt with before */
	}
}

static void follow_holder(const struct decision *d, size_t holder)
{
	const struct token *t = d->view->token;
	const struct replica *r = holder == NONE ? NULL : &d->view->replicas[holder];

	if (r != NULL && !r->reachable) {
		/* It may be preempting at this moment, and keeps the token for as long as it would
		 * have had it. */
		if (is_out_of_reach(d, t->granted_at)) {
			finish(d, TOKEN_UNREACHABLE);
		}
	} else if (r == NULL || !str_streq(r->uid, t->uid)) {
		finish(d, TOKEN_GONE);
	} else if (r->evicted) {
		finish(d, TOKEN_EVICTED); /* its gate was closed by the same write */
	} else if (r->is_open) {
		follow_open(d, r);
	} else if (r->refused) {
		finish(d, TOKEN_REFUSED);
	} else if (replica_class(r) == REPLICA_CANNOT) {
		finish(d, TOKEN_CANNOT);
	} else if (is_over(d, t->granted_at, d->opt->timeout_ns)) {
		finish(d, TOKEN_TIMEOUT); /* never seen open, or closed by others again and again */
	} else {
		/* Not opened yet, or a worker's write brought the old position back: the same
		 * replica gets it again, never another one. */
		act(d, ORCHESTRATE_OPEN, holder);
	}
}

/* A stray has been closed before, so that the holder's gate is closed or out of reach. */
static void follow_revoked(const struct decision *d, size_t holder)
{
	const struct token *t = d->view->token;
	const struct replica *r = holder == NONE ? NULL : &d->view->replicas[holder];

	if (r == NULL || r->reachable || is_out_of_reach(d, t->granted_at)) {
		finish(d, t->outcome);
	}
}

/* --- the step ----------------------------------------------------------------------------------*/

/* A replica has quota, or (without the token: its worker knows no gates) makes room by itself: no
 * other one is to preempt. A holder that has not begun to gives the token back. */
static bool is_ahead(const struct decision *d, size_t holder)
{
	const struct token *t = d->view->token;
	bool ahead = false;

	for (size_t i = 0; i < d->view->n; i++) {
		const struct replica *r = &d->view->replicas[i];
		enum replica_class c = replica_class(r);

		if (c == REPLICA_RESERVED || (c == REPLICA_PREEMPTING && i != holder)) {
			ahead |= !is_over(d, r->ahead_seen, d->opt->ahead_ns);
		}
	}
	if (ahead && t->phase == TOKEN_GRANTED && holder != NONE &&
	    replica_class(&d->view->replicas[holder]) == REPLICA_CANDIDATE) {
		revoke(d, TOKEN_NEEDLESS);
	}
	return ahead;
}

/* The local Workload runs somewhere, or does not want to run now. A gate that can be reached has
 * been closed as a stray; one that cannot may be wanted again before its time is over. */
static void let_go(const struct decision *d, size_t holder)
{
	const struct token *t = d->view->token;
	const struct replica *r = holder == NONE ? NULL : &d->view->replicas[holder];

	if (t->phase == TOKEN_FREE) {
		return;
	}
	if (r == NULL || r->reachable || is_out_of_reach(d, t->granted_at)) {
		finish(d, r != NULL && r->admitted ? TOKEN_ADMITTED : TOKEN_NEEDLESS);
	}
}

/* 1. A second open gate on one cluster is closed. Then a gate that another manager, or a hand,
 * opened is taken for a grant; one that should not be open is closed.
 * 2. Without a wish the token is free.
 * 3. While a replica runs or is about to, no other one may preempt.
 * 4. The holder is followed until its attempt has ended.
 * 5. A free token is granted, when all have answered. */
void orchestrate_next(const struct orchestrate_options *opt, const struct orchestrate_view *view,
		      struct orchestrate_step *ret)
{
	const struct decision d = { opt, view, ret };
	size_t holder = find_holder(&d), stray = find_stray(&d, holder), second = find_second(&d);

	/* The room may have the attempts of the view's token. */
	act(&d, ORCHESTRATE_WAIT, NONE);
	if (second != NONE) {
		act(&d, ORCHESTRATE_CLOSE, second);
		return;
	}
	if (stray != NONE) {
		if (!view->wanted || !adopt(&d)) {
			act(&d, ORCHESTRATE_CLOSE, stray);
		}
		return;
	}
	if (!view->wanted) {
		let_go(&d, holder);
		return;
	}
	if (find_class(&d, REPLICA_ADMITTED) != NONE || is_ahead(&d, holder)) {
		return;
	}
	switch (view->token->phase) {
	case TOKEN_GRANTED:
		follow_holder(&d, holder);
		return;
	case TOKEN_REVOKING:
		follow_revoked(&d, holder);
		return;
	case TOKEN_FREE:
		break;
	}
	grant(&d);
}
