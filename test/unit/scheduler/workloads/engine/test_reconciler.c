#include "scheduler/workloads/engine/reconciler.h"

#include <inttypes.h>
#include <string.h>

#include "api/kueue/kueue_workload.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/xmalloc.h"
#include "kube/pool.h"
#include "kube/recorder.h"
#include "lib/net/fake_transport.h"
#include "lib/unit.h"
#include "lib/workloads/workload_cache_fixture.h"
#include "scheduler/base/message_decode.h"
#include "scheduler/pods/ingest/cache.h"
#include "scheduler/workloads/conf/kueue_conf.h"
#include "scheduler/workloads/controller/owner_controller.h"
#include "scheduler/workloads/status/workload_status.h"

#define PATCH "PATCH /apis/kueue.x-k8s.io/v1beta2/namespaces/ns/workloads/one"
#define DELETE "DELETE /apis/kueue.x-k8s.io/v1beta2/namespaces/ns/workloads/one"
#define EVENT "POST /api/v1/namespaces/ns/events"

struct fixture {
	struct workload_cache_fixture c;
	struct clock_fake clock;
	struct fake_transport *transport;
	struct recorder *recorder;
	struct reconciler *reconciler;
	size_t events;
};

static void on_events(void *ctx, const struct workload *w,
		      const struct workload_status_events *events)
{
	struct fixture *f = ctx;

	(void)w;
	f->events += events->n;
}

static void begin(struct fixture *f)
{
	struct pool_options base = { .timeout_ns = CLOCK_NS_PER_S,
				     .backoff_min_ns = CLOCK_NS_PER_MS,
				     .backoff_max_ns = CLOCK_NS_PER_S };
	struct reconciler_options opt = { .base = &base, .on_events = on_events, .ctx = f };

	memset(f, 0, sizeof(*f));
	workload_cache_fixture_init(&f->c);
	workload_cache_fixture_world(&f->c);
	workload_cache_fixture_later(&f->c, 2);
	clock_fake_init(&f->clock, f->c.now);
	f->transport = fake_transport_create(&f->clock);
	base.transport = fake_transport_base(f->transport);
	base.clock = &f->clock.base;
	f->recorder = recorder_create(&base, "headgate", "here");
	opt.recorder = f->recorder;
	opt.cache = f->c.cache;
	opt.conf = f->c.conf;
	f->reconciler = reconciler_create(&opt);
	owner_controller_synced(reconciler_owners(f->reconciler));
}

static void end(struct fixture *f)
{
	reconciler_destroy(f->reconciler);
	recorder_destroy(f->recorder);
	fake_transport_destroy(f->transport);
	workload_cache_fixture_finish(&f->c);
}

/* Both the cache and the reconciler get the object, as in the scheduler. */
static void see(struct fixture *f, const char *meta, const char *spec, const char *status)
{
	CLEANUP(xmalloc_freep)
	char *json = xmalloc_printf(
		"{\"metadata\":{\"name\":\"one\",\"namespace\":\"ns\",\"uid\":\"u-one\","
		"\"generation\":1,\"resourceVersion\":\"%" PRId64
		"\"%s},\"spec\":{\"queueName\":\"lq\","
		"\"podSets\":[{\"name\":\"main\",\"count\":1,\"template\":{\"spec\":{"
		"\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}}]%s},"
		"\"status\":{%s}}",
		f->c.version + 1, meta, spec, status);
	struct sched_msg *m =
		message_decode(SCHED_WORKLOADS, STR_LIT("ns/one"), str_of(json), ++f->c.version);

	unsigned seen = f->c.seen;

	workload_cache_apply(f->c.cache, m, f->c.now);
	/* One that is deferred waits for the outcome of a write. */
	if (f->c.seen != seen) {
		reconciler_workload(f->reconciler, STR_LIT("ns/one"), m);
	}
	message_free(m);
}

