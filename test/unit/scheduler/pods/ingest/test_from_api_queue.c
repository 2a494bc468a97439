#include <stdio.h>

#include "api/volcano/scheduling.h"
#include "base/err.h"
#include "lib/unit.h"
#include "scheduler/pods/ingest/from_api.h"
#include "unit/scheduler/pods/ingest/api_fixture.h"

static int read_queue(struct cluster *c, const char *json, bool *changed, struct err *err)
{
	struct arena *arena = arena_create(0);
	int r = from_api_queue(c, api_fixture_decode(arena, &scheduling_queue_fields, json),
			       changed, err);

	arena_destroy(arena);
	return r;
}

static void test_defaults(void **state)
{
	struct cluster *c = cluster_create();
	const struct queue *q;
	bool changed = false;

	(void)state;
	assert_int_equal(
		read_queue(c, "{\"metadata\":{\"name\":\"q\",\"uid\":\"u\"}}", &changed, NULL), 0);
	q = queue_find(c, STR_LIT("q"));
	assert_true(changed && q->exists && q->reclaimable);
	assert_int_equal(q->state, QUEUE_OPEN); /* without a state yet */
	assert_int_equal(q->weight, 1);
	assert_null(q->parent_name);
	assert_string_equal(q->uid, "u");
	assert_true(q->capability.v[RES_CPU] == RES_UNLIMITED);
	assert_true(q->capability.v[RES_DENSE - 1] == RES_UNLIMITED);
	cluster_destroy(c);
}

static void test_reads_all(void **state)
{
	static const struct {
		const char *text;
		enum queue_state state;
	} rows[] = { { "Open", QUEUE_OPEN },
		     { "Closed", QUEUE_CLOSED },
		     { "Closing", QUEUE_CLOSING },
		     { "Unknown", QUEUE_UNKNOWN },
		     { "open", QUEUE_UNKNOWN } };
	struct cluster *c = cluster_create();
	const struct queue *q;
	char json[512];
	bool changed;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		(void)snprintf(json, sizeof(json),
			       "{\"metadata\":{\"name\":\"q\",\"creationTimestamp\":"
			       "\"1970-01-01T00:00:05Z\"},\"spec\":{\"weight\":3,\"priority\":7,"
			       "\"reclaimable\":false,\"parent\":\"p\",\"capability\":{\"cpu\":"
			       "\"1500500u\",\"memory\":\"0\"},\"deserved\":{\"cpu\":\"1\"},"
			       "\"guarantee\":{\"resource\":{\"cpu\":\"500m\"}}},\"status\":{"
			       "\"state\":\"%s\",\"allocated\":{\"cpu\":\"2\"}}}",
			       rows[i].text);
		assert_int_equal(read_queue(c, json, &changed, NULL), 0);
		assert_int_equal(queue_find(c, STR_LIT("q"))->state, rows[i].state);
	}
	q = queue_find(c, STR_LIT("q"));
	assert_int_equal(q->created, INT64_C(5000000000));
	assert_int_equal(q->weight, 3);
	assert_int_equal(q->priority, 7);
	assert_false(q->reclaimable);
	assert_string_equal(q->parent_name, "p");
	assert_int_equal(q->capability.v[RES_CPU], 1500);
	assert_int_equal(q->capability.v[RES_MEMORY], 0);
	assert_true(q->capability.v[RES_EPHEMERAL] == RES_UNLIMITED);
	assert_int_equal(q->guarantee.v[RES_CPU], 500);
	assert_int_equal(q->deserved.v[RES_CPU], 1000);
	/* The same again: nothing that a decision depends on. */
	assert_int_equal(read_queue(c, json, &changed, NULL), 0);
	assert_false(changed);
	cluster_destroy(c);
}

static void test_annotations_of_fairness(void **state)
{
	static const char *const rows[][3] = {
		{ "{\"volcano.sh/hierarchy\":\"root/a\",\"volcano.sh/hierarchy-weights\":\"1/2\"}",
		  "root/a", "1/2" },
		{ "{\"volcano.sh/hierarchy\":\"root/b\",\"volcano.sh/hierarchy-weights\":\"1/2\"}",
		  "root/b", "1/2" },
		{ "{\"volcano.sh/hierarchy\":\"root/b\",\"volcano.sh/hierarchy-weights\":\"\"}",
		  "root/b", NULL },
		{ "{}", NULL, NULL },
	};
	struct cluster *c = cluster_create();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct queue *q;
		char json[512];
		bool changed;

		(void)snprintf(json, sizeof(json),
			       "{\"metadata\":{\"name\":\"q\",\"annotations\":%s}}", rows[i][0]);
		assert_int_equal(read_queue(c, json, &changed, NULL), 0);
		assert_true(changed);
		q = queue_find(c, STR_LIT("q"));
		assert_true(str_streq(q->hierarchy, rows[i][1]));
		assert_true(str_streq(q->hierarchy_weights, rows[i][2]));
		assert_int_equal(read_queue(c, json, &changed, NULL), 0);
		assert_false(changed);
	}
	cluster_destroy(c);
}

static void test_refuses(void **state)
{
	struct cluster *c = cluster_create();
	struct err err = ERR_INIT;
	bool changed;

	(void)state;
	assert_int_equal(read_queue(c, "{}", &changed, &err), -ERR_INVALID);
	assert_int_equal(read_queue(c,
				    "{\"metadata\":{\"name\":\"q\"},\"spec\":{\"parent\":\"p\","
				    "\"guarantee\":{\"resource\":{\"cpu\":\"-1\"}}}}",
				    &changed, &err),
			 -ERR_INVALID);
	assert_string_equal(err.text, "spec.guarantee.resource: cpu: negative");
	assert_null(queue_find(c, STR_LIT("q")));
	cluster_destroy(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_reads_all),
		cmocka_unit_test(test_annotations_of_fairness),
		cmocka_unit_test(test_refuses),
	};

	return cmocka_run_group_tests_name("pods/ingest/from_api_queue", tests, NULL, NULL);
}
