#include "scheduler/ctl/explain/offer_text.h"

#include <inttypes.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/quote.h"
#include "base/strbuf.h"
#include "enc/json/json_out.h"
#include "scheduler/ctl/cli/columns.h"
#include "scheduler/ctl/explain/offer_explain.h"
#include "scheduler/ctl/multikueue/worker_cost.h"

static void print_time(const char *before, int64_t at, FILE *to)
{
	char text[CLOCK_RFC3339_MAX];

	clock_format_time(at, text);
	fprintf(to, "%s%s", before, text);
}

static void print_quoted(const char *before, const char *value, FILE *to)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	quote_plain(&text, str_of(value));
	fprintf(to, "%s%s", before, text.p);
}

/* Names and messages are of workers and of annotations. */
static void add_cell(struct columns *table, const char *value)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	quote_plain(&text, str_of(value));
	columns_add(table, "%s", text.p);
}

/* As in the event by which the manager reports its choice. */
static void add_cost(struct columns *table, const struct worker_cost *c)
{
	if (c == NULL) {
		columns_add(table, "-");
	} else if (c->verdict == PRICE_PREEMPTS) {
		columns_add(table, "%lld (%zu victim%s)", (long long)c->cost, c->victims,
			    c->victims == 1 ? "" : "s");
	} else if (c->verdict == PRICE_FITS) {
		columns_add(table, "0");
	} else {
		columns_add(table, "%s", c->verdict == PRICE_CANNOT ? "no victims" : "not known");
	}
}

static void print_token(const struct offer *o, FILE *to)
{
	const struct token *t = &o->token;

	fprintf(to, "%-14s", "Token:");
	if (o->token_error != NULL) {
		print_quoted("its annotation cannot be read: ", o->token_error, to);
		fprintf(to, "\n");
		return;
	}
	if (t->phase == TOKEN_FREE) {
		fprintf(to, "no worker has it\n");
		return;
	}
	print_quoted("", t->holder, to);
	print_time(" since ", t->granted_at, to);
	print_time(", until ", o->until, to);
	if (o->until_progress != 0) {
		fprintf(to, "\n%-14s", "");
		print_time("or until ", o->until_progress, to);
		fprintf(to, " while its victims are on their way out");
	}
	fprintf(to, "\n");
}

static void print_unknown_costs(const struct offer *o, FILE *to)
{
	for (size_t i = 0; i < o->workers.n; i++) {
		const struct offer_worker *w = &o->workers.v[i];

		if (w->cost != NULL && w->cost->verdict == PRICE_UNKNOWN) {
			print_quoted("The cost on ", w->cluster, to);
			print_quoted(" is not known: ",
				     w->cost->why == NULL ? "no answer" : w->cost->why, to);
			fprintf(to, "\n");
		}
	}
}

static void print_workers(const struct offer *o, FILE *to)
{
	static const char *const heads[] = { "WORKER",          "ANSWER", "COST",
					     "FAILED ATTEMPTS", "WHY",    NULL };
	CLEANUP(columns_destroyp) struct columns *table = columns_create(heads);

	for (size_t i = 0; i < o->workers.n; i++) {
		const struct offer_worker *w = &o->workers.v[i];

		add_cell(table, w->cluster);
		columns_add(table, "%s", w->answer);
		add_cost(table, w->cost);
		columns_add(table, "%zu", w->failures);
		add_cell(table, w->verdict);
	}
	if (o->workers.n > 0) {
		fprintf(to, "\n");
		columns_print(table, to);
	}
	print_unknown_costs(o, to);
}

static void print_attempts(const struct offer *o, FILE *to)
{
	static const char *const heads[] = {
		"ATTEMPT", "BEGAN", "ENDED", "RESULT", "VICTIMS", NULL
	};
	CLEANUP(columns_destroyp) struct columns *table = columns_create(heads);

	for (size_t i = 0; i < o->token.n; i++) {
		const struct token_attempt *a = &o->token.attempts[i];
		char began[CLOCK_RFC3339_MAX], ended[CLOCK_RFC3339_MAX];

		clock_format_time(a->began, began);
		clock_format_time(a->ended, ended);
		add_cell(table, a->cluster);
		columns_add(table, "%s", began);
		columns_add(table, "%s", ended);
		columns_add(table, "%s", token_outcome_name(a->outcome));
		columns_add(table, "%" PRIu32, a->victims);
	}
	if (o->token.n > 0) {
		fprintf(to, "\n");
		columns_print(table, to);
	}
}

