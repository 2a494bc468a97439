/* Events and metrics, in fleet_report.txt beside this: after each title, what the steps of one test
 * made. */
#include "scheduler/multikueue/fleet/fleet_report.h"

#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "enc/json/jdoc.h"
#include "kube/pool.h"
#include "kube/recorder.h"
#include "lib/multikueue/fleet_fixture.h"
#include "lib/net/fake_transport.h"
#include "lib/recorded.h"
#include "obs/exposition.h"
#include "obs/metric.h"
#include "scheduler/multikueue/fleet/fleet_holders.h"
#include "scheduler/multikueue/fleet/fleet_prices.h"
#include "scheduler/multikueue/fleet/fleet_view.h"
#include "scheduler/multikueue/records/fleet_workload.h"

#define KEY "ns/w"
#define S CLOCK_NS_PER_S
#define WALL FLEET_FIXTURE_WALL

static struct strbuf recorded;

struct test {
	struct clock_fake clock;
	struct fake_transport *transport;
	struct recorder *recorder;
	struct metric_registry *counters;
	struct orchestrate_options options;
	struct fleet_report *report;
	struct fleet_prices *prices; /* that know nothing */
	struct fleet_workload *w;
	struct fleet_view view;
};

static void begin(struct test *t, enum orchestrate_mode mode)
{
	struct pool_options po = { .clock = &t->clock.base,
				   .timeout_ns = S,
				   .backoff_min_ns = POOL_BACKOFF_MIN_NS,
				   .backoff_max_ns = POOL_BACKOFF_MAX_NS };

	*t = (struct test){ .recorder = NULL };
	clock_fake_init(&t->clock, WALL);
	t->transport = fake_transport_create(&t->clock);
	po.transport = fake_transport_base(t->transport);
	t->recorder = recorder_create(&po, "headgate-orchestrator", "test");
	t->counters = metric_registry_create();
	orchestrate_defaults(&t->options);
	t->options.mode = mode;
	t->report = fleet_report_create(t->counters, t->recorder, &t->options);
	t->prices = fleet_prices_create(&(struct fleet_prices_options){ .clock = &t->clock.base });
	t->w = fleet_workload_create(str_of(KEY));
}

/* Appends the events that are being sent. */
static void add_events(struct test *t)
{
	while (pool_step(recorder_pool(t->recorder)) || fake_transport_pending(t->transport) > 0) {
		CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
		uint64_t id;

		if (fake_transport_pending(t->transport) == 0) {
			continue;
		}
		id = fake_transport_expect(t->transport, "POST /api/v1/namespaces/ns/events");
		assert_int_equal(jdoc_parse(fake_transport_body(t->transport, id), &d, NULL), 0);
		strbuf_printf(&recorded, "%s %s %s/%s: %s\n", jdoc_str_or(jdoc_get(d, "type"), "-"),
			      jdoc_str_or(jdoc_get(d, "reason"), "-"),
			      jdoc_str_or(jdoc_path(d, "involvedObject.kind"), "-"),
			      jdoc_str_or(jdoc_path(d, "involvedObject.uid"), "-"),
			      jdoc_str_or(jdoc_get(d, "message"), "-"));
		fake_transport_answer(t->transport, id, 201, "{}");
	}
}

static void title(const char *text)
{
	strbuf_printf(&recorded, "-- %s\n", text);
}

/* name NULL: without the series. */
static void end(struct test *t, const char *name)
{
	add_events(t);
	if (name != NULL) {
		recorded_series(t->counters, name, &recorded);
	}
	fleet_report_destroy(t->report);
	fleet_prices_destroy(t->prices);
	recorder_destroy(t->recorder);
	fake_transport_destroy(t->transport);
	metric_registry_destroy(t->counters);
	fleet_view_finish(&t->view);
	fleet_workload_destroy(t->w);
}

