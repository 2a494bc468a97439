#include "scheduler/workloads/ingest/from_kueue.h"

#include <stdlib.h>
#include <string.h>

#include "api/kueue/kueue_workload.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/xmalloc.h"
#include "lib/decode_fixture.h"
#include "lib/field_flip.h"
#include "lib/unit.h"
#include "lib/workloads/workload_cache_fixture.h"
#include "scheduler/workloads/model/quota_store.h"
#include "scheduler/workloads/status/workload_status_pack.h"
#include "scheduler/workloads/status/workload_status_same.h"

static const char full[] =
	"\"conditions\":[{\"type\":\"Evicted\",\"status\":\"True\",\"reason\":\"AdmissionCheck\","
	"\"message\":\"e\",\"lastTransitionTime\":\"2023-01-02T00:00:00Z\","
	"\"observedGeneration\":4},{\"type\":\"Foreign\",\"status\":\"Unknown\"}],"
	"\"admission\":{\"clusterQueue\":\"team\",\"podSetAssignments\":[{\"name\":\"main\","
	"\"flavors\":{\"memory\":\"default\",\"cpu\":\"default\"},\"resourceUsage\":{"
	"\"memory\":\"1Gi\",\"cpu\":\"1500m\"},\"count\":3}]},"
	"\"requeueState\":{\"count\":2,\"requeueAt\":\"2023-01-03T00:00:00Z\"},"
	"\"admissionChecks\":[{\"name\":\"c\",\"state\":\"Retry\",\"message\":\"x\","
	"\"lastTransitionTime\":\"2023-01-02T00:00:00Z\",\"retryCount\":3,"
	"\"requeueAfterSeconds\":7,\"podSetUpdates\":[{\"name\":\"main\"}]}],"
	"\"resourceRequests\":[{\"name\":\"main\",\"resources\":{\"cpu\":\"2\"}}],"
	"\"accumulatedPastExecutionTimeSeconds\":11,"
	"\"schedulingStats\":{\"evictions\":[{\"reason\":\"Preempted\",\"underlyingCause\":\"\","
	"\"count\":5},{\"reason\":\"Deactivated\",\"underlyingCause\":\"AdmissionCheck\"}]},"
	"\"preemptionGates\":[{\"name\":\"g\",\"position\":\"Open\",\"lastTransitionTime\":"
	"\"2023-01-02T00:00:00Z\"}]";

static const struct workload_status *read(struct workload_cache_fixture *f, const char *status)
{
	workload_cache_fixture_init(f);
	workload_cache_fixture_world(f);
	workload_cache_fixture_workload(f, "one", 0, "2", status);
	return workload_cache_status(f->cache, workload_cache_fixture_get(f, "one"));
}

static void everything_of_this_manager_is_kept(void **state)
{
	struct workload_cache_fixture f;
	const struct workload_status *status = read(&f, full);
	const struct workload_status_podset *p;

	(void)state;
	assert_int_equal(status->conditions.n, 2);
	assert_string_equal(status->conditions.v[0].reason, "AdmissionCheck");
	assert_int_equal(status->conditions.v[0].generation, 4);
	assert_true(status->has_admission);
	assert_string_equal(status->queue, "team");
	p = &status->podsets.v[0];
	assert_int_equal(p->count, 3);
	assert_int_equal(p->n, 2);
	/* By id of the resource, however the object orders them. */
	assert_true(p->v[0].resource < p->v[1].resource);
	for (size_t i = 0; i < p->n; i++) {
		const char *name =
			quota_resource_name(workload_cache_model(f.cache), p->v[i].resource);

		assert_string_equal(p->v[i].flavor, "default");
		assert_int_equal(p->v[i].amount, str_streq(name, "cpu") ? 1500 : 1 << 30);
	}
	assert_int_equal(status->requests.v[0].v[0].amount, 2000);
	assert_true(status->has_requeue_count && status->requeue_count == 2);
	assert_true(status->has_requeue_at &&
		    status->requeue_at == INT64_C(1672704000) * 1000000000);
	assert_true(status->has_past_seconds && status->past_seconds == 11);
	assert_int_equal(status->checks.v[0].state, QUOTA_CHECK_RETRY);
	assert_int_equal(status->checks.v[0].retries, 3);
	assert_true(status->checks.v[0].has_updates);
	assert_int_equal(status->checks.v[0].requeue_after, 7);
	assert_int_equal(status->evictions.n, 2);
	assert_int_equal(status->evictions.v[0].count, 5);
	assert_string_equal(status->evictions.v[1].cause, "AdmissionCheck");
	assert_int_equal(status->evictions.v[1].count, 0);
	assert_true(status->gates.v[0].open);
	workload_cache_fixture_finish(&f);
}

