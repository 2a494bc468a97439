#include "scheduler/workloads/writes/status_writer.h"

#include <string.h>

#include "api/kueue/preemption_gate.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "kube/pool.h"
#include "lib/net/write_fixture.h"
#include "lib/unit.h"
#include "scheduler/workloads/model/quota_store.h"

#define LINE                                                                                       \
	"PATCH /apis/kueue.x-k8s.io/v1beta2/namespaces/ns/workloads/w/"                            \
	"status?fieldManager=kueue-admission&force=true"

struct fixture {
	struct write_fixture w;
	struct status_writer *writer;
	struct quota_model *q;
	struct workload *workload;
	struct workload_status status;
	const struct workload_status *before;
	int64_t resource_version;
	bool refused;
};

static void begin(struct fixture *f)
{
	struct pool_options po = { .timeout_ns = CLOCK_NS_PER_S,
				   .backoff_min_ns = CLOCK_NS_PER_MS,
				   .backoff_max_ns = CLOCK_NS_PER_S };
	struct condition one = { "QuotaReserved", "True", "QuotaReserved", "m", 0, 3 };

	*f = (struct fixture){ 0 };
	write_fixture_init(&f->w);
	po.transport = fake_transport_base(f->w.transport);
	po.clock = &f->w.clock.base;
	po.may_send = f->w.target.may_send;
	po.ctx = &f->w;
	f->writer = status_writer_create(&po, f->w.target.post);
	f->w.pool = status_writer_pool(f->writer);
	f->q = quota_create();
	f->q->options.preemption_gates = true;
	f->q->options.gate_fields = PREEMPTION_GATE_POSITION;
	f->q->options.gate_signal = PREEMPTION_GATE_BLOCKED;
	f->workload = quota_workload_add(f->q, STR_LIT("ns/w"));
	f->workload->object.namespace_ = quota_name(f->q, STR_LIT("ns"));
	f->workload->object.uid = "u-1";
	f->status.arena = arena_create(0);
	vec_push(&f->status.conditions, one);
}

static void end(struct fixture *f)
{
	f->w.pool = NULL;
	status_writer_destroy(f->writer);
	write_fixture_finish(&f->w);
	arena_destroy(f->status.arena);
	workload_status_finish(&f->status);
	quota_destroy(f->q);
}

static void send(struct fixture *f, uint64_t version)
{
	status_writer_send(f->writer, f->q,
			   &(struct status_writer_request){
				   .workload = f->workload,
				   .status = &f->status,
				   .before = f->before,
				   .resource_version = f->resource_version,
				   .version = version,
				   .refused = f->refused,
			   });
}

static struct jdoc *format(struct fixture *f)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct jdoc *d = NULL;

	status_writer_format(f->q, f->workload, &f->status, f->resource_version, &text);
	assert_int_equal(jdoc_parse(strbuf_str(&text), &d, NULL), 0);
	assert_string_equal(jdoc_path_str(d, "apiVersion"), "kueue.x-k8s.io/v1beta2");
	assert_string_equal(jdoc_path_str(d, "kind"), "Workload");
	return d;
}

static void absent_fields_are_left_out(void **state)
{
	struct fixture f;
	struct jdoc *d;

	(void)state;
	begin(&f);
	d = format(&f);
	assert_string_equal(jdoc_path_str(d, "metadata.uid"), "u-1");
	assert_string_equal(jdoc_path_str(d, "metadata.namespace"), "ns");
	assert_string_equal(jdoc_path_str(d, "metadata.name"), "w");
	assert_int_equal(jdoc_count(jdoc_path(d, "status")), 1);
	assert_int_equal(jdoc_int(jdoc_get(jdoc_at(jdoc_path(d, "status.conditions"), 0),
					   "observedGeneration"),
				  0),
			 3);
	jdoc_destroy(d);
	end(&f);
}

/* PodsReady and Finished have other managers: applied by us they would be ours. */
static void others_keep_their_conditions(void **state)
{
	struct condition ready = { "PodsReady", "True", "Started", "m", 0, 0 };
	struct condition finished = { "Finished", "True", "Succeeded", "m", 0, 0 };
	struct fixture f;
	struct jdoc *d;

	(void)state;
	begin(&f);
	vec_push(&f.status.conditions, ready);
	vec_push(&f.status.conditions, finished);
	d = format(&f);
	assert_int_equal(jdoc_count(jdoc_path(d, "status.conditions")), 1);
	jdoc_destroy(d);
	end(&f);
}