/* The local object with this token is read, as by the fleet. */
static void read_token(struct test *t, const struct token *token)
{
	const struct fleet_report_before before = fleet_report_before(t->w);
	CLEANUP(strbuf_finish) struct strbuf json = STRBUF_INIT, text = STRBUF_INIT;
	struct sched_msg *m;

	token_format(token, &text);
	strbuf_add_c(&json, "{'metadata':{'name':'w','namespace':'ns','uid':'u','annotations':{'"
			    "headgate.io/preemption-token':'");
	for (const char *p = text.p; *p != '\0'; p++) {
		strbuf_printf(&json, "%s%c", *p == '"' ? "\\" : "", *p);
	}
	strbuf_add_c(&json, "'}}}");
	m = fleet_fixture_object(SCHED_WORKLOADS, KEY, 1, json.p);
	assert_int_equal(fleet_workload_set_local(t->w, m, WALL, NULL), 0);
	message_free(m);
	fleet_report_change(t->report, t->w, &before);
}

static struct token free_token(void)
{
	return (struct token){ .lost_at = REPLICA_NOT_SEEN };
}

static struct token grant(int64_t epoch, const char *cluster, int64_t at)
{
	return (struct token){ .epoch = epoch,
			       .phase = TOKEN_GRANTED,
			       .holder = cluster,
			       .uid = "x",
			       .granted_at = at,
			       .lost_at = REPLICA_NOT_SEEN };
}

static void test_grants_are_reported_once(void **state UNUSED)
{
	struct test t;
	struct token_room room;
	struct token token = free_token();

	begin(&t, ORCHESTRATE_ORDER);
	read_token(&t, &token);
	title("a grant");
	t.w->signal_at = WALL - 3 * S;
	t.w->grant_reason = xmalloc_dup("the reason");
	t.w->grant_cost = 750;
	for (int i = 0; i < 12; i++) {
		vec_push(&t.w->promised, xmalloc_printf("ns/v%d", i));
	}
	token = grant(1, "east", WALL + S);
	read_token(&t, &token);
	assert_null(t.w->grant_reason);
	assert_int_equal(t.w->signal_at, REPLICA_NOT_SEEN);
	add_events(&t);
	title("read again");
	read_token(&t, &token);
	add_events(&t);
	title("being taken back, and the end");
	token.phase = TOKEN_REVOKING;
	token.outcome = TOKEN_TIMEOUT;
	read_token(&t, &token);
	token_end(&token, TOKEN_TIMEOUT, WALL + 21 * S, 3, &room);
	read_token(&t, &token);
	read_token(&t, &token);
	add_events(&t);
	title("the next one, with the end of it, in one write");
	token = grant(2, "west", WALL + 30 * S);
	token_end(&token, TOKEN_ADMITTED, WALL + 40 * S + S / 2, 3, &room);
	token.epoch = 3;
	token.phase = TOKEN_GRANTED;
	token.holder = "north";
	token.uid = "x";
	token.granted_at = WALL + 41 * S;
	read_token(&t, &token);
	end(&t, "grants");
}

/* The owner of the Workload may have written it. */
static void test_absurd_number_of_victims(void **state UNUSED)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct test t;
	struct token_room room;
	struct token token = free_token();

	begin(&t, ORCHESTRATE_ORDER);
	read_token(&t, &token);
	token = grant(1, "east", WALL);
	token.victims = UINT32_MAX;
	token_end(&token, TOKEN_ADMITTED, WALL + S, 3, &room);
	read_token(&t, &token);
	exposition_render(t.counters, &text);
	assert_non_null(
		strstr(text.p, "headgate_preemption_victims_total{cluster=\"east\"} 10000\n"));
	assert_non_null(strstr(text.p, "headgate_preemption_grant_victims_sum 10000\n"));
	title("the number of victims is absurd");
	end(&t, NULL);
}

/* It was reported by the process before this one. */
static void test_first_reading(void **state UNUSED)
{
	struct test t;
	struct token_room room;
	struct token token = grant(1, "east", WALL);

	begin(&t, ORCHESTRATE_ORDER);
	title("the first reading");
	token_end(&token, TOKEN_TIMEOUT, WALL + 20 * S, 3, &room);
	token.epoch = 2;
	token.phase = TOKEN_GRANTED;
	token.holder = "west";
	token.uid = "x";
	read_token(&t, &token);
	add_events(&t);
	title("its end");
	token_end(&token, TOKEN_EVICTED, WALL + 30 * S, 3, &room);
	read_token(&t, &token);
	add_events(&t);
	title("deleted");
	{
		const struct fleet_report_before before = fleet_report_before(t.w);

		assert_true(before.known);
		(void)fleet_workload_set_local(t.w, NULL, WALL, NULL);
		fleet_report_change(t.report, t.w, &before);
	}
	end(&t, "first reading");
}

