#include "scheduler/multikueue/records/fleet_kinds.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "kube/reflector/reflector.h"
#include "scheduler/base/message.h"

static bool has(const enum sched_resource *kinds, enum sched_resource r)
{
	for (size_t i = 0; kinds[i] != SCHED_RESOURCE_COUNT_; i++) {
		if (kinds[i] == r) {
			return true;
		}
	}
	return false;
}

static void test_kinds(void **state UNUSED)
{
	assert_true(has(fleet_kinds_watched(false, false), SCHED_WORKLOADS));
	assert_true(has(fleet_kinds_watched(false, false), SCHED_SECRETS));
	assert_false(has(fleet_kinds_watched(false, false), SCHED_JOBS));
	assert_false(has(fleet_kinds_watched(false, false), SCHED_NAMESPACES));
	assert_true(has(fleet_kinds_watched(true, false), SCHED_WORKLOADS));
	assert_false(has(fleet_kinds_watched(true, false), SCHED_PODS));
	assert_true(has(fleet_kinds_watched(true, true), SCHED_PODS));
	assert_true(has(fleet_kinds_watched(true, false), SCHED_JOBS));
	assert_true(has(fleet_kinds_watched(true, false), SCHED_NAMESPACES));
}

/* Texts are kept where the manager makes other objects of them, and nowhere else. */
static void test_texts(void **state UNUSED)
{
	static const struct {
		const char *about, *json;
		enum sched_resource r;
		bool manages, kept;
	} rows[] = {
		{ "a Workload with a check",
		  "{\"status\":{\"admissionChecks\":[{\"name\":\"a\",\"state\":\"Pending\"}]}}",
		  SCHED_WORKLOADS, true, true },
		{ "for the orchestrator alone",
		  "{\"status\":{\"admissionChecks\":[{\"name\":\"a\",\"state\":\"Pending\"}]}}",
		  SCHED_WORKLOADS, false, false },
		{ "without a check", "{\"spec\":{}}", SCHED_WORKLOADS, true, false },
		{ "a Job that runs elsewhere",
		  "{\"spec\":{\"managedBy\":\"kueue.x-k8s.io/multikueue\"}}", SCHED_JOBS, true,
		  true },
		{ "a Job that runs here", "{\"spec\":{}}", SCHED_JOBS, true, false },
		{ "a Secret", "{\"data\":{}}", SCHED_SECRETS, true, false },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct reflector_event e = { .kind = REFLECTOR_UPSERT,
						   .key = STR_LIT("ns/a"),
						   .object = str_of(rows[i].json) };
		struct sched_msg *m = fleet_kinds_message(rows[i].manages, rows[i].r, &e);

		unit_row(rows[i].about);
		assert_int_equal(m->kind, SCHED_MSG_UPSERT);
		assert_true((m->json.p != NULL) == rows[i].kept);
		message_free(m);
	}
}

static void test_other_events(void **state UNUSED)
{
	const struct reflector_event deleted = { .kind = REFLECTOR_DELETE, .key = STR_LIT("ns/a") },
				     relisted = { .kind = REFLECTOR_RELISTED };
	struct sched_msg *m = fleet_kinds_message(true, SCHED_JOBS, &deleted);

	assert_int_equal(m->kind, SCHED_MSG_DELETE);
	message_free(m);
	assert_null(fleet_kinds_message(true, SCHED_JOBS, &relisted));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_other_events),
	};

	return cmocka_run_group_tests_name("fleet/kinds", tests, NULL, NULL);
}
