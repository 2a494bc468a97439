#include "scheduler/orchestrate/token.h"

#include <string.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "enc/decode.h"
#include "enc/encode.h"
#include "scheduler/orchestrate/replica.h"

static const char *const outcomes[TOKEN_OUTCOME_COUNT_] = {
	[TOKEN_ADMITTED] = "Admitted",       [TOKEN_TIMEOUT] = "Timeout",
	[TOKEN_NO_REACTION] = "NoReaction",  [TOKEN_CANNOT] = "DoesNotFit",
	[TOKEN_EVICTED] = "Evicted",         [TOKEN_GONE] = "Gone",
	[TOKEN_UNREACHABLE] = "Unreachable", [TOKEN_REFUSED] = "Refused",
	[TOKEN_NEEDLESS] = "Needless",
};

static const char *const phases[] = {
	[TOKEN_FREE] = "Free",
	[TOKEN_GRANTED] = "Granted",
	[TOKEN_REVOKING] = "Revoking",
};

struct text_attempt {
	const char *cluster, *outcome;
	int64_t began, ended, victims;
};
struct text_token {
	int64_t epoch;
	const char *phase, *holder, *uid, *outcome;
	int64_t granted_at, lost_at;
	struct FIELD_LIST(struct text_attempt) attempts;
};

static const struct field attempt_rows[] = {
	F_STR(struct text_attempt, cluster, "cluster"),
	F_MICRO_TIME(struct text_attempt, began, "began"),
	F_MICRO_TIME(struct text_attempt, ended, "ended"),
	F_STR(struct text_attempt, outcome, "outcome"),
	F_I64(struct text_attempt, victims, "victims"),
};
static const struct field_table attempt_fields = FIELD_TABLE(struct text_attempt, attempt_rows);

static const struct field token_rows[] = {
	F_I64(struct text_token, epoch, "epoch"),
	F_STR(struct text_token, phase, "phase"),
	F_STR(struct text_token, holder, "holder"),
	F_STR(struct text_token, uid, "uid"),
	F_MICRO_TIME(struct text_token, granted_at, "grantedAt"),
	F_STR(struct text_token, outcome, "outcome"),
	F_MICRO_TIME(struct text_token, lost_at, "lostAt"),
	F_LIST(struct text_token, attempts, "attempts", attempt_fields),
};
static const struct field_table token_fields = FIELD_TABLE(struct text_token, token_rows);

const char *token_outcome_name(enum token_outcome o)
{
	return outcomes[o];
}

static int choice(const char *text, const char *const *names, size_t n, const char *path,
		  unsigned *ret, struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		if (str_streq(text, names[i])) {
			*ret = (unsigned)i;
			return 0;
		}
	}
	return err_set(err, ERR_INVALID, "%s: %s", path, text == NULL ? "missing" : "unknown");
}

static int take_attempts(const struct text_token *text, struct arena *arena, struct token *ret,
			 struct err *err)
{
	struct token_attempt *v;
	unsigned outcome;

	if (text->attempts.n > TOKEN_MAX_ATTEMPTS) {
		return err_set(err, ERR_INVALID, "attempts: more than %d", TOKEN_MAX_ATTEMPTS);
	}
	v = arena_zero(arena, text->attempts.n, sizeof(*v));
	ret->attempts = v;
	for (size_t i = 0; i < text->attempts.n; i++) {
		const struct text_attempt *a = &text->attempts.v[i];
		int r = choice(a->outcome, outcomes, ARRAY_LEN(outcomes), "attempts[].outcome",
			       &outcome, err);

		if (r < 0) {
			return r;
		}
		if (a->cluster == NULL || a->began == FIELD_NO_TIME || a->ended == FIELD_NO_TIME) {
			return err_set(err, ERR_INVALID,
				       "attempts[%zu]: cluster and times are required", i);
		}
		if (a->victims != FIELD_NO_I64 && (a->victims < 0 || a->victims > UINT32_MAX)) {
			return err_set(err, ERR_INVALID, "attempts[%zu].victims: out of range", i);
		}
		v[ret->n++] = (struct token_attempt){
			a->cluster, a->began, a->ended, (enum token_outcome)outcome,
			a->victims == FIELD_NO_I64 ? 0 : (uint32_t)a->victims
		};
	}
	return 0;
}

static int take(const struct text_token *text, struct arena *arena, struct token *ret,
		struct err *err)
{
	unsigned phase, outcome = 0;
	int r = choice(text->phase, phases, ARRAY_LEN(phases), "phase", &phase, err);

