#include "api/core/kube_pod_group.h"
#include "base/attrs.h"
#include "base/err.h"
#include "lib/unit.h"
#include "scheduler/pods/ingest/from_api.h"
#include "unit/scheduler/pods/ingest/api_fixture.h"

#define GROUP(meta, spec)                                                                          \
	"{\"metadata\":{\"namespace\":\"ns\",\"name\":\"g\"" meta "},\"spec\":{" spec "}}"
#define GANG(min) "\"schedulingPolicy\":{\"gang\":{\"minCount\":" min "}}"

static void what_it_says(void **state)
{
	static const struct {
		const char *json, *error; /* NULL: it is taken */
		int32_t min, priority;
	} rows[] = {
		{ GROUP("", GANG("1")), NULL, 1, 0 },
		{ GROUP("", "\"priority\":-5," GANG("2147483647")), NULL, INT32_MAX, -5 },
		{ GROUP("", "\"schedulingPolicy\":{\"basic\":{}}"), NULL, 0, 0 },
		{ GROUP("", ""), NULL, 0, 0 },
		{ GROUP("", GANG("0")),
		  "spec.schedulingPolicy.gang.minCount: 0: must be at least 1", 0, 0 },
		{ "{\"metadata\":{\"name\":\"g\"}}", "metadata.name: missing, or not a name", 0,
		  0 },
		{ "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"a/b\"}}",
		  "metadata.name: missing, or not a name", 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cluster *c = cluster_create();
		struct arena *arena = arena_create(0);
		const struct api_kube_pod_group *group =
			api_fixture_decode(arena, &kube_pod_group_fields, rows[i].json);
		struct err err = ERR_INIT;
		const struct podgroup *g;

		unit_row_number(i);
		assert_int_equal(from_api_kube_podgroup(c, group, &err),
				 rows[i].error == NULL ? 0 : -ERR_INVALID);
		g = cluster_podgroup_find(c, STR_LIT("//ns/g"));
		if (rows[i].error != NULL) {
			assert_string_equal(err.text, rows[i].error);
			assert_null(g);
		} else {
			assert_int_equal(g->kind, PODGROUP_KUBE);
			assert_int_equal(g->min_member, rows[i].min);
			assert_int_equal(g->priority, rows[i].priority);
			assert_int_equal(g->queue_name, MODEL_NONE);
			assert_int_equal(from_api_kube_podgroup_keep(c, group, NULL), 0);
			assert_int_equal(g->min_member, INT32_MAX);
		}
		assert_null(cluster_verify(c));
		arena_destroy(arena);
		cluster_destroy(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_it_says),
	};

	return cmocka_run_group_tests_name("from_api_kube_podgroup", tests, NULL, NULL);
}
