#include "unit/scheduler/workloads/status/workload_reconcile_fixture.h"

#include "lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"

#define NOW (INT64_C(1700000000) * 1000000000)
#define S INT64_C(1000000000)
#define WORDS_MAX 8

struct run {
	struct arena *arena;
	struct workload_status status, written;
	struct workload_reconcile_state s;
	struct workload_reconcile_in in;
	struct quota_times times;
};

/* The part of a word up to one of the stops; what follows stays in *word with its stop. */
static const char *part(struct arena *a, const char **word, const char *stops)
{
	size_t n = strcspn(*word, stops);
	const char *text = arena_dup_n(a, *word, n);

	*word += n;
	return text;
}

static int64_t seconds(struct arena *a, const char **word, const char *stops)
{
	int64_t n = 0;

	(*word)++;
	assert_true(str_to_i64(str_of(part(a, word, stops)), &n));
	return n;
}

static struct condition parse_condition(struct arena *a, const char *word)
{
	struct condition c = { .at = NOW - S, .message = "" };

	c.type = part(a, &word, "=");
	word++;
	c.status = part(a, &word, "/");
	word++;
	c.reason = part(a, &word, "@!");
	if (*word == '@') {
		c.at = NOW + seconds(a, &word, "!") * S;
	}
	if (*word == '!') {
		char *message = arena_dup(a, word + 1);

		for (char *p = message; *p != '\0'; p++) {
			*p = *p == '~' ? ' ' : *p;
		}
		c.message = message;
	}
	return c;
}

static struct workload_status_check parse_check(struct arena *a, const char *word)
{
	static const char *const names[] = { "Pending", "Ready", "Retry", "Rejected" };
	struct workload_status_check k = { .at = NOW - S, .message = "" };
	const char *state;

	k.name = part(a, &word, ":");
	word++;
	state = part(a, &word, "@");
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		unit_row_number(i);
		if (str_streq(names[i], state)) {
			k.state = (enum quota_check_state)i;
		}
	}
	assert_string_equal(state, names[k.state]);
	if (*word == '@') {
		k.at = NOW + seconds(a, &word, "+") * S;
		k.requeue_after = (int32_t)seconds(a, &word, "");
	}
	return k;
}

static size_t words(struct arena *a, const char *text, const char *out[WORDS_MAX])
{
	struct str rest = str_of(text == NULL ? "" : text);
	size_t n = 0;

	while (rest.p != NULL) {
		struct str word = str_next(&rest, ' ');

		if (word.len > 0) {
			assert_true(n < WORDS_MAX);
			out[n++] = arena_dup_n(a, word.p, word.len);
		}
	}
	return n;
}

static void fill_status(struct run *r, const struct workload_life_row *row)
{
	const char *w[WORDS_MAX];
	size_t n = words(r->arena, row->before, w);

	r->status.arena = r->arena;
	r->status.generation = 2;
	for (size_t i = 0; i < n; i++) {
		vec_push(&r->status.conditions, parse_condition(r->arena, w[i]));
	}
	n = words(r->arena, row->checks, w);
	for (size_t i = 0; i < n; i++) {
		vec_push(&r->status.checks, parse_check(r->arena, w[i]));
	}
	n = words(r->arena, row->checks_written, w);
	for (size_t i = 0; i < n; i++) {
		vec_push(&r->written.checks, parse_check(r->arena, w[i]));
	}
	n = words(r->arena, row->gate_states, w);
	for (size_t i = 0; i < n; i++) {
		const char *at = w[i], *name = part(r->arena, &at, ":");

		vec_push(&r->status.gates, ((struct workload_status_gate){
						   .name = name,
						   .open = strstr(at, ":open") != NULL,
						   .disagrees = strstr(at, ":disagrees") != NULL,
						   .fields = strstr(at, ":bare") == NULL,
						   .at = NOW - S }));
	}
	r->status.has_admission =
		workload_status_is_true(&r->status, "QuotaReserved") && !row->no_admission;
	r->s = (struct workload_reconcile_state){ .status = &r->status,
						  .requeues = row->requeues,
						  .requeue_at = row->requeue_at == 0
									? MODEL_TIME_NONE
									: NOW + row->requeue_at * S,
						  .ran = row->ran };
}

static void fill_in(struct run *r, const struct workload_life_row *row)
{
	const char **wants = arena_zero(r->arena, WORDS_MAX, sizeof(*wants));
	const char **gates = arena_zero(r->arena, WORDS_MAX + 1, sizeof(*gates));
	bool default_job = row->job == WORKLOAD_RECONCILE_NO_JOB && !row->orphan;

	(void)words(r->arena, row->gates, gates);
	r->in = (struct workload_reconcile_in){
		.namespace_ = "ns",
		.name = "w",
		.uid = "u",
		.active = !row->inactive,
		.deleted = row->deleted,
		.has_finalizer = true,
		.has_owner = !row->orphan,
		.had_owner = !row->orphan || row->had_owner,
		.max_execution = row->max_execution,
		.gated_by = row->gated_by,
		.invalid = row->invalid,
		.written = row->checks_written == NULL ? NULL : &r->written,
		.gates = gates,
		.gate_fields = !row->gates_off,
		.local = { .name = row->queueless ? NULL : "lq",
			   .exists = !row->local_missing && !row->queueless,
			   .terminating = row->local_terminating,
			   .stop = row->local_stop },
		.cluster = { .name = "cq",
			     .exists = !row->cluster_missing,
			     .terminating = row->cluster_terminating,
			     .inactive = row->cluster_inactive,
			     .refuses_namespace = row->cluster_refuses,
			     .stop = row->cluster_stop },
		.checks = wants,
		.nchecks = words(r->arena, row->wants, wants),
		.checks_known = !row->checks_unknown,
		.job = default_job ? WORKLOAD_RECONCILE_JOB_RUNS : row->job,
	};
	r->times = (struct quota_times){
		.wait_pods_ready = row->ready > 0,
		.ready_ns = row->ready * S,
		.recovery_ns = row->recovery * S,
		.backoff_base_ns = 10 * S,
		.backoff_max_ns = 7200 * S,
		.backoff_limit = row->limit == 0 ? -1 : row->limit,
		.keep_finished_ns = row->keep_finished == 0 ? -1 : row->keep_finished * S,
		.keep_deactivated_ns = row->keep_deactivated == 0 ? -1 : row->keep_deactivated * S,
		.explicit_status = row->explicit_status,
	};
}