/* It was set with the admission: left out by the next write, it would go. */
static void readiness_is_ours_until_it_is_reported(void **state)
{
	struct condition waits = { "PodsReady", "False", "WaitForStart", "m", 0, 0 };
	struct fixture f;
	struct jdoc *d;

	(void)state;
	begin(&f);
	vec_push(&f.status.conditions, waits);
	d = format(&f);
	assert_int_equal(jdoc_count(jdoc_path(d, "status.conditions")), 2);
	jdoc_destroy(d);
	f.status.conditions.v[1].reason = "WaitForRecovery";
	d = format(&f);
	assert_int_equal(jdoc_count(jdoc_path(d, "status.conditions")), 1);
	jdoc_destroy(d);
	end(&f);
}

/* Pod changes that a check asked for are for one admission. */
/* An empty list would be owned by this manager: those of others would go with it. */
static void without_a_condition_of_ours_no_list_is_named(void **state)
{
	struct condition other = { "WaitingForReplacementPods", "True", "PodsFailed", "m", 0, 1 };
	struct fixture f;
	struct jdoc *d;

	(void)state;
	begin(&f);
	f.status.conditions.v[0] = other;
	d = format(&f);
	assert_null(jdoc_path(d, "status.conditions"));
	jdoc_destroy(d);
	vec_clear(&f.status.conditions);
	d = format(&f);
	assert_null(jdoc_path(d, "status.conditions"));
	jdoc_destroy(d);
	end(&f);
}

static void updates_of_a_check_that_starts_anew_are_taken_off_once(void **state)
{
	struct workload_status_check check = { .name = "c", .message = "", .drops_updates = true };
	struct fixture f;

	(void)state;
	begin(&f);
	vec_push(&f.status.checks, check);
	for (int drops = 1; drops >= 0; drops--) {
		const struct jdoc *k;
		struct jdoc *d;

		f.status.checks.v[0].drops_updates = drops;
		d = format(&f);
		k = jdoc_at(jdoc_path(d, "status.admissionChecks"), 0);
		assert_int_equal(jdoc_get(k, "podSetUpdates") != NULL, drops);
		assert_int_equal(jdoc_count(jdoc_get(k, "podSetUpdates")), 0);
		jdoc_destroy(d);
	}
	end(&f);
}

/* No other controller writes Finished; without it the owner would be missed again and again. */
static void a_workload_without_owner_is_finished_by_us(void **state)
{
	struct condition finished = { "Finished", "True", "OwnerNotFound", "m", 0, 0 };
	struct fixture f;
	struct jdoc *d;

	(void)state;
	begin(&f);
	vec_push(&f.status.conditions, finished);
	d = format(&f);
	assert_int_equal(jdoc_count(jdoc_path(d, "status.conditions")), 2);
	jdoc_destroy(d);
	end(&f);
}