	if (r >= 0 && phase == TOKEN_REVOKING) {
		r = choice(text->outcome, outcomes, ARRAY_LEN(outcomes), "outcome", &outcome, err);
	}
	if (r < 0) {
		return r;
	}
	if (text->epoch < 0) {
		return err_set(err, ERR_INVALID, "epoch: negative");
	}
	if (phase != TOKEN_FREE &&
	    (text->holder == NULL || text->uid == NULL || text->granted_at == FIELD_NO_TIME)) {
		return err_set(err, ERR_INVALID, "holder, uid and grantedAt are required");
	}
	ret->epoch = text->epoch;
	ret->lost_at = text->lost_at == FIELD_NO_TIME ? REPLICA_NOT_SEEN : text->lost_at;
	ret->phase = (enum token_phase)phase;
	if (phase != TOKEN_FREE) {
		ret->holder = text->holder;
		ret->uid = text->uid;
		ret->granted_at = text->granted_at;
		ret->outcome = (enum token_outcome)outcome;
	}
	return take_attempts(text, arena, ret, err);
}

int token_parse(struct str text, int64_t now, struct arena *arena, struct token *ret,
		struct err *err)
{
	struct text_token parsed;
	int r;

	*ret = (struct token){ .phase = TOKEN_FREE, .lost_at = REPLICA_NOT_SEEN };
	if (text.len == 0) {
		return 0;
	}
	decode_init(&token_fields, &parsed);
	if (text.len > TOKEN_MAX_BYTES) {
		r = err_set(err, ERR_INVALID, "longer than %d bytes", TOKEN_MAX_BYTES);
	} else {
		r = decode_text(&token_fields, text, &parsed, arena, err);
	}
	if (r < 0 || (r = take(&parsed, arena, ret, err)) < 0) {
		*ret = (struct token){ .phase = TOKEN_FREE, .lost_at = now };
	}
	return r;
}

void token_format(const struct token *t, struct strbuf *out)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct text_token text;

	decode_init(&token_fields, &text);
	text.epoch = t->epoch;
	text.phase = phases[t->phase];
	text.lost_at = t->lost_at == REPLICA_NOT_SEEN ? FIELD_NO_TIME : t->lost_at;
	if (t->phase != TOKEN_FREE) {
		text.holder = t->holder;
		text.uid = t->uid;
		text.granted_at = t->granted_at;
	}
	if (t->phase == TOKEN_REVOKING) {
		text.outcome = outcomes[t->outcome];
	}
	if (t->n > 0) {
		FIELD_LIST_MAKE(&text.attempts, t->n, arena);
	}
	for (size_t i = 0; i < t->n; i++) {
		const struct token_attempt *a = &t->attempts[i];

		text.attempts.v[i] =
			(struct text_attempt){ a->cluster, outcomes[a->outcome], a->began, a->ended,
					       a->victims == 0 ? FIELD_NO_I64 : a->victims };
	}
	encode_text(&token_fields, &text, out);
}

void token_end(struct token *t, enum token_outcome outcome, int64_t now, size_t clusters,
	       struct token_room *room)
{
	size_t kept = clusters < TOKEN_KEPT_ATTEMPTS  ? TOKEN_KEPT_ATTEMPTS
		      : clusters > TOKEN_MAX_ATTEMPTS ? TOKEN_MAX_ATTEMPTS
						      : clusters;
	size_t dropped = t->n < kept ? 0 : t->n + 1 - kept;

	t->n -= dropped;
	if (t->n > 0) {
		memmove(room->v, &t->attempts[dropped], t->n * sizeof(room->v[0]));
	}
	room->v[t->n++] =
		(struct token_attempt){ t->holder, t->granted_at, now, outcome, t->victims };
	t->attempts = room->v;
	t->phase = TOKEN_FREE;
	t->holder = t->uid = NULL;
	t->victims = 0;
}

size_t token_failures(const struct token *t, const char *cluster, int64_t *ret_last)
{
	size_t n = 0;

	*ret_last = REPLICA_NOT_SEEN;
	for (size_t i = 0; i < t->n; i++) {
		const struct token_attempt *a = &t->attempts[i];

		if (strcmp(a->cluster, cluster) == 0 && a->outcome != TOKEN_ADMITTED &&
		    a->outcome != TOKEN_NEEDLESS) {
			*ret_last = a->ended;
			n++;
		}
	}
	return n;
}