static void test_each_end(void **state UNUSED)
{
	struct test t;
	struct token_room room;
	struct token token = free_token();

	begin(&t, ORCHESTRATE_ORDER);
	read_token(&t, &token);
	for (unsigned i = 0; i < TOKEN_OUTCOME_COUNT_; i++) {
		unit_row(token_outcome_name((enum token_outcome)i));
		title(token_outcome_name((enum token_outcome)i));
		token.holder = "east";
		token.granted_at = WALL + 100 * i * S;
		token.victims = 3 - i % 4;
		token_end(&token, (enum token_outcome)i, WALL + (100 * i + i) * S, 3, &room);
		read_token(&t, &token);
		add_events(&t);
	}
	title("the clock was set back meanwhile");
	token.holder = "west";
	token.granted_at = WALL + 10000 * S;
	token_end(&token, TOKEN_ADMITTED, WALL + 9000 * S, 3, &room);
	read_token(&t, &token);
	add_events(&t);
	title("with its grant in one write");
	token.epoch++;
	token.holder = "up";
	token.granted_at = WALL + 9100 * S;
	token_end(&token, TOKEN_GONE, WALL + 9101 * S, 3, &room);
	read_token(&t, &token);
	add_events(&t);
	title("and once more, to before the end of the one before");
	token.holder = "north";
	token.granted_at = WALL + S;
	token_end(&token, TOKEN_TIMEOUT, WALL + 5 * S, 3, &room);
	read_token(&t, &token);
	read_token(&t, &token);
	add_events(&t);
	title("the oldest attempts are dropped");
	for (unsigned i = 0; i < TOKEN_KEPT_ATTEMPTS; i++) {
		token.holder = "south";
		token_end(&token, TOKEN_TIMEOUT, WALL + (6 + i) * S, 3, &room);
		read_token(&t, &token);
	}
	end(&t, "ends");
}

static void test_problems(void **state UNUSED)
{
	struct test t;
	struct token token = free_token();
	struct sched_msg *m = message_new(SCHED_MSG_REQUEST_DONE);
	struct fleet_replica *r;

	begin(&t, ORCHESTRATE_ORDER);
	r = fleet_workload_replica(t.w, "east");
	m->outcome = SCHED_REJECTED;
	m->request = SCHED_REQ_PREEMPTION_GATE;
	m->text = "admission webhook denied it";
	title("without a local object");
	fleet_report_token_refused(t.report, t.w, "no");
	fleet_report_gate(t.report, t.w, r, m);
	add_events(&t);
	read_token(&t, &token);
	title("the token");
	fleet_report_lost(t.report, t.w, "phase: unknown");
	fleet_report_token_refused(t.report, t.w, "forbidden");
	add_events(&t);
	title("the gate");
	r->opens = true;
	fleet_report_gate(t.report, t.w, r, m);
	r->opens = false;
	fleet_report_gate(t.report, t.w, r, m);
	m->outcome = SCHED_STALE;
	m->text = "the object has been modified";
	fleet_report_gate(t.report, t.w, r, m);
	add_events(&t);
	fleet_report_request(t.report, m);
	fleet_report_request(t.report, m);
	m->request = SCHED_REQ_PREEMPTION_TOKEN;
	m->outcome = SCHED_DONE;
	fleet_report_request(t.report, m);
	message_free(m);
	end(&t, "problems");
}

static void test_gates(void **state UNUSED)
{
	struct test t;
	struct fleet_replica *r;

	begin(&t, ORCHESTRATE_ORDER);
	r = fleet_workload_replica(t.w, "east");
	t.w->token.epoch = 4;
	fleet_report_gate_sent(t.report, t.w, r, true);
	assert_int_equal(r->opened_epoch, 4);
	recorded_series(t.counters, "opened", &recorded);
	fleet_report_gate_sent(t.report, t.w, r, true);
	fleet_report_gate_sent(t.report, t.w, r, false);
	t.w->token.epoch = 5;
	fleet_report_gate_sent(t.report, t.w, r, true);
	end(&t, "opened again, closed, and opened for the next grant");
}