void offer_text_print(const struct offer *o, FILE *to)
{
	if (o->arena == NULL) {
		return;
	}
	fprintf(to, "\n%-14s", "Offered to:");
	if (o->config != NULL) {
		fprintf(to, "the workers of MultiKueueConfig %s", o->config);
	} else {
		fprintf(to, "workers of a MultiKueueConfig that is not named");
	}
	fprintf(to, " (AdmissionCheck %s)\n", o->check);
	print_token(o, to);
	print_workers(o, to);
	print_attempts(o, to);
}

static void write_time(struct json_out *out, const char *key, int64_t at)
{
	char text[CLOCK_RFC3339_MAX];

	clock_format_time(at, text);
	json_out_kv(out, key, text);
}

static void write_token(const struct offer *o, struct json_out *out)
{
	static const char *const phases[] = {
		[TOKEN_FREE] = "Free", [TOKEN_GRANTED] = "Granted", [TOKEN_REVOKING] = "Revoking"
	};
	const struct token *t = &o->token;

	json_out_key(out, "token");
	json_out_object(out);
	if (o->token_error != NULL) {
		json_out_kv(out, "error", o->token_error);
	}
	json_out_kv(out, "phase", phases[t->phase]);
	json_out_kv_int(out, "granted", t->epoch);
	if (t->phase != TOKEN_FREE) {
		json_out_kv(out, "holder", t->holder);
		write_time(out, "since", t->granted_at);
		write_time(out, "until", o->until);
		if (o->until_progress != 0) {
			write_time(out, "untilWithVictims", o->until_progress);
		}
	}
	json_out_key(out, "attempts");
	json_out_array(out);
	for (size_t i = 0; i < t->n; i++) {
		json_out_object(out);
		json_out_kv(out, "worker", t->attempts[i].cluster);
		write_time(out, "began", t->attempts[i].began);
		write_time(out, "ended", t->attempts[i].ended);
		json_out_kv(out, "result", token_outcome_name(t->attempts[i].outcome));
		json_out_kv_int(out, "victims", t->attempts[i].victims);
		json_out_object_end(out);
	}
	json_out_array_end(out);
	json_out_object_end(out);
}

static void write_cost(const struct worker_cost *c, struct json_out *out)
{
	if (c == NULL) {
		return;
	}
	json_out_key(out, "cost");
	json_out_object(out);
	json_out_kv(out, "verdict", price_verdict_name(c->verdict));
	if (c->verdict == PRICE_PREEMPTS || c->verdict == PRICE_FITS) {
		json_out_kv_int(out, "podSeconds", c->cost);
		json_out_kv_int(out, "victims", (int64_t)c->victims);
	}
	json_out_kv(out, "message", c->why);
	json_out_object_end(out);
}

void offer_text_write_json(const struct offer *o, struct json_out *out)
{
	if (o->arena == NULL) {
		return;
	}
	json_out_key(out, "multiKueue");
	json_out_object(out);
	json_out_kv(out, "admissionCheck", o->check);
	json_out_kv(out, "config", o->config);
	write_token(o, out);
	json_out_key(out, "workers");
	json_out_array(out);
	for (size_t i = 0; i < o->workers.n; i++) {
		const struct offer_worker *w = &o->workers.v[i];

		json_out_object(out);
		json_out_kv(out, "name", w->cluster);
		json_out_kv(out, "answer", w->answer);
		write_cost(w->cost, out);
		json_out_kv_int(out, "failedAttempts", (int64_t)w->failures);
		json_out_kv(out, "verdict", w->verdict);
		json_out_kv(out, "message", w->message);
		json_out_object_end(out);
	}
	json_out_array_end(out);
	json_out_object_end(out);
}
