#include "scheduler/multikueue/fleet/fleet_writes.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/pool.h"
#include "lib/multikueue/fleet_fixture.h"
#include "lib/net/fake_transport.h"
#include "obs/metric.h"
#include "scheduler/multikueue/records/fleet_workload.h"
#include "scheduler/multikueue/worker_config.h"

#define KEY "ns/w"
#define NOW (FLEET_FIXTURE_WALL + 5 * CLOCK_NS_PER_S)
#define PAUSE (30 * CLOCK_NS_PER_S)

struct test {
	struct clock_fake clock;
	struct fake_transport *transport;
	struct fleet_writes *writes;
	struct fleet_workload *w;
	struct sched_msg *done; /* the outcome that was posted last; NULL: none */
	bool may_not_send;
};

static void post(void *ctx, struct sched_msg *m)
{
	struct test *t = ctx;

	message_free(t->done);
	t->done = m;
}

static bool may_send(void *ctx)
{
	return !((struct test *)ctx)->may_not_send;
}

static void set_local(struct fleet_workload *w, int64_t version)
{
	struct sched_msg *m = fleet_fixture_object(
		SCHED_WORKLOADS, KEY, version,
		"{'metadata':{'name':'w','namespace':'ns','uid':'u','resourceVersion':'7',"
		"'annotations':{'other':'x'}},'spec':{'queueName':'main'}}");

	assert_int_equal(fleet_workload_set_local(w, m, NOW, NULL), 0);
	message_free(m);
}

static void begin(struct test *t)
{
	struct pool_options po = { .clock = &t->clock.base,
				   .timeout_ns = CLOCK_NS_PER_S,
				   .backoff_min_ns = POOL_BACKOFF_MIN_NS,
				   .backoff_max_ns = POOL_BACKOFF_MAX_NS,
				   .may_send = may_send,
				   .ctx = t };

	*t = (struct test){ .done = NULL };
	clock_fake_init(&t->clock, FLEET_FIXTURE_WALL);
	t->transport = fake_transport_create(&t->clock);
	po.transport = fake_transport_base(t->transport);
	t->writes = fleet_writes_create(&po, post);
	t->w = fleet_workload_create(str_of(KEY));
	set_local(t->w, 7);
}

static void end(struct test *t)
{
	fleet_writes_destroy(t->writes);
	fake_transport_destroy(t->transport);
	fleet_workload_destroy(t->w);
	message_free(t->done);
}

static const struct token granted = { .epoch = 2,
				      .phase = TOKEN_GRANTED,
				      .holder = "east",
				      .uid = "x",
				      .granted_at = FLEET_FIXTURE_WALL,
				      .lost_at = REPLICA_NOT_SEEN };

#define TOKEN_PATCH                                                                                \
	"PATCH /apis/kueue.x-k8s.io/v1beta2/namespaces/ns/workloads/w"                             \
	"?fieldManager=headgate-orchestrator"

static void expect_body(struct fake_transport *f, uint64_t id, const char *want)
{
	CLEANUP(jdoc_destroyp) struct jdoc *is = NULL, *was = NULL;
	struct str body = fake_transport_body(f, id);

	assert_int_equal(jdoc_parse(body, &is, NULL), 0);
	assert_int_equal(jdoc_parse(str_of(want), &was, NULL), 0);
	if (!jdoc_equal(is, was)) {
		fail_msg("is " STR_FMT ", was %s", STR_ARG(body), want);
	}
}

static uint64_t send_token(struct test *t)
{
	fleet_writes_token(t->writes, t->w, &granted);
	assert_true(t->w->token_in_flight);
	assert_int_equal(t->w->token_sent, 7);
	(void)pool_step(fleet_writes_pool(t->writes));
	return t->may_not_send ? 0 : fake_transport_expect(t->transport, TOKEN_PATCH);
}

static void test_token_patch(void **state UNUSED)
{
	struct test t;
	uint64_t id;

	begin(&t);
	id = send_token(&t);
	expect_body(t.transport, id,
		    "{\"metadata\":{\"uid\":\"u\",\"resourceVersion\":\"7\",\"annotations\":{"
		    "\"headgate.io/preemption-token\":\"{\\\"epoch\\\":2,\\\"phase\\\":"
		    "\\\"Granted\\\",\\\"holder\\\":\\\"east\\\",\\\"uid\\\":\\\"x\\\","
		    "\\\"grantedAt\\\":\\\"2027-01-15T08:00:00.000000Z\\\"}\"}}}");
	fake_transport_answer(t.transport, id, 200, "{\"metadata\":{\"resourceVersion\":\"9\"}}");
	while (pool_step(fleet_writes_pool(t.writes))) {
	}
	assert_int_equal(t.done->request, SCHED_REQ_PREEMPTION_TOKEN);
	assert_true(str_eq_c(t.done->key, KEY));
	end(&t);
	fleet_writes_destroy(NULL);
}

