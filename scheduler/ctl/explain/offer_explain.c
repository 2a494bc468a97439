#include "scheduler/ctl/explain/offer_explain.h"

#include <string.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "scheduler/orchestrate/orchestrate.h"

/* One explanation. */
struct deciding {
	struct offer *o;
	const struct orchestrate_options *opt;
	int64_t now;
};

static const char *time_text(const struct deciding *d, int64_t at)
{
	char text[CLOCK_RFC3339_MAX];

	clock_format_time(at, text);
	return arena_dup(d->o->arena, text);
}

static bool has_worker(const struct offer *o, const char *cluster)
{
	for (size_t i = 0; i < o->workers.n; i++) {
		if (str_streq(o->workers.v[i].cluster, cluster)) {
			return true;
		}
	}
	return false;
}

static void add_worker(struct offer *o, const char *cluster)
{
	const struct offer_worker w = { .cluster = cluster,
					.message =
						o->unlisted != NULL
							? o->unlisted
							: "the MultiKueueConfig does not name it" };

	if (cluster != NULL && !has_worker(o, cluster)) {
		vec_push(&o->workers, w);
	}
}

static bool is_holder(const struct offer *o, const struct offer_worker *w)
{
	return o->token.phase != TOKEN_FREE && str_streq(o->token.holder, w->cluster);
}

static enum replica_class class_of(const struct offer_worker *w)
{
	return w->replica == NULL ? REPLICA_CLASS_COUNT_ : replica_class(w->replica);
}

/* --- the holder --------------------------------------------------------------------------------*/

static const char *state_of_holder(const struct deciding *d, const struct offer_worker *w)
{
	switch (class_of(w)) {
	case REPLICA_UNREACHABLE:
		return "it cannot be reached, and may be preempting";
	case REPLICA_PREEMPTING:
		return "its victims are on their way out";
	case REPLICA_RESERVED:
		return "it has quota, and waits for the admission checks there";
	case REPLICA_ADMITTED:
		return "it is admitted there";
	case REPLICA_CLASS_COUNT_:
		return arena_printf(d->o->arena, "not asked how far it is: %s",
				    w->message == NULL ? "no connection was made" : w->message);
	case REPLICA_UNEVALUATED:
	case REPLICA_CANNOT:
	case REPLICA_HELD_BACK:
	case REPLICA_CANDIDATE:
		break;
	}
	return w->replica->is_open ? "its gate is open, and it has not preempted yet"
				   : "its gate is still closed";
}

static const char *verdict_of_holder(const struct deciding *d, const struct offer_worker *w)
{
	const struct token *t = &d->o->token;

	if (t->phase == TOKEN_REVOKING) {
		return arena_printf(d->o->arena,
				    "gives the token back (%s): its gate is closed first",
				    token_outcome_name(t->outcome));
	}
	return arena_printf(d->o->arena, "has the token: %s", state_of_holder(d, w));
}

/* --- the others --------------------------------------------------------------------------------*/

/* Another one that has quota, or makes room without the token: no gate is opened meanwhile. */
static const struct offer_worker *find_ahead(const struct offer *o, const struct offer_worker *w)
{
	for (size_t i = 0; i < o->workers.n; i++) {
		const struct offer_worker *other = &o->workers.v[i];
		enum replica_class c = class_of(other);

		if (other != w && (c == REPLICA_ADMITTED || c == REPLICA_RESERVED ||
				   (c == REPLICA_PREEMPTING && !is_holder(o, other)))) {
			return other;
		}
	}
	return NULL;
}

static const struct offer_worker *find_missing_answer(const struct offer *o)
{
	for (size_t i = 0; i < o->workers.n; i++) {
		enum replica_class c = class_of(&o->workers.v[i]);

		if (c == REPLICA_UNEVALUATED || c == REPLICA_UNREACHABLE) {
			return &o->workers.v[i];
		}
	}
	return NULL;
}

/* When the pause after its failures is over; 0: it is. */
static int64_t pause_end(const struct deciding *d, const struct offer_worker *w)
{
	int64_t last, end;
	size_t n = token_failures(&d->o->token, w->cluster, &last);

	if (n == 0) {
		return 0;
	}
	n = n > ORCHESTRATE_PAUSE_DOUBLINGS ? ORCHESTRATE_PAUSE_DOUBLINGS : n;
	end = last + (d->opt->pause_ns << (n - 1));
	return end > d->now ? end : 0;
}