static void absence_is_kept(void **state)
{
	struct workload_cache_fixture f;
	const struct workload_status *status = read(&f, "");

	(void)state;
	assert_int_equal(
		status->conditions.n + status->checks.n + status->gates.n + status->evictions.n, 0);
	assert_int_equal(status->podsets.n + status->requests.n, 0);
	assert_false(status->has_admission || status->has_requeue_count || status->has_requeue_at ||
		     status->has_past_seconds);
	assert_null(status->queue);
	workload_cache_fixture_finish(&f);
}

static void states_of_checks_and_gates_have_their_names(void **state)
{
	static const struct {
		const char *text;
		enum quota_check_state state;
	} checks[] = {
		{ "Pending", QUOTA_CHECK_PENDING },   { "Ready", QUOTA_CHECK_READY },
		{ "Retry", QUOTA_CHECK_RETRY },       { "Rejected", QUOTA_CHECK_REJECTED },
		{ "Something", QUOTA_CHECK_PENDING },
	};
	static const struct {
		const char *text;
		bool open;
	} gates[] = {
		{ "", false },
		{ ",\"position\":\"Open\"", true },
		{ ",\"position\":\"Closed\"", false },
		{ ",\"state\":\"Open\"", true },
		{ ",\"position\":\"Closed\",\"state\":\"Open\"", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
		CLEANUP(xmalloc_freep)
		char *text = xmalloc_printf(
			"\"admissionChecks\":[{\"name\":\"c\",\"state\":\"%s\"}]", checks[i].text);
		struct workload_cache_fixture f;

		unit_row(checks[i].text);
		assert_int_equal(read(&f, text)->checks.v[0].state, checks[i].state);
		workload_cache_fixture_finish(&f);
	}
	for (size_t i = 0; i < ARRAY_LEN(gates); i++) {
		CLEANUP(xmalloc_freep)
		char *text =
			xmalloc_printf("\"preemptionGates\":[{\"name\":\"g\"%s}]", gates[i].text);
		struct workload_cache_fixture f;

		unit_row(gates[i].text);
		assert_int_equal(read(&f, text)->gates.v[0].open, gates[i].open);
		workload_cache_fixture_finish(&f);
	}
}

struct flipped {
	struct quota_model *q;
	const struct api_workload *w;
	const struct workload_status *before;
	size_t n;
};

static void read_into(struct quota_model *q, const struct api_workload *w,
		      struct workload_status *to)
{
	to->arena = arena_create(0);
	from_kueue_status(q, w, to);
}

static void finish(struct workload_status *status)
{
	struct arena *arena = status->arena;

	workload_status_finish(status);
	arena_destroy(arena);
}

/* Times of transition, what was observed, and fields that others decide about. */
static bool is_of_no_matter(const char *path)
{
	static const char *const paths[] = {
		"conditions.lastTransitionTime",
		"conditions.observedGeneration",
		"admissionChecks.lastTransitionTime",
		"preemptionGates.lastTransitionTime",
		"preemptionGates.state", /* there is a position */
		"preemptionCost",
	};

	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		if (str_streq(path, paths[i])) {
			return true;
		}
	}
	return strncmp(path, "admissionChecks.podSetUpdates", 29) == 0 ||
	       strncmp(path, "reclaimablePods", 15) == 0 ||
	       strncmp(path, "admission.podSetAssignments.topology", 36) == 0;
}

static void expect_a_change(void *ctx, const char *path)
{
	struct flipped *f = ctx;
	struct workload_status now = { 0 }, kept = { .arena = arena_create(0) };
	struct workload_status_pack *pack;

	print_message("%s\n", path);
	read_into(f->q, f->w, &now);
	assert_int_equal(workload_status_same(f->before, &now), is_of_no_matter(path));
	pack = workload_status_pack_make(&now);
	workload_status_pack_read(pack, &kept);
	assert_true(workload_status_same(&now, &kept));
	assert_true(workload_status_same(&kept, &now));
	finish(&kept);
	finish(&now);
	free(pack);
	f->n++;
}