/* The end of a grant is for the token that was read, whatever else has changed since. */
static void test_end_of_a_token(void **state UNUSED)
{
	static const struct token free_again = { .epoch = 2,
						 .phase = TOKEN_FREE,
						 .lost_at = REPLICA_NOT_SEEN };
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *ops = NULL;
	struct sched_msg *local;
	struct test t;
	uint64_t id;

	begin(&t);
	local = fleet_fixture_object(
		SCHED_WORKLOADS, KEY, 8,
		"{'metadata':{'name':'w','namespace':'ns','uid':'u','resourceVersion':'8',"
		"'annotations':{'headgate.io/"
		"preemption-token':'{}'}},'spec':{'queueName':'main'}}");
	assert_int_equal(fleet_workload_set_local(t.w, local, NOW, NULL), -ERR_INVALID);
	message_free(local);
	fleet_writes_token(t.writes, t.w, &free_again);
	(void)pool_step(fleet_writes_pool(t.writes));
	id = fake_transport_expect(t.transport, TOKEN_PATCH);
	assert_string_equal(fake_transport_request(t.transport, id)->content_type,
			    "application/json-patch+json");
	assert_int_equal(jdoc_parse(fake_transport_body(t.transport, id), &ops, NULL), 0);
	assert_int_equal(jdoc_count(ops), 3);
	assert_true(jdoc_is_str(jdoc_get(jdoc_at(ops, 0), "value"), "u"));
	assert_true(jdoc_is_str(jdoc_get(jdoc_at(ops, 1), "op"), "test"));
	assert_true(jdoc_is_str(jdoc_get(jdoc_at(ops, 1), "path"),
				"/metadata/annotations/headgate.io~1preemption-token"));
	assert_true(jdoc_is_str(jdoc_get(jdoc_at(ops, 1), "value"), "{}"));
	token_format(&free_again, &text);
	assert_true(jdoc_is_str(jdoc_get(jdoc_at(ops, 2), "value"), text.p));
	end(&t);
}

#define STATUS(reason) "{\"kind\":\"Status\",\"reason\":\"" reason "\",\"message\":\"m\"}"

/* written: the version that is waited for. */
static const struct {
	const char *name;
	int status; /* 0: not sent */
	const char *body;
	enum sched_outcome outcome;
	int64_t written;
} outcomes[] = {
	{ "done", 200, "{\"metadata\":{\"resourceVersion\":\"9\"}}", SCHED_DONE, 9 },
	{ "changed before", 409, STATUS("Conflict"), SCHED_STALE, 8 },
	{ "gone", 404, STATUS("NotFound"), SCHED_GONE, 0 },
	{ "refused", 422, STATUS("Invalid"), SCHED_REJECTED, 0 },
	{ "not sent", 0, NULL, SCHED_CANCELLED, 0 },
};

static void test_outcomes_of_tokens(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_LEN(outcomes); i++) {
		struct test t;
		uint64_t id;

		unit_row(outcomes[i].name);
		begin(&t);
		t.may_not_send = outcomes[i].status == 0;
		id = send_token(&t);
		if (outcomes[i].status != 0) {
			fake_transport_answer(t.transport, id, outcomes[i].status,
					      outcomes[i].body);
		}
		while (pool_step(fleet_writes_pool(t.writes))) {
		}
		assert_non_null(t.done);
		assert_int_equal(t.done->outcome, outcomes[i].outcome);
		t.w->token_pause_until = 1;
		fleet_writes_token_done(t.w, t.done, NOW);
		assert_false(t.w->token_in_flight);
		assert_int_equal(t.w->token_written, outcomes[i].written);
		assert_int_equal(t.w->token_pause_until,
				 outcomes[i].outcome == SCHED_REJECTED ? NOW + PAUSE : 0);
		assert_int_equal(fleet_workload_awaits_token(t.w), outcomes[i].written > 0);
		set_local(t.w, outcomes[i].written);
		assert_false(fleet_workload_awaits_token(t.w));
		fake_transport_expect_none(t.transport); /* it is not sent again */
		end(&t);
	}
}

/* --- gates -------------------------------------------------------------------------------------*/