static void expect_conditions(struct run *r, const struct workload_life_row *row)
{
	const char *w[WORDS_MAX];
	size_t n = words(r->arena, row->after, w);

	for (size_t i = 0; i < n; i++) {
		struct condition want = parse_condition(r->arena, w[i]);
		const struct condition *have = workload_status_condition(&r->status, want.type);

		assert_non_null(have);
		assert_string_equal(have->status, want.status);
		assert_string_equal(have->reason, want.reason);
		if (strchr(w[i], '@') != NULL) {
			assert_int_equal(have->at, want.at);
		}
		if (strchr(w[i], '!') != NULL) {
			assert_string_equal(have->message, want.message);
		}
	}
	assert_int_equal(r->status.conditions.n, n);
}

static void expect_text(struct strbuf *have, const char *want)
{
	assert_string_equal(have->p, want == NULL ? "" : want);
	strbuf_reset(have);
}

static void expect_lists(const struct run *r, const struct workload_life_row *row,
			 const struct workload_reconcile_out *out)
{
	static const char *const names[] = { "Pending", "Ready", "Retry", "Rejected" };
	struct strbuf b = STRBUF_INIT;

	for (size_t i = 0; i < r->status.checks.n; i++) {
		strbuf_printf(&b, "%s%s:%s", i > 0 ? " " : "", r->status.checks.v[i].name,
			      names[r->status.checks.v[i].state]);
	}
	expect_text(&b, row->checks_after);
	for (size_t i = 0; i < r->status.gates.n; i++) {
		strbuf_printf(&b, "%s%s:%s%s", i > 0 ? " " : "", r->status.gates.v[i].name,
			      r->status.gates.v[i].open ? "open" : "closed",
			      r->status.gates.v[i].disagrees ? ":disagrees" : "");
	}
	expect_text(&b, row->gate_states_after);
	for (size_t i = 0; i < r->status.evictions.n; i++) {
		const struct workload_status_eviction *e = &r->status.evictions.v[i];

		strbuf_printf(&b, "%s%s%s%s:%d", i > 0 ? " " : "",
			      str_has_prefix(str_of(e->reason), "Deactivated") ? "Deactivated"
									       : e->reason,
			      e->cause[0] == '\0' ? "" : "/", e->cause, e->count);
	}
	expect_text(&b, row->evictions);
	for (size_t i = 0; i < out->events.n; i++) {
		strbuf_printf(&b, "%s%s", i > 0 ? " " : "", out->events.v[i].reason);
	}
	expect_text(&b, row->events);
	strbuf_finish(&b);
}

static void expect_time(int64_t have, int64_t none, int64_t want)
{
	if (want == 0) {
		assert_true(have == none);
		return;
	}
	assert_true(have != none);
	assert_true(have >= NOW + want * S && have < NOW + (want + 1) * S); /* the jitter */
}

static void check(const struct workload_life_row *row)
{
	struct run r = { .arena = arena_create(0) };
	struct workload_reconcile_out out;

	unit_row(row->name);
	fill_status(&r, row);
	fill_in(&r, row);
	workload_reconcile(&r.in, &r.times, &r.s, NOW, &out);
	expect_conditions(&r, row);
	expect_lists(&r, row, &out);
	if (row->gate_states != NULL) {
		assert_int_equal(out.changed, !row->unchanged);
	}
	assert_int_equal(out.deactivate, row->deactivate);
	assert_int_equal(out.remove, row->removed);
	assert_int_equal(out.remove_owner, row->owner_removed);
	assert_int_equal(out.released, row->released);
	assert_int_equal(out.remove_finalizer, row->finalizer_goes);
	assert_int_equal(r.s.requeues, row->requeues_after);
	assert_int_equal(r.s.ran, row->ran_after);
	expect_time(r.s.requeue_at, MODEL_TIME_NONE, row->requeue_at_after);
	expect_time(out.next, WORKLOAD_RECONCILE_NEVER, row->next);
	assert_int_equal(r.status.has_admission,
			 workload_status_is_true(&r.status, "QuotaReserved"));
	workload_reconcile_finish(&out);
	workload_reconcile(&r.in, &r.times, &r.s, NOW, &out);
	assert_false(out.changed);
	assert_int_equal(out.events.n, 0);
	workload_reconcile_finish(&out);
	workload_status_finish(&r.status);
	workload_status_finish(&r.written);
	arena_destroy(r.arena);
}

void workload_reconcile_fixture_check(const struct workload_life_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		check(&rows[i]);
	}
}