/* In the order in which the orchestrator looks at these reasons. */
static const char *verdict_of_candidate(const struct deciding *d, const struct offer_worker *w)
{
	struct offer *o = d->o;
	const struct offer_worker *other = find_ahead(o, w);
	int64_t end = pause_end(d, w);

	if (other != NULL) {
		return arena_printf(
			o->arena, "would preempt, and waits while %s %s", other->cluster,
			class_of(other) == REPLICA_PREEMPTING ? "makes room" : "has quota");
	}
	if (o->token.phase != TOKEN_FREE) {
		return arena_printf(o->arena, "would preempt, and waits while %s has the token",
				    o->token.holder);
	}
	if (end > 0) {
		return arena_printf(o->arena,
				    "would preempt; after its failures it pauses until %s",
				    time_text(d, end));
	}
	other = find_missing_answer(o);
	if (other != NULL) {
		return arena_printf(
			o->arena, "would preempt; up to %lld s are given to %s for its answer",
			(long long)(d->opt->window_ns / CLOCK_NS_PER_S), other->cluster);
	}
	return "would preempt, and may be chosen next";
}

static const char *verdict_of_other(const struct deciding *d, const struct offer_worker *w)
{
	switch (class_of(w)) {
	case REPLICA_CLASS_COUNT_:
		return arena_printf(d->o->arena, "not asked: %s",
				    w->message == NULL ? "no connection was made" : w->message);
	case REPLICA_UNREACHABLE:
		return arena_printf(d->o->arena, "cannot be reached: %s",
				    w->message == NULL ? "" : w->message);
	case REPLICA_UNEVALUATED:
		return w->replica->uid == NULL ? "it has no replica yet"
					       : "its scheduler has not looked at the replica yet";
	case REPLICA_CANNOT:
		return w->message == NULL
			       ? "does not fit there, with preemption or without"
			       : arena_printf(d->o->arena, "does not fit there: %s", w->message);
	case REPLICA_HELD_BACK:
		return w->other_gate != NULL
			       ? arena_printf(d->o->arena,
					      "another preemption gate of the replica is closed: "
					      "%s",
					      w->other_gate)
			       : "the replica has no gate that the manager may open";
	case REPLICA_PREEMPTING:
		return "makes room without the token: no other one may preempt meanwhile";
	case REPLICA_RESERVED:
		return "has quota, and waits for the admission checks there";
	case REPLICA_ADMITTED:
		return "is admitted there";
	case REPLICA_CANDIDATE:
		break;
	}
	return verdict_of_candidate(d, w);
}

/* --- all of it ---------------------------------------------------------------------------------*/

static void read_token(struct deciding *d, struct str text)
{
	struct offer *o = d->o;
	struct err err = ERR_INIT;

	if (token_parse(text, d->now, o->arena, &o->token, &err) < 0) {
		o->token_error = arena_dup(o->arena, err.text);
	}
	for (size_t i = 0; i < o->token.n; i++) {
		add_worker(o, o->token.attempts[i].cluster);
	}
	if (o->token.phase != TOKEN_FREE) {
		add_worker(o, o->token.holder);
	}
}

static void find_until(struct deciding *d)
{
	struct offer *o = d->o;

	if (o->token.phase == TOKEN_FREE) {
		return;
	}
	o->until = o->token.granted_at + d->opt->timeout_ns;
	o->until_progress = o->token.granted_at + d->opt->progress_ns;
	for (size_t i = 0; i < o->workers.n; i++) {
		const struct offer_worker *w = &o->workers.v[i];

		if (!is_holder(o, w) || w->replica == NULL) {
			continue;
		}
		if (class_of(w) == REPLICA_PREEMPTING) {
			o->until = o->until_progress;
		}
		o->until_progress = 0;
	}
}

void offer_explain(struct offer *o, struct str token, const struct orchestrate_options *opt,
		   int64_t now)
{
	struct deciding d = { o, opt, now };
	int64_t last;

	read_token(&d, token);
	find_until(&d);
	for (size_t i = 0; i < o->workers.n; i++) {
		struct offer_worker *w = &o->workers.v[i];

		w->failures = token_failures(&o->token, w->cluster, &last);
		w->answer = w->replica == NULL ? "NotAsked" : replica_class_name(class_of(w));
		w->verdict = is_holder(o, w) ? verdict_of_holder(&d, w) : verdict_of_other(&d, w);
	}
}

void offer_explain_finish(struct offer *o)
{
	vec_finish(&o->workers);
	arena_destroy(o->arena);
	o->arena = NULL;
}