static struct fleet_replica *place(struct fleet_workload *w)
{
	struct fleet_replica *r = fleet_workload_replica(w, "east");
	struct sched_msg *m = fleet_fixture_object(
		SCHED_WORKLOADS, KEY, 7,
		"{'metadata':{'name':'w','namespace':'ns','uid':'x','resourceVersion':'7'},"
		"'spec':{'queueName':'main'}}");

	fleet_workload_observe(w, r, m->object, 1, NOW);
	message_free(m);
	return r;
}

static void test_outcomes_of_gates(void **state UNUSED)
{
	struct test t;
	struct fleet_replica *r;

	begin(&t);
	r = place(t.w);
	for (size_t i = 0; i < 2 * ARRAY_LEN(outcomes); i++) {
		struct sched_msg *m = message_new(SCHED_MSG_REQUEST_DONE);
		bool opens = i % 2 == 0, refused = outcomes[i / 2].outcome == SCHED_REJECTED;

		unit_row(outcomes[i / 2].name);
		m->outcome = outcomes[i / 2].outcome;
		m->resource_version = m->outcome == SCHED_DONE ? 9 : 0;
		observe_granted(&r->seen);
		r->in_flight = true;
		r->opens = opens;
		r->sent = 7;
		r->pause_until = 1;
		fleet_writes_gate_done(r, m, NOW);
		assert_false(r->in_flight);
		assert_int_equal(r->written, outcomes[i / 2].written);
		/* Another cluster has its turn; one that must be closed is tried again. */
		assert_int_equal(r->seen.replica.refused, refused && opens);
		assert_int_equal(r->pause_until, refused ? NOW + PAUSE : 0);
		message_free(m);
	}
	end(&t);
}

/* The variant is gone to which it was sent, and one more write is under way. */
static void test_answer_about_another_variant(void **state UNUSED)
{
	struct test t;
	struct fleet_replica *r;
	struct sched_msg *m = message_new(SCHED_MSG_REQUEST_DONE);

	begin(&t);
	r = place(t.w);
	m->outcome = SCHED_REJECTED;
	m->about = "y";
	r->in_flight = r->opens = true;
	r->sent_to = xmalloc_dup("x");
	fleet_writes_gate_done(r, m, NOW);
	assert_true(r->in_flight);
	assert_false(r->seen.replica.refused);
	assert_int_equal(r->self->refused, 0);
	m->about = "x";
	fleet_writes_gate_done(r, m, NOW);
	assert_false(r->in_flight);
	assert_true(r->seen.replica.refused);
	assert_int_equal(r->self->refused, 1);
	message_free(m);
	end(&t);
}

/* The API server accepted the write, and dropped all of it: it must not be sent again at once. */
static void test_a_write_without_effect(void **state UNUSED)
{
	struct test t;
	struct fleet_replica *r;

	begin(&t);
	r = place(t.w);
	for (unsigned i = 0; i < 2; i++) {
		struct sched_msg *m = message_new(SCHED_MSG_REQUEST_DONE);
		bool opens = i == 0;

		unit_row_number(i);
		m->outcome = SCHED_DONE;
		m->resource_version = 7;
		observe_granted(&r->seen);
		r->in_flight = true;
		r->opens = opens;
		r->sent = 7;
		fleet_writes_gate_done(r, m, NOW);
		assert_int_equal(r->seen.replica.refused, opens);
		assert_int_equal(r->pause_until, NOW + PAUSE);
		message_free(m);
	}
	end(&t);
}

struct worker {
	struct clock_fake clock;
	struct metric_registry *counters;
	struct fake_transport *transports[2]; /* for watches, for requests */
	size_t n;
	struct link *link;
	struct fleet_workload *w;
	struct fleet_replica *r;
	enum sched_outcome outcome; /* of the last write */
	unsigned outcomes;
};

static int connect_to(void *ctx, const char *cluster UNUSED, const struct kubeconfig *cfg UNUSED,
		      struct transport **ret, struct err *err UNUSED)
{
	struct worker *k = ctx;

	assert_true(k->n < 2);
	k->transports[k->n] = fake_transport_create(&k->clock);
	*ret = fake_transport_base(k->transports[k->n++]);
	return 0;
}

static uint64_t next_source(void *ctx UNUSED)
{
	return 1;
}

static void take_outcome(void *ctx, struct sched_msg *m)
{
	struct worker *k = ctx;

	if (m->kind == SCHED_MSG_REQUEST_DONE && m->request == SCHED_REQ_PREEMPTION_GATE) {
		k->outcome = m->outcome;
		k->outcomes++;
	}
	message_free(m);
}