static int64_t step(struct fixture *f)
{
	struct pool *pools[5];
	int64_t next = reconciler_step(f->reconciler, f->c.now);
	size_t n = reconciler_pools(f->reconciler, pools, 4);

	pools[n++] = recorder_pool(f->recorder);
	for (size_t i = 0; i < n; i++) {
		while (pool_step(pools[i])) {
		}
	}
	return next;
}

static bool sent(struct fixture *f, const char *line, const char *what)
{
	uint64_t id = fake_transport_expect(f->transport, line);
	bool has = strstr(fake_transport_body(f->transport, id).p, what) != NULL;

	fake_transport_answer(f->transport, id, 200, "{}");
	return has;
}

static void quota_without_a_job_is_released_at_once(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	see(&f, "", ",\"active\":false", WORKLOAD_CACHE_FIXTURE_ADMITTED("1"));
	(void)step(&f);
	(void)workload_cache_fixture_write(&f.c, "one");
	assert_string_equal(workload_cache_fixture_reason(&f.c, "one", "Evicted"), "Deactivated");
	assert_string_equal(workload_cache_fixture_reason(&f.c, "one", "QuotaReserved"),
			    "Deactivated");
	/* Its own result changes nothing. */
	(void)step(&f);
	workload_cache_fixture_no_write(&f.c);
	fake_transport_expect_none(f.transport);
	end(&f);
}

static const char evicted[] =
	"\"conditions\":[{\"type\":\"QuotaReserved\",\"status\":\"True\",\"reason\":"
	"\"QuotaReserved\"},{\"type\":\"Admitted\",\"status\":\"True\",\"reason\":"
	"\"Admitted\","
	"\"lastTransitionTime\":\"2023-01-01T00:00:00Z\"},{\"type\":\"Evicted\",\"status\":"
	"\"True\",\"reason\":\"Preempted\"}],\"admission\":{\"clusterQueue\":\"team\","
	"\"podSetAssignments\":[{\"name\":\"main\",\"flavors\":{\"cpu\":\"default\"},"
	"\"resourceUsage\":{\"cpu\":\"1\"},\"count\":1}]}";

static void the_time_that_it_ran_is_kept_when_it_is_released(void **state)
{
	const struct workload_status *status;
	struct fixture f;

	(void)state;
	begin(&f);
	see(&f, "", "", evicted);
	(void)step(&f);
	status = workload_cache_status(f.c.cache, workload_cache_fixture_get(&f.c, "one"));
	assert_true(status->has_past_seconds);
	assert_int_equal(status->past_seconds,
			 (f.c.now - INT64_C(1672531200) * CLOCK_NS_PER_S) / CLOCK_NS_PER_S);
	end(&f);
}

static void a_limit_of_time_deactivates_when_it_is_over(void **state)
{
	struct fixture f;
	int64_t next;

	(void)state;
	begin(&f);
	f.c.conf->times.wait_pods_ready = false;
	see(&f, "", ",\"maximumExecutionTimeSeconds\":30000000",
	    WORKLOAD_CACHE_FIXTURE_ADMITTED("1"));
	next = step(&f);
	assert_true(next > f.c.now && next != INT64_MAX);
	fake_transport_expect_none(f.transport);
	f.c.now = next - 1;
	assert_int_equal(step(&f), next);
	assert_string_equal(workload_cache_fixture_reason(&f.c, "one", "DeactivationTarget"), "");
	f.c.now = next;
	(void)step(&f);
	assert_string_equal(workload_cache_fixture_reason(&f.c, "one", "DeactivationTarget"),
			    "MaximumExecutionTimeExceeded");
	assert_int_equal(f.events, 1);
	end(&f);
}