/* One event for each time that it comes to wait for the gate of another controller. */
static void test_held_back(void **state UNUSED)
{
	struct test t;
	struct token token = free_token();
	struct fleet_replica *r;

	begin(&t, ORCHESTRATE_ORDER);
	read_token(&t, &token);
	r = fleet_workload_replica(t.w, "east");
	r->seen.replica.uid = "x";
	r->seen.replica.reachable = r->seen.replica.has_gate = true;
	r->seen.replica.signals = r->seen.replica.other_gate = true;
	r->seen.replica.answer = REPLICA_GATED;
	r->target = &(struct variant){ .other_gate = (char *)(uintptr_t) "team/freeze" };
	vec_push(&t.view.of, r);
	title("held back");
	fleet_report_view(t.report, t.w, &t.view, WALL);
	fleet_report_view(t.report, t.w, &t.view, WALL);
	add_events(&t);
	title("not any more");
	r->seen.replica.answer = REPLICA_DOES_NOT_FIT;
	fleet_report_view(t.report, t.w, &t.view, WALL);
	add_events(&t);
	assert_false(r->held_back);
	end(&t, NULL);
}

/* --- reasons -----------------------------------------------------------------------------------*/

static const struct replica candidate = {
	.uid = "x",
	.reachable = true,
	.has_gate = true,
	.signals = true,
	.answer = REPLICA_GATED,
	.cost = REPLICA_COST_UNKNOWN,
};

static void add_replica(struct test *t, const char *cluster, int64_t cost)
{
	struct replica r = candidate;

	r.cluster = cluster;
	r.cost = cost;
	vec_push(&t->view.replicas, r);
}

static void add_reason(struct test *t, const char *name, const char *cluster)
{
	fleet_report_grant(t->report, t->w, &t->view, t->prices, cluster);
	strbuf_printf(&recorded, "%s: %s\n", name,
		      t->w->grant_reason == NULL ? "(none)" : t->w->grant_reason);
}

static void test_reasons(void **state UNUSED)
{
	static const char *const modes[] = {
		[ORCHESTRATE_COMPAT] = "compat",
		[ORCHESTRATE_ORDER] = "order",
		[ORCHESTRATE_COST] = "cost",
	};

	for (unsigned mode = 0; mode < ARRAY_LEN(modes); mode++) {
		struct test t;

		unit_row(modes[mode]);
		title(modes[mode]);
		begin(&t, (enum orchestrate_mode)mode);
		t.w->grant_reason = xmalloc_dup("of before");
		add_reason(&t, "no candidate", "east");
		add_replica(&t, "east", 7);
		add_reason(&t, "one", "east");
		add_replica(&t, "none", 1);
		t.view.replicas.v[1].signals = false;
		add_reason(&t, "one of two", "east");
		add_replica(&t, "west", INT64_MAX);
		add_reason(&t, "two", "east");
		add_replica(&t, "north", REPLICA_COST_UNKNOWN);
		add_reason(&t, "several", "east");
		add_reason(&t, "of unknown cost", "north");
		add_reason(&t, "not in the view", "south");
		for (unsigned i = 0; i < 9; i++) {
			add_replica(&t, "more", 100 + i);
		}
		add_reason(&t, "many", "east");
		end(&t, NULL);
	}
}

/* --- waiting -----------------------------------------------------------------------------------*/

