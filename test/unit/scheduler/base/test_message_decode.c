#include <string.h>

#include "api/kueue/kueue.h"
#include "base/attrs.h"
#include "enc/json/cut.h"
#include "kube/reflector/reflector.h"
#include "lib/pods/cache_fixture.h"
#include "lib/unit.h"
#include "scheduler/base/message_decode.h"

static void test_decodes_every_resource(void **state)
{
	(void)state;
	for (int r = 0; r < SCHED_RESOURCE_COUNT_; r++) {
		struct sched_msg *m = message_decode((enum sched_resource)r, STR_LIT("ns/x"),
						     STR_LIT("{\"metadata\":{\"name\":\"x\"}}"), 7);

		assert_int_equal(m->kind, SCHED_MSG_UPSERT);
		assert_int_equal(m->resource, r);
		assert_true(str_eq_c(m->key, "ns/x"));
		assert_int_equal(m->resource_version, 7);
		assert_non_null(m->object);
		message_free(m);
	}
}

static void test_items_of_a_list(void **state)
{
	static const struct {
		enum sched_resource r;
		struct cut_meta meta;
		const char *key;
	} rows[] = {
		{ SCHED_WORKLOADS, { STR_LIT("ns"), STR_LIT("x"), STR_LIT("9") }, "ns/x" },
		{ SCHED_COHORTS, { .name = STR_LIT("x"), .resource_version = STR_LIT("9") }, "x" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct sched_msg *m = message_decode_item(
			rows[i].r, STR_LIT("{\"metadata\":{\"name\":\"x\"}}"), &rows[i].meta);

		unit_row(rows[i].key);
		assert_int_equal(m->kind, SCHED_MSG_UPSERT);
		assert_int_equal(m->resource, rows[i].r);
		assert_true(str_eq_c(m->key, rows[i].key));
		assert_int_equal(m->resource_version, 0);
		message_free(m);
	}
}

static void test_names_the_path_of_a_fault(void **state)
{
	struct sched_msg *m = message_decode(SCHED_PODS, STR_LIT("ns/x"),
					     STR_LIT("{\"spec\":{\"containers\":[{\"resources\":{"
						     "\"requests\":{\"cpu\":\"1x\"}}}]"
						     "}}"),
					     7);

	(void)state;
	assert_int_equal(m->kind, SCHED_MSG_BAD_OBJECT);
	assert_true(str_eq_c(m->key, "ns/x"));
	assert_non_null(strstr(m->text, "spec.containers[0].resources.requests.cpu"));
	message_free(m);
}

static void test_a_status_that_only_reports(void **state)
{
	static const struct {
		const char *name;
		enum sched_resource r;
		const char *json;
		enum sched_msg_kind kind;
	} rows[] = {
		{ "an amount in the status of a ClusterQueue", SCHED_CLUSTER_QUEUES,
		  "{\"spec\":{\"cohortName\":\"c\"},\"status\":{\"pendingWorkloads\":{}}}",
		  SCHED_MSG_UPSERT },
		{ "the status of a Cohort is no object", SCHED_COHORTS, "{\"status\":7}",
		  SCHED_MSG_UPSERT },
		{ "the status of a LocalQueue is no object", SCHED_LOCAL_QUEUES, "{\"status\":7}",
		  SCHED_MSG_UPSERT },
		{ "the spec as well", SCHED_CLUSTER_QUEUES,
		  "{\"status\":7,\"spec\":{\"cohortName\":{}}}", SCHED_MSG_BAD_OBJECT },
		{ "the status of a Workload says what it holds", SCHED_WORKLOADS, "{\"status\":7}",
		  SCHED_MSG_BAD_OBJECT },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct sched_msg *m;

		unit_row(rows[i].name);
		m = message_decode(rows[i].r, STR_LIT("x"), str_of(rows[i].json), 7);
		assert_int_equal(m->kind, rows[i].kind);
		if (i == 0) {
			const struct api_cluster_queue *cq = m->object;

			assert_string_equal(cq->spec.cohort, "c");
		}
		message_free(m);
	}
}

static void test_messages_of_a_reflector(void **state)
{
	static const struct {
		const char *name;
		enum reflector_event_kind event;
		bool silent;
		enum sched_msg_kind kind;
	} rows[] = {
		{ "upsert", REFLECTOR_UPSERT, false, SCHED_MSG_UPSERT },
		{ "delete", REFLECTOR_DELETE, false, SCHED_MSG_DELETE },
		{ "synced", REFLECTOR_SYNCED, false, SCHED_MSG_SYNCED },
		{ "refreshed", REFLECTOR_REFRESHED, false, SCHED_MSG_REFRESHED },
		{ "relisted", REFLECTOR_RELISTED, true, SCHED_MSG_KIND_COUNT_ },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct reflector_event e = { .kind = rows[i].event,
						   .key = STR_LIT("q"),
						   .object = STR_LIT("{}"),
						   .resource_version = 7 };
		struct sched_msg *m = message_decode_event(SCHED_QUEUES, &e);

		unit_row(rows[i].name);
		assert_true((m == NULL) == rows[i].silent);
		if (m != NULL) {
			assert_int_equal(m->kind, rows[i].kind);
			assert_int_equal(m->resource, SCHED_QUEUES);
			assert_int_equal(m->resource_version,
					 rows[i].event < REFLECTOR_SYNCED ? 7 : 0);
			assert_true(rows[i].event >= REFLECTOR_SYNCED || str_eq_c(m->key, "q"));
		}
		message_free(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decodes_every_resource),
		cmocka_unit_test(test_items_of_a_list),
		cmocka_unit_test(test_names_the_path_of_a_fault),
		cmocka_unit_test(test_a_status_that_only_reports),
		cmocka_unit_test(test_messages_of_a_reflector),
	};

	return cmocka_run_group_tests_name("base/message_decode", tests, NULL, NULL);
}