static void begin_worker(struct worker *k)
{
	struct link_options lo = { .cluster = "east",
				   .origin = "multikueue",
				   .clock = &k->clock.base,
				   .request_timeout_ns = CLOCK_NS_PER_S,
				   .manual = true,
				   .connect = connect_to,
				   .next_source = next_source,
				   .post = take_outcome,
				   .ctx = k };
	struct kubeconfig *config = NULL;
	const char *reason;

	*k = (struct worker){ .n = 0 };
	k->counters = lo.counters = metric_registry_create();
	clock_fake_init(&k->clock, FLEET_FIXTURE_WALL);
	assert_int_equal(worker_config_parse(str_of(FLEET_FIXTURE_CONFIG), &config, &reason, NULL),
			 0);
	k->link = link_create(&lo);
	link_configure(k->link, config, NULL, NULL);
	(void)link_step(k->link);
	k->w = fleet_workload_create(str_of(KEY));
	k->r = place(k->w);
	set_local(k->w, 3);
}

static void end_worker(struct worker *k)
{
	link_destroy(k->link);
	metric_registry_destroy(k->counters);
	fleet_workload_destroy(k->w);
}

static void step_writes(struct worker *k)
{
	while (pool_step(link_pool(k->link))) {
	}
}

static uint64_t find_patch(struct worker *k, struct fake_transport **ret)
{
	for (size_t i = 0; i < k->n; i++) {
		while (fake_transport_pending(k->transports[i]) > 0) {
			uint64_t id = fake_transport_expect_prefix(k->transports[i], "");

			if (fake_transport_request(k->transports[i], id)->method == HTTP_PATCH) {
				*ret = k->transports[i];
				return id;
			}
		}
	}
	fail_msg("no PATCH was sent");
	return 0;
}

/* Which fields the worker serves is not known yet, or may not be read: Kueue's it has. */
static void test_gate_patch(void **state UNUSED)
{
	static const struct {
		const char *position;
		bool open;
	} rows[] = { { "Open", true }, { "Closed", false } };

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf want = STRBUF_INIT;
		struct fake_transport *f = NULL;
		struct worker k;
		uint64_t id;

		unit_row(rows[i].position);
		begin_worker(&k);
		fleet_writes_gate(k.link, k.w, k.r, rows[i].open, NOW);
		assert_true(k.r->in_flight);
		assert_int_equal(k.r->opens, rows[i].open);
		assert_int_equal(k.r->sent, 7);
		step_writes(&k);
		id = find_patch(&k, &f);
		assert_string_equal(fake_transport_request(f, id)->url,
				    "/apis/kueue.x-k8s.io/v1beta2/namespaces/ns/workloads/w/status"
				    "?fieldManager=kueue.x-k8s.io/multikueue&force=true");
		strbuf_printf(&want,
			      "{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"Workload\","
			      "\"metadata\":{\"name\":\"w\",\"namespace\":\"ns\",\"uid\":\"x\","
			      "\"resourceVersion\":\"7\"},\"status\":{\"preemptionGates\":[{"
			      "\"name\":\"kueue.x-k8s.io/multikueue\",\"position\":\"%s\","
			      "\"lastTransitionTime\":\"2027-01-15T08:00:05Z\"}]}}",
			      rows[i].position);
		expect_body(f, id, want.p);
		/* The replica has changed: it is not sent again. */
		fake_transport_answer(f, id, 409, STATUS("Conflict"));
		step_writes(&k);
		assert_int_equal(k.outcomes, 1);
		assert_int_equal(k.outcome, SCHED_STALE);
		end_worker(&k);
	}
}

static void test_pauses(void **state UNUSED)
{
	assert_false(fleet_writes_is_paused(0, NOW));
	assert_false(fleet_writes_is_paused(NOW, NOW));
	assert_true(fleet_writes_is_paused(NOW + 1, NOW));
	assert_true(fleet_writes_is_paused(NOW + PAUSE, NOW));
	assert_false(fleet_writes_is_paused(NOW + PAUSE + 1, NOW)); /* the clock was set back */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_token_patch),
		cmocka_unit_test(test_end_of_a_token),
		cmocka_unit_test(test_outcomes_of_tokens),
		cmocka_unit_test(test_gate_patch),
		cmocka_unit_test(test_outcomes_of_gates),
		cmocka_unit_test(test_answer_about_another_variant),
		cmocka_unit_test(test_a_write_without_effect),
		cmocka_unit_test(test_pauses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