static void test_waiting(void **state UNUSED)
{
	static const struct {
		const char *name;
		bool asks, admitted, wanted, granted;
		int64_t before, want;
		unsigned avoided; /* so far */
	} rows[] = {
		{ "nothing asks", false, false, true, false, REPLICA_NOT_SEEN, REPLICA_NOT_SEEN,
		  0 },
		{ "the first time", true, false, true, false, REPLICA_NOT_SEEN, WALL, 0 },
		{ "still", true, false, true, false, 5, 5, 0 },
		{ "it stopped asking", false, false, true, false, 5, 5, 0 },
		{ "granted", true, false, true, true, 5, REPLICA_NOT_SEEN, 0 },
		{ "not wanted", true, false, false, false, 5, REPLICA_NOT_SEEN, 0 },
		{ "not wanted, first", true, false, false, false, REPLICA_NOT_SEEN,
		  REPLICA_NOT_SEEN, 0 },
		{ "admitted elsewhere", true, true, true, false, 5, REPLICA_NOT_SEEN, 1 },
		{ "admitted, and nothing asked", false, true, true, false, REPLICA_NOT_SEEN,
		  REPLICA_NOT_SEEN, 1 },
		{ "admitted before it was seen to ask", true, true, true, false, REPLICA_NOT_SEEN,
		  REPLICA_NOT_SEEN, 1 },
		{ "admitted and not wanted any more", false, true, false, false, 5,
		  REPLICA_NOT_SEEN, 2 },
	};
	struct test t;

	begin(&t, ORCHESTRATE_ORDER);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct metric_family *avoided = metric_register(
			t.counters, "headgate_preemptions_avoided_total", "", METRIC_COUNTER, NULL);

		unit_row(rows[i].name);
		vec_clear(&t.view.replicas);
		add_replica(&t, "east", 0);
		t.view.replicas.v[0].signals = rows[i].asks;
		add_replica(&t, "west", 0);
		t.view.replicas.v[1].signals = false;
		t.view.replicas.v[1].admitted = rows[i].admitted;
		t.view.view.wanted = rows[i].wanted;
		t.w->token.phase = rows[i].granted ? TOKEN_GRANTED : TOKEN_FREE;
		t.w->signal_at = rows[i].before;
		fleet_report_view(t.report, t.w, &t.view, WALL);
		assert_int_equal(t.w->signal_at, rows[i].want);
		assert_true(metric_cell_get(metric_cell(avoided, NULL)) == rows[i].avoided);
	}
	end(&t, "waiting");
}

static void test_gauges(void **state UNUSED)
{
	struct test t;
	struct fleet_holders holders = VEC_INIT;
	struct strmap *workloads = strmap_create(fleet_workload_destroy);
	static const char *const names[] = { "a", "b", "c" };
	struct fleet_workload *w[3];

	begin(&t, ORCHESTRATE_ORDER);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		w[i] = fleet_workload_create(str_of(names[i]));
		strmap_set(workloads, str_of(names[i]), w[i]);
	}
	w[0]->signal_at = WALL - 5 * S;
	w[1]->signal_at = WALL - 20 * S;
	(void)fleet_holders_set(&holders, w[0], names[0]);
	(void)fleet_holders_set(&holders, w[1], names[1]);
	(void)fleet_holders_set(&holders, w[2], names[1]);
	fleet_report_gauges(t.report, workloads, &holders, WALL);
	recorded_series(t.counters, "gauges", &recorded);
	w[1]->signal_at = REPLICA_NOT_SEEN;
	(void)fleet_holders_set(&holders, w[0], NULL);
	fleet_report_gauges(t.report, workloads, &holders, WALL + 10 * S - 1);
	recorded_series(t.counters, "too early for the next ones", &recorded);
	fleet_report_gauges(t.report, workloads, &holders, WALL + 10 * S);
	recorded_series(t.counters, "after ten seconds", &recorded);
	(void)fleet_holders_set(&holders, w[1], NULL);
	fleet_report_gauges(t.report, workloads, &holders, WALL - 5 * S);
	recorded_series(t.counters, "the clock was set back", &recorded);
	end(&t, NULL);
	vec_finish(&holders);
	strmap_destroy(workloads);
}

/* A test of its own, the last one: a failure in the tear-down of the group does not change the exit
 * code. */
static void test_recorded(void **state UNUSED)
{
	recorded_check("test/unit/scheduler/multikueue/fleet/fleet_report.txt", &recorded);
	strbuf_finish(&recorded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grants_are_reported_once),
		cmocka_unit_test(test_first_reading),
		cmocka_unit_test(test_absurd_number_of_victims),
		cmocka_unit_test(test_each_end),
		cmocka_unit_test(test_problems),
		cmocka_unit_test(test_gates),
		cmocka_unit_test(test_held_back),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_waiting),
		cmocka_unit_test(test_gauges),
		cmocka_unit_test(test_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