static void all_of_it(void **state)
{
	struct fixture f;
	struct jdoc *d;
	struct workload_status_usage usage[2];
	struct workload_status_podset set = { "main", 2, usage, 2 };
	struct workload_status_check check = { "c", "x", QUOTA_CHECK_RETRY, 0, 4, 9, true, false };
	struct workload_status_gate gate = { .name = "g" };
	struct workload_status_eviction eviction = { "Preempted", "", 2 };
	const struct jdoc *a;

	(void)state;
	begin(&f);
	usage[0] =
		(struct workload_status_usage){ quota_resource(f.q, STR_LIT("cpu")), "fl", 1500 };
	usage[1] = (struct workload_status_usage){ quota_resource(f.q, STR_LIT("memory")), "fl",
						   1 << 30 };
	f.status.has_admission = true;
	f.status.queue = "team";
	vec_push(&f.status.podsets, set);
	vec_push(&f.status.requests, set);
	vec_push(&f.status.checks, check);
	vec_push(&f.status.gates, gate);
	vec_push(&f.status.evictions, eviction);
	f.status.has_requeue_count = f.status.has_requeue_at = f.status.has_past_seconds = true;
	f.status.requeue_count = 3;
	f.status.past_seconds = 8;
	d = format(&f);
	a = jdoc_at(jdoc_path(d, "status.admission.podSetAssignments"), 0);
	assert_string_equal(jdoc_path_str(d, "status.admission.clusterQueue"), "team");
	assert_string_equal(jdoc_path_str(a, "flavors.memory"), "fl");
	assert_string_equal(jdoc_path_str(a, "resourceUsage.cpu"), "1500m");
	assert_string_equal(jdoc_path_str(a, "resourceUsage.memory"), "1Gi");
	assert_int_equal(jdoc_int(jdoc_get(a, "count"), 0), 2);
	assert_string_equal(
		jdoc_path_str(jdoc_at(jdoc_path(d, "status.resourceRequests"), 0), "resources.cpu"),
		"1500m");
	a = jdoc_at(jdoc_path(d, "status.admissionChecks"), 0);
	assert_string_equal(jdoc_path_str(a, "state"), "Retry");
	assert_int_equal(jdoc_int(jdoc_get(a, "retryCount"), 0), 4);
	assert_int_equal(jdoc_int(jdoc_get(a, "requeueAfterSeconds"), 0), 9);
	assert_string_equal(
		jdoc_path_str(jdoc_at(jdoc_path(d, "status.preemptionGates"), 0), "position"),
		"Closed");
	a = jdoc_at(jdoc_path(d, "status.schedulingStats.evictions"), 0);
	assert_string_equal(jdoc_path_str(a, "underlyingCause"), "");
	assert_int_equal(jdoc_int(jdoc_path(d, "status.requeueState.count"), 0), 3);
	assert_string_equal(jdoc_path_str(d, "status.requeueState.requeueAt"),
			    "1970-01-01T00:00:00Z");
	assert_int_equal(jdoc_int(jdoc_path(d, "status.accumulatedPastExecutionTimeSeconds"), 0),
			 8);
	jdoc_destroy(d);
	end(&f);
}