static void marked_for_deactivation_it_is_switched_off(void **state)
{
	CLEANUP(xmalloc_freep) char *body = NULL;
	struct fixture f;

	(void)state;
	begin(&f);
	see(&f, "", "",
	    "\"conditions\":[{\"type\":\"DeactivationTarget\",\"status\":\"True\",\"reason\":"
	    "\"AdmissionCheck\",\"message\":\"m\"}]");
	(void)step(&f);
	/* Only as it was seen: it may be switched on again by the time that this is sent. */
	body = xmalloc_printf("{\"metadata\":{\"uid\":\"u-one\",\"resourceVersion\":\"%" PRId64
			      "\"},\"spec\":{\"active\":false}}",
			      f.c.version);
	assert_true(sent(&f, PATCH, body));
	end(&f);
}

/* An admission policy refuses the write: an event of the Workload reports it. */
static void a_refused_write_is_reported(void **state)
{
	struct fixture f;
	uint64_t id;

	(void)state;
	begin(&f);
	see(&f, "", "",
	    "\"conditions\":[{\"type\":\"DeactivationTarget\",\"status\":\"True\",\"reason\":"
	    "\"AdmissionCheck\",\"message\":\"m\"}]");
	(void)step(&f);
	id = fake_transport_expect(f.transport, PATCH);
	fake_transport_answer(f.transport, id, 403, "{\"message\":\"no, by policy\"}");
	(void)step(&f);
	assert_true(sent(&f, EVENT, "no, by policy"));
	end(&f);
}

/* The event follows the deletion. */
static void finished_workloads_are_deleted_in_time(void **state)
{
	struct fixture f;
	uint64_t id;

	(void)state;
	begin(&f);
	f.c.conf->times.keep_finished_ns = CLOCK_NS_PER_S;
	see(&f, "", "",
	    "\"conditions\":[{\"type\":\"Finished\",\"status\":\"True\",\"reason\":"
	    "\"Succeeded\",\"message\":\"m\",\"lastTransitionTime\":\"2020-01-01T00:00:00Z\"}]");
	(void)step(&f);
	id = fake_transport_expect(f.transport, DELETE);
	fake_transport_expect_none(f.transport);
	fake_transport_answer(f.transport, id, 200, "{}");
	(void)step(&f);
	assert_true(sent(&f, EVENT, "\"Deleted\""));
	end(&f);
}

static void see_job_of(struct fixture *f, const char *meta, bool suspended)
{
	CLEANUP(xmalloc_freep)
	char *json = xmalloc_printf(
		"{\"metadata\":{\"name\":\"j\",\"namespace\":\"ns\",\"uid\":\"j-1\","
		"\"resourceVersion\":\"3\"%s},\"spec\":{\"suspend\":%s,\"template\":{\"spec\":{"
		"\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}}}",
		meta, suspended ? "true" : "false");
	struct sched_msg *m = message_decode(SCHED_JOBS, STR_LIT("ns/j"), str_of(json), 3);

	owner_controller_object(reconciler_owners(f->reconciler), m);
	message_free(m);
}

/* A Job needs them to start: its namespace, and the flavor of its Workload. */
static void see_world(struct fixture *f)
{
	struct sched_msg *all[] = {
		message_decode(SCHED_NAMESPACES, STR_LIT("ns"),
			       STR_LIT("{\"metadata\":{\"name\":\"ns\"}}"), 3),
		message_decode(SCHED_FLAVORS, STR_LIT("default"),
			       STR_LIT("{\"metadata\":{\"name\":\"default\"}}"), 3),
	};

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		owner_controller_object(reconciler_owners(f->reconciler), all[i]);
		message_free(all[i]);
	}
}

static void see_job(struct fixture *f, bool suspended)
{
	see_job_of(f, "", suspended);
}

#define OF_JOB                                                                                     \
	",\"ownerReferences\":[{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"name\":\"j\","      \
	"\"uid\":\"j-1\",\"controller\":true}]"
#define OF_FOO                                                                                     \
	",\"ownerReferences\":[{\"apiVersion\":\"x/v1\",\"kind\":\"Foo\",\"name\":\"j\","          \
	"\"uid\":\"j-1\",\"controller\":true}]"