/* A change of any field of the status is a change: it is read, compared and kept. */
static void every_field_matters(void **state)
{
	struct workload_cache_fixture f;
	struct flipped flipped = { .n = 0 };
	struct workload_status before = { 0 };
	struct api_workload w;
	const struct field_table *fields = NULL;

	(void)state;
	(void)read(&f, "");
	decode_fixture(&kueue_workload_fields,
		       "{'metadata':{'name':'w'},'status':{"
		       "'accumulatedPastExecutionTimeSeconds':11,"
		       "'admission':{'clusterQueue':'team','podSetAssignments':[{'count':3,"
		       "'flavors':{'cpu':'default'},'name':'main','resourceUsage':{'cpu':'1'}}]},"
		       "'admissionChecks':[{'lastTransitionTime':'2023-01-02T00:00:00Z',"
		       "'message':'x','name':'c','requeueAfterSeconds':7,'retryCount':3,"
		       "'state':'Retry'}],"
		       "'clusterName':'one','conditions':[{'type':'Evicted','status':'True',"
		       "'reason':'AdmissionCheck','message':'e',"
		       "'lastTransitionTime':'2023-01-02T00:00:00Z','observedGeneration':4}],"
		       "'nominatedClusterNames':['one','two'],"
		       "'preemptionGates':[{'name':'g','position':'Open',"
		       "'lastTransitionTime':'2023-01-02T00:00:00Z'}],"
		       "'requeueState':{'count':2,'requeueAt':'2023-01-03T00:00:00Z'},"
		       "'resourceRequests':[{'name':'main','resources':{'cpu':'2'}}],"
		       "'schedulingStats':{'evictions':[{'reason':'Preempted',"
		       "'underlyingCause':'u','count':5}]},"
		       "'unhealthyNodes':[{'name':'n1'}]}}",
		       &w);
	for (unsigned i = 0; i < kueue_workload_fields.count; i++) {
		if (str_streq(kueue_workload_fields.rows[i].name, "status")) {
			fields = kueue_workload_fields.rows[i].sub;
		}
	}
	flipped.q = workload_cache_model(f.cache);
	flipped.w = &w;
	read_into(flipped.q, &w, &before);
	flipped.before = &before;
	field_flip_each(fields, &w.status, expect_a_change, &flipped);
	assert_true(flipped.n > 40);
	finish(&before);
	workload_cache_fixture_finish(&f);
}

/* Usages are compared in the order of the resources' ids, whatever the object's order. */
static void usages_are_in_the_order_of_resources(void **state)
{
	static const char *const resources[] = { "cpu", "memory", "pods", "a/x", "b/y" };
	struct workload_cache_fixture f;

	(void)state;
	/* The ids follow the order of first use; the texts are always sorted by name. */
	for (size_t i = 0; i < ARRAY_LEN(resources); i++) {
		struct workload_status status = { 0 };
		struct api_workload w;

		unit_row(resources[i]);
		(void)read(&f, "");
		for (size_t k = ARRAY_LEN(resources); k-- > 0;) {
			(void)quota_resource(workload_cache_model(f.cache),
					     str_of(resources[(i + k) % ARRAY_LEN(resources)]));
		}
		decode_fixture(&kueue_workload_fields,
			       "{'metadata':{'name':'w'},'status':{'admission':{'clusterQueue':'q',"
			       "'podSetAssignments':[{'name':'main','resourceUsage':{"
			       "'cpu':'1','memory':'2','pods':'3','a/x':'4','b/y':'5'}}]},"
			       "'resourceRequests':[{'name':'main','resources':{"
			       "'cpu':'1','memory':'2','pods':'3','a/x':'4','b/y':'5'}}]}}",
			       &w);
		read_into(workload_cache_model(f.cache), &w, &status);
		for (size_t k = 1; k < 5; k++) {
			assert_true(status.podsets.v[0].v[k - 1].resource <
				    status.podsets.v[0].v[k].resource);
			assert_true(status.requests.v[0].v[k - 1].resource <
				    status.requests.v[0].v[k].resource);
		}
		finish(&status);
		workload_cache_fixture_finish(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_of_this_manager_is_kept),
		cmocka_unit_test(absence_is_kept),
		cmocka_unit_test(states_of_checks_and_gates_have_their_names),
		cmocka_unit_test(every_field_matters),
		cmocka_unit_test(usages_are_in_the_order_of_resources),
	};

	return cmocka_run_group_tests_name("workloads/ingest/from_kueue_status", tests,
					   decode_fixture_open, decode_fixture_close);
}