/* Names by dialect, and every field that the API server serves or the entry has. */
static void gates_in_each_dialect(void **state)
{
	static const struct {
		enum preemption_gate_dialect dialect;
		unsigned served, has;
		bool off;
		const char *signal, *position, *state;
	} rows[] = {
		{ PREEMPTION_GATE_AUTO, 0, 0, false, "BlockedOnPreemptionGates", "Open", NULL },
		{ PREEMPTION_GATE_AUTO, PREEMPTION_GATE_POSITION | PREEMPTION_GATE_STATE, 0, false,
		  "BlockedOnPreemptionGates", "Open", "Open" },
		{ PREEMPTION_GATE_AUTO, PREEMPTION_GATE_STATE, 0, false, "PreemptionBlocked", NULL,
		  "Open" },
		{ PREEMPTION_GATE_KUEUE, 0, PREEMPTION_GATE_STATE, false,
		  "BlockedOnPreemptionGates", "Open", "Open" },
		{ PREEMPTION_GATE_KEP_8303, 0, 0, false, "PreemptionBlocked", NULL, "Open" },
		{ PREEMPTION_GATE_KEP_8303_DRAFT, PREEMPTION_GATE_POSITION, 0, false,
		  "QuotaReservationBlocked", "Open", NULL },
		{ PREEMPTION_GATE_KUEUE, 0, 0, true, "BlockedOnPreemptionGates", NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct condition blocked = {
			PREEMPTION_GATE_BLOCKED, "True", "PreemptionGated", "m", 0, 0
		};
		struct workload_status_gate gate = { .name = "g",
						     .open = true,
						     .fields = rows[i].has };
		const struct jdoc *entry, *one;
		struct fixture f;
		struct jdoc *d;

		begin(&f);
		f.q->options.preemption_gates = !rows[i].off;
		f.q->options.gate_fields = preemption_gate_fields(rows[i].dialect, rows[i].served);
		f.q->options.gate_signal = preemption_gate_signal(rows[i].dialect, rows[i].served);
		vec_push(&f.status.conditions, blocked);
		vec_push(&f.status.gates, gate);
		d = format(&f);
		one = jdoc_path(d, "status.conditions");
		one = jdoc_at(one, jdoc_count(one) - 1);
		assert_string_equal(jdoc_path_str(one, "type"), rows[i].signal);
		entry = jdoc_at(jdoc_path(d, "status.preemptionGates"), 0);
		if (!str_streq(jdoc_path_str(entry, "position"), rows[i].position) ||
		    !str_streq(jdoc_path_str(entry, "state"), rows[i].state)) {
			fail_msg("row %zu", i);
		}
		jdoc_destroy(d);
		end(&f);
	}
}

static void the_answer_contains_the_version(void **state)
{
	struct fixture f;
	uint64_t id;

	(void)state;
	begin(&f);
	send(&f, 5);
	id = write_fixture_expect(&f.w, LINE);
	assert_string_equal(fake_transport_request(f.w.transport, id)->content_type,
			    "application/apply-patch+yaml");
	fake_transport_answer(f.w.transport, id, 200,
			      "{\"metadata\":{\"resourceVersion\":\"41\"}}");
	write_fixture_outcome(&f.w, SCHED_DONE);
	assert_int_equal(f.w.last->resource_version, 41);
	assert_int_equal(f.w.last->version, 5);
	assert_string_equal(f.w.last->uid, "u-1");
	assert_true(str_eq_c(f.w.last->key, "ns/w"));
	end(&f);
}

static void writes_that_wait_are_coalesced(void **state)
{
	struct fixture f;
	uint64_t id;

	(void)state;
	begin(&f);
	send(&f, 1);
	f.status.conditions.v[0].status = "False";
	send(&f, 2);
	id = write_fixture_expect(&f.w, LINE);
	assert_non_null(strstr(fake_transport_body(f.w.transport, id).p, "\"False\""));
	fake_transport_answer(f.w.transport, id, 200, "{}");
	write_fixture_outcome(&f.w, SCHED_DONE);
	assert_int_equal(f.w.last->version, 2);
	end(&f);
}

static void answers(void **state)
{
	static const struct {
		const char *body;
		int status;
		enum sched_outcome outcome;
	} rows[] = {
		{ "{}", 404, SCHED_GONE },
		{ "{\"kind\":\"Status\",\"message\":\"Precondition failed: UID in precondition: "
		  "u-1, UID in object meta: u-2\"}",
		  409, SCHED_GONE },
		{ "{\"kind\":\"Status\",\"message\":\"status.conditions: bad\"}", 422,
		  SCHED_REJECTED },
		{ "{}", 403, SCHED_REJECTED },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f;

		unit_row_number(i);
		begin(&f);
		send(&f, 1);
		fake_transport_answer(f.w.transport, write_fixture_expect(&f.w, LINE),
				      rows[i].status, rows[i].body);
		write_fixture_outcome(&f.w, rows[i].outcome);
		end(&f);
	}
}

static void transient_failures_are_sent_again(void **state)
{
	static const int statuses[] = { 409, 429, 500, 503 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(statuses); i++) {
		struct fixture f;

		unit_row_number(i);
		begin(&f);
		send(&f, 1);
		fake_transport_answer(f.w.transport, write_fixture_expect(&f.w, LINE), statuses[i],
				      "{}");
		write_fixture_no_outcome(&f.w);
		write_fixture_later(&f.w);
		fake_transport_answer(f.w.transport, write_fixture_expect(&f.w, LINE), 200, "{}");
		write_fixture_outcome(&f.w, SCHED_DONE);
		end(&f);
	}
}

/* The eviction of a Workload was written, its answer was lost, and the next attempt is refused:
 * were that a refusal, the Workload would count as admitted, and its Job would start. */
static void a_refusal_after_an_unanswered_attempt_says_nothing(void **state)
{
	static const struct {
		const char *name;
		int status;
		enum sched_outcome outcome;
	} rows[] = {
		{ "the server failed", 500, SCHED_STALE },
		{ "no answer in time", 504, SCHED_STALE },
		{ "the connection broke", 0, SCHED_STALE },
		{ "turned away before it was looked at", 429, SCHED_REJECTED },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f;
		uint64_t id;

		unit_row(rows[i].name);
		begin(&f);
		send(&f, 1);
		id = write_fixture_expect(&f.w, LINE);
		if (rows[i].status == 0) {
			fake_transport_fail(f.w.transport, id, ERR_IO, true);
		} else {
			fake_transport_answer(f.w.transport, id, rows[i].status, "{}");
		}
		write_fixture_no_outcome(&f.w);
		write_fixture_later(&f.w);
		fake_transport_answer(f.w.transport, write_fixture_expect(&f.w, LINE), 403, "{}");
		write_fixture_outcome(&f.w, rows[i].outcome);
		end(&f);
	}
}

/* Writes of others since it was read are not overwritten. */
static void a_write_may_be_good_for_one_version_only(void **state)
{
	struct fixture f;
	uint64_t id;

	(void)state;
	begin(&f);
	f.resource_version = 17;
	send(&f, 1);
	id = write_fixture_expect(&f.w, LINE);
	assert_non_null(
		strstr(fake_transport_body(f.w.transport, id).p, "\"resourceVersion\":\"17\""));
	fake_transport_answer(f.w.transport, id, 409, "{}");
	write_fixture_outcome(&f.w, SCHED_STALE);
	end(&f);
}

/* The first write removes this member by a merge patch, also where other managers own fields of it.
 */
static void expect_removal(struct fixture *f, const struct workload_status *before,
			   const char *member)
{
	CLEANUP(xmalloc_freep)
	char *body = xmalloc_printf("{\"metadata\":{\"uid\":\"u-1\",\"resourceVersion\":\"17\"},"
				    "\"status\":{\"%s\":null}}",
				    member);
	uint64_t id;

	f->before = before;
	f->resource_version = 17;
	send(f, 1);
	id = write_fixture_expect(&f->w,
				  "PATCH /apis/kueue.x-k8s.io/v1beta2/namespaces/ns/workloads/w/"
				  "status?fieldManager=kueue-admission");
	assert_string_equal(fake_transport_request(f->w.transport, id)->content_type,
			    "application/merge-patch+json");
	assert_true(str_eq_c(fake_transport_body(f->w.transport, id), body));
	fake_transport_answer(f->w.transport, id, 200, "{}");
	write_fixture_outcome(&f->w, SCHED_STALE);
}

/* The fields of an admission that another manager owns outlive the apply that gives it back, and
 * the webhook lets no admission be changed into the next one. */
static void an_old_admission_is_removed_by_a_write_of_its_own(void **state)
{
	struct condition reserved = { "QuotaReserved", "True", "QuotaReserved", "m", 0, 3 };
	struct workload_status before = { .has_admission = true, .queue = "other" };
	struct fixture f;

	(void)state;
	begin(&f);
	expect_removal(&f, &before, "admission");
	/* One that is in force is removed together with its condition. */
	vec_push(&before.conditions, reserved);
	send(&f, 2);
	fake_transport_answer(f.w.transport, write_fixture_expect(&f.w, LINE), 200, "{}");
	write_fixture_outcome(&f.w, SCHED_DONE);
	workload_status_finish(&before);
	end(&f);
}

/* An apply without the last item of a list would end in null if another manager owns a field of the
 * item, which a real API server refuses. */
static void a_list_is_emptied_by_a_write_of_its_own(void **state)
{
	struct workload_status_check check = { .name = "c", .state = QUOTA_CHECK_READY };
	struct workload_status before = { 0 };
	struct fixture f;

	(void)state;
	begin(&f);
	vec_push(&before.checks, check);
	expect_removal(&f, &before, "admissionChecks");
	vec_push(&f.status.checks, check);
	send(&f, 2);
	fake_transport_answer(f.w.transport, write_fixture_expect(&f.w, LINE), 200, "{}");
	write_fixture_outcome(&f.w, SCHED_DONE);
	workload_status_finish(&before);
	end(&f);
}

/* Another manager owns the reason of a condition that is left out: an apply would leave a condition
 * without status, and be refused again and again. Conditions of others stay. */
static void a_condition_is_removed_when_the_apply_was_refused(void **state)
{
	static const struct condition target = { "DeactivationTarget", "True", "r", "m", 0, 3 };
	static const struct condition pods = { "PodsReady", "True", "Started", "m", 0, 3 };
	struct workload_status before = { 0 };
	struct fixture f;
	uint64_t id;

	(void)state;
	begin(&f);
	vec_push(&before.conditions, target);
	vec_push(&before.conditions, pods);
	f.before = &before;
	f.resource_version = 17;
	send(&f, 1);
	id = write_fixture_expect(&f.w, LINE);
	fake_transport_answer(f.w.transport, id, 422, "{}");
	write_fixture_outcome(&f.w, SCHED_REJECTED);
	f.refused = true;
	send(&f, 2);
	id = write_fixture_expect(&f.w,
				  "PATCH /apis/kueue.x-k8s.io/v1beta2/namespaces/ns/workloads/w/"
				  "status?fieldManager=kueue-admission");
	assert_true(str_eq_c(
		fake_transport_body(f.w.transport, id),
		"{\"metadata\":{\"uid\":\"u-1\",\"resourceVersion\":\"17\"},"
		"\"status\":{\"conditions\":[{\"lastTransitionTime\":\"1970-01-01T00:00:00Z\","
		"\"message\":\"m\",\"observedGeneration\":3,\"reason\":\"Started\","
		"\"status\":\"True\",\"type\":\"PodsReady\"}]}}"));
	fake_transport_answer(f.w.transport, id, 200, "{}");
	write_fixture_outcome(&f.w, SCHED_STALE);
	vec_clear(&before.conditions);
	vec_push(&before.conditions, pods); /* nothing is left out: it is applied */
	send(&f, 3);
	fake_transport_answer(f.w.transport, write_fixture_expect(&f.w, LINE), 200, "{}");
	write_fixture_outcome(&f.w, SCHED_DONE);
	workload_status_finish(&before);
	end(&f);
}

static void clusters_and_nodes_stay_until_they_are_taken_off(void **state)
{
	struct fixture f;
	struct jdoc *d;

	(void)state;
	begin(&f);
	f.status.cluster = "far";
	vec_push(&f.status.nominated, "near");
	vec_push(&f.status.unhealthy, "n1");
	d = format(&f);
	assert_string_equal(jdoc_path_str(d, "status.clusterName"), "far");
	assert_true(jdoc_is_str(jdoc_at(jdoc_path(d, "status.nominatedClusterNames"), 0), "near"));
	assert_string_equal(
		jdoc_path_str(jdoc_at(jdoc_path(d, "status.unhealthyNodes"), 0), "name"), "n1");
	assert_null(jdoc_path(d, "metadata.resourceVersion"));
	jdoc_destroy(d);
	end(&f);
}

static void nothing_is_sent_without_the_lease(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	f.w.refuse = true;
	send(&f, 1);
	write_fixture_outcome(&f.w, SCHED_CANCELLED);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(absent_fields_are_left_out),
		cmocka_unit_test(others_keep_their_conditions),
		cmocka_unit_test(readiness_is_ours_until_it_is_reported),
		cmocka_unit_test(without_a_condition_of_ours_no_list_is_named),
		cmocka_unit_test(updates_of_a_check_that_starts_anew_are_taken_off_once),
		cmocka_unit_test(a_workload_without_owner_is_finished_by_us),
		cmocka_unit_test(all_of_it),
		cmocka_unit_test(gates_in_each_dialect),
		cmocka_unit_test(the_answer_contains_the_version),
		cmocka_unit_test(writes_that_wait_are_coalesced),
		cmocka_unit_test(answers),
		cmocka_unit_test(transient_failures_are_sent_again),
		cmocka_unit_test(a_refusal_after_an_unanswered_attempt_says_nothing),
		cmocka_unit_test(a_write_may_be_good_for_one_version_only),
		cmocka_unit_test(a_list_is_emptied_by_a_write_of_its_own),
		cmocka_unit_test(an_old_admission_is_removed_by_a_write_of_its_own),
		cmocka_unit_test(a_condition_is_removed_when_the_apply_was_refused),
		cmocka_unit_test(clusters_and_nodes_stay_until_they_are_taken_off),
		cmocka_unit_test(nothing_is_sent_without_the_lease),
	};

	return cmocka_run_group_tests_name("workloads/writes/status_writer", tests, NULL, NULL);
}