/* The quota of an evicted Workload goes when its job has stopped; another controller decides that
 * for its own kinds. */
static void quota_stays_as_long_as_the_job_runs(void **state)
{
	static const struct {
		const char *meta;
		bool has_job, suspended, released;
	} rows[] = {
		{ OF_JOB, true, true, true },
		{ OF_JOB, true, false, false },
		{ OF_FOO, false, false, false },
		{ "", false, false, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct workload_status *status;
		struct fixture f;

		unit_row(rows[i].meta);
		begin(&f);
		if (rows[i].has_job) {
			see_job(&f, rows[i].suspended);
		}
		see(&f, rows[i].meta, "", evicted);
		(void)step(&f);
		status = workload_cache_status(f.c.cache, workload_cache_fixture_get(&f.c, "one"));
		assert_int_equal(workload_status_is_true(status, "QuotaReserved"),
				 !rows[i].released);
		end(&f);
	}
}

/* The API server still has it as admitted: the write that evicts it is under way. */
static void a_job_does_not_start_once_its_eviction_is_decided(void **state)
{
	static const struct {
		const char *spec;
		bool starts;
	} rows[] = { { "", true }, { ",\"active\":false", false } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f;

		unit_row_number(i);
		begin(&f);
		see_world(&f);
		see(&f, OF_JOB, rows[i].spec, WORKLOAD_CACHE_FIXTURE_ADMITTED("1"));
		(void)step(&f);
		see_job_of(&f, ",\"labels\":{\"kueue.x-k8s.io/queue-name\":\"lq\"}", true);
		(void)step(&f);
		(void)fake_transport_expect_prefix(f.transport, PATCH "/status?"); /* PodsReady */
		assert_int_equal(fake_transport_pending(f.transport), rows[i].starts);
		if (rows[i].starts) {
			assert_true(sent(&f, "PATCH /apis/batch/v1/namespaces/ns/jobs/j",
					 "\"suspend\":false"));
		}
		end(&f);
	}
}

/* With the time at which it was evicted. */
static void see_deactivated(struct fixture *f, bool active)
{
	see(f, OF_JOB, active ? "" : ",\"active\":false",
	    "\"conditions\":[{\"type\":\"Evicted\",\"status\":\"True\",\"reason\":"
	    "\"DeactivatedDueToAdmissionCheck\",\"message\":\"m\",\"lastTransitionTime\":"
	    "\"2023-11-14T22:00:00Z\"}]");
}

static void the_job_of_what_was_deactivated_goes(void **state)
{
	struct fixture f;
	int64_t next;

	(void)state;
	begin(&f);
	f.c.conf->times.keep_deactivated_ns = 30000000 * CLOCK_NS_PER_S;
	see_job(&f, true);
	see_deactivated(&f, false);
	next = step(&f);
	assert_true(next > f.c.now && next != INT64_MAX);
	fake_transport_expect_none(f.transport);
	f.c.now = next;
	(void)step(&f);
	assert_true(sent(&f, "DELETE /apis/batch/v1/namespaces/ns/jobs/j",
			 "\"preconditions\":{\"uid\":\"j-1\"},\"propagationPolicy\":"
			 "\"Background\"}"));
	(void)step(&f);
	assert_true(sent(&f, EVENT, "\"Deleted\""));
	end(&f);
}

/* The answer to the write of its eviction was lost, and the next write was refused because the
 * Workload had changed: it may be evicted, although it was admitted when it was read. */
static void a_status_that_is_outdated_is_read_again(void **state)
{
	struct fixture f;
	const struct workload *w;
	uint64_t write;

	(void)state;
	begin(&f);
	see(&f, OF_JOB, ",\"active\":false", WORKLOAD_CACHE_FIXTURE_ADMITTED("1"));
	(void)step(&f);
	write = workload_cache_fixture_write(&f.c, "one");
	assert_string_equal(workload_cache_fixture_reason(&f.c, "one", "Evicted"), "Deactivated");
	w = workload_cache_fixture_get(&f.c, "one");
	assert_false(workload_cache_is_outdated(w));
	workload_cache_fixture_done(&f.c, "one", write, SCHED_STALE, 0);
	assert_true(workload_cache_is_outdated(w));
	f.c.version--; /* as it was read before */
	see(&f, OF_JOB, ",\"active\":false", WORKLOAD_CACHE_FIXTURE_ADMITTED("1"));
	assert_true(workload_cache_is_outdated(w));
	assert_true(workload_cache_next_unread(f.c.cache, &w));
	assert_string_equal(w->key, "ns/one");
	assert_false(workload_cache_next_unread(f.c.cache, &w));
	see(&f, OF_JOB, "", "");
	assert_false(workload_cache_is_outdated(workload_cache_fixture_get(&f.c, "one")));
	end(&f);
}

static void it_is_activated_again_in_time(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	f.c.conf->times.keep_deactivated_ns = 0;
	see_job(&f, true);
	see_deactivated(&f, false);
	(void)reconciler_step(f.reconciler, f.c.now); /* nothing is sent yet */
	workload_cache_fixture_done(&f.c, "one", workload_cache_fixture_write(&f.c, "one"),
				    SCHED_DONE, f.c.version);
	see_deactivated(&f, true);
	(void)step(&f);
	fake_transport_expect_none(f.transport);
	end(&f);
}

/* Our finalizer is removed, since no other controller does it; those of others stay. */
static void an_orphan_loses_its_finalizer(void **state)
{
	CLEANUP(xmalloc_freep) char *body = NULL;
	struct fixture f;

	(void)state;
	begin(&f);
	see(&f,
	    ",\"deletionTimestamp\":\"2023-01-01T00:00:00Z\",\"finalizers\":[\"a/b\","
	    "\"kueue.x-k8s.io/resource-in-use\"]",
	    "", "");
	(void)step(&f);
	body = xmalloc_printf("\"uid\":\"u-one\",\"resourceVersion\":\"%" PRId64
			      "\",\"finalizers\":[\"a/b\"]",
			      f.c.version);
	assert_true(sent(&f, PATCH, body));
	end(&f);
}

static void queues_that_change_are_looked_at(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	see(&f, "", "", "");
	(void)step(&f);
	workload_cache_fixture_gone(&f.c, SCHED_LOCAL_QUEUES, "ns/lq");
	(void)workload_cache_settle(f.c.cache, f.c.now);
	(void)step(&f);
	assert_string_equal(workload_cache_fixture_reason(&f.c, "one", "QuotaReserved"),
			    "Misconfigured");
	workload_cache_fixture_gone(&f.c, SCHED_WORKLOADS, "ns/one");
	reconciler_workload(f.reconciler, STR_LIT("ns/one"), NULL);
	assert_int_equal(step(&f), INT64_MAX);
	end(&f);
}

/* Quota that a ClusterQueue gave and that waits for a check goes with the queue. */
static void a_queue_that_is_deleted_takes_its_reservations(void **state)
{
	static const struct {
		const char *meta, *spec;
		bool keeps;
	} rows[] = {
		{ "", "", true },
		{ ",\"deletionTimestamp\":\"2023-01-01T00:00:00Z\",\"finalizers\":[\"a/b\"]", "",
		  false },
		{ "", ",\"stopPolicy\":\"Hold\"", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(xmalloc_freep)
		char *queue = xmalloc_printf(
			"{\"metadata\":{\"name\":\"team\",\"generation\":2%s},\"spec\":{"
			"\"namespaceSelector\":{},\"admissionChecksStrategy\":{"
			"\"admissionChecks\":[{\"name\":\"c\"}]},\"resourceGroups\":[{"
			"\"coveredResources\":[\"cpu\"],\"flavors\":[{\"name\":\"default\","
			"\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":\"3\"}]}]}]%s}}",
			rows[i].meta, rows[i].spec);
		struct fixture f;
		const struct workload_status *status;

		unit_row_number(i);
		begin(&f);
		workload_cache_fixture_see(
			&f.c, SCHED_ADMISSION_CHECKS, "c",
			"{\"metadata\":{\"name\":\"c\"},\"status\":{\"conditions\":[{\"type\":"
			"\"Active\",\"status\":\"True\"}]}}");
		workload_cache_fixture_see(&f.c, SCHED_CLUSTER_QUEUES, "team", queue);
		see(&f, "", "",
		    "\"admissionChecks\":[{\"name\":\"c\",\"state\":\"Pending\"}],\"conditions\":[{"
		    "\"type\":\"QuotaReserved\",\"status\":\"True\",\"reason\":"
		    "\"QuotaReserved\"}],\"admission\":{\"clusterQueue\":\"team\","
		    "\"podSetAssignments\":[{\"name\":\"main\",\"flavors\":{\"cpu\":\"default\"},"
		    "\"resourceUsage\":{\"cpu\":\"1\"},\"count\":1}]}");
		(void)workload_cache_settle(f.c.cache, f.c.now);
		(void)step(&f);
		status = workload_cache_status(f.c.cache, workload_cache_fixture_get(&f.c, "one"));
		assert_int_equal(status->has_admission, rows[i].keeps);
		end(&f);
	}
}

/* The cycle and the reconciler both say Misconfigured: what the cycle found stays while it holds.
 */
static void a_namespace_that_is_refused_is_left_to_the_cycle(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	workload_cache_fixture_gone(&f.c, SCHED_NAMESPACES, "ns");
	see(&f, "", "", "");
	workload_cache_fixture_cycle(&f.c);
	assert_string_equal(workload_cache_fixture_reason(&f.c, "one", "QuotaReserved"),
			    "Misconfigured");
	(void)step(&f);
	assert_string_equal(workload_cache_fixture_reason(&f.c, "one", "QuotaReserved"),
			    "Misconfigured");
	workload_cache_fixture_gone(&f.c, SCHED_LOCAL_QUEUES, "ns/lq");
	workload_cache_fixture_world(&f.c); /* both are there again */
	(void)workload_cache_settle(f.c.cache, f.c.now);
	(void)step(&f);
	assert_string_equal(workload_cache_fixture_reason(&f.c, "one", "QuotaReserved"),
			    "PendingEvaluation");
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quota_without_a_job_is_released_at_once),
		cmocka_unit_test(the_time_that_it_ran_is_kept_when_it_is_released),
		cmocka_unit_test(a_limit_of_time_deactivates_when_it_is_over),
		cmocka_unit_test(marked_for_deactivation_it_is_switched_off),
		cmocka_unit_test(a_refused_write_is_reported),
		cmocka_unit_test(finished_workloads_are_deleted_in_time),
		cmocka_unit_test(quota_stays_as_long_as_the_job_runs),
		cmocka_unit_test(a_job_does_not_start_once_its_eviction_is_decided),
		cmocka_unit_test(the_job_of_what_was_deactivated_goes),
		cmocka_unit_test(a_status_that_is_outdated_is_read_again),
		cmocka_unit_test(it_is_activated_again_in_time),
		cmocka_unit_test(an_orphan_loses_its_finalizer),
		cmocka_unit_test(queues_that_change_are_looked_at),
		cmocka_unit_test(a_queue_that_is_deleted_takes_its_reservations),
		cmocka_unit_test(a_namespace_that_is_refused_is_left_to_the_cycle),
	};

	return cmocka_run_group_tests_name("workloads/engine/reconciler", tests, NULL, NULL);
}
