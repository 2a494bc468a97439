#include <string.h>

#include "api/core/pod.h"
#include "base/arena.h"
#include "enc/decode.h"
#include "lib/unit.h"
#include "scheduler/pods/ingest/from_api.h"
#include "scheduler/pods/values/pod_class.h"
#include "unit/scheduler/pods/ingest/api_fixture.h"

static const char *const ours[] = { "volcano", NULL }, *const theirs[] = { "default-scheduler",
									   NULL };
static const struct from_api_schedulers schedulers = { .ours = ours, .gated = theirs };

static struct from_api_pod keep(struct api_fixture *f, const char *json, const struct task *known)
{
	struct api_pod pod;
	struct from_api_pod p;

	(void)decode_partial(&pod_fields, str_of(json), &pod, f->arena, NULL);
	assert_int_equal(from_api_pod_keep(f->c, &pod, &schedulers, known, f->arena, &p), 0);
	assert_string_equal(p.klass->unsupported, POD_CLASS_UNREADABLE);
	assert_int_equal(p.klass->request.v[RES_PODS], 1);
	return p;
}

#define META "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p\",\"uid\":\"u\"},"
#define SPEC META "\"spec\":{\"schedulerName\":\"volcano\",\"nodeName\":\"n\","
#define REQUESTS(list)                                                                             \
	SPEC "\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{" list "}}}]}}"

/* Of a pod that was not known: readable amounts as they are, all others as large as can be. */
static void test_amounts(void **state)
{
	static const struct {
		const char *json;
		int64_t cpu, memory;
		size_t unoffered;
	} rows[] = {
		{ REQUESTS("\"cpu\":\"2\",\"memory\":\"1Ki\""), 2000, 1024, 0 },
		{ REQUESTS("\"cpu\":\"2x\",\"memory\":\"1Ki\""), FROM_API_MAX_AMOUNT, 1024, 0 },
		{ REQUESTS("\"cpu\":{},\"memory\":\"-1\""), FROM_API_MAX_AMOUNT,
		  FROM_API_MAX_AMOUNT, 0 },
		{ REQUESTS("\"cpu\":\"1\",\"memory\":\"2Ei\""), 1000, FROM_API_MAX_AMOUNT, 0 },
		{ REQUESTS("\"cpu\":\"1\",\"x.io/y\":\"?\""), 1000, 0, 1 },
		{ SPEC "\"containers\":7}}", FROM_API_MAX_AMOUNT, FROM_API_MAX_AMOUNT, 0 },
		{ SPEC "\"containers\":[7]}}", FROM_API_MAX_AMOUNT, FROM_API_MAX_AMOUNT, 0 },
		{ SPEC "\"containers\":[{\"name\":5,\"resources\":{\"requests\":{\"cpu\":1}}}]}}",
		  1000, 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct from_api_pod p = keep(*state, rows[i].json, NULL);

		unit_row(rows[i].json);
		assert_int_equal(p.klass->request.v[RES_CPU], rows[i].cpu);
		assert_int_equal(p.klass->request.v[RES_MEMORY], rows[i].memory);
		assert_int_equal(p.klass->unoffered.n, rows[i].unoffered);
		assert_true(str_eq_c(p.node, "n"));
		assert_int_equal(p.status, TASK_BOUND);
		assert_int_equal(p.flags & TASK_OURS, TASK_OURS);
	}
}

static struct task *known_task(struct api_fixture *f)
{
	struct from_api_pod p = keep(
		f,
		SPEC "\"containers\":[{\"ports\":[{\"hostPort\":80}],\"resources\":{\"requests\":{"
		     "\"cpu\":\"3\"}}}]}}",
		NULL);
	struct task *t = cluster_task_add(f->c, p.namespace_, p.name, p.uid);

	p.group = STR_LIT("g");
	p.flags |= TASK_OPTED_IN | TASK_RESERVED_MARK;
	p.created = 5;
	from_api_pod_apply(f->c, &p, t);
	cluster_task_set_status(f->c, t, TASK_RUNNING, cluster_node_get(f->c, p.node));
	return t;
}

/* Fields that an update lacks are as before, and no amount becomes less. */
static void test_known(void **state)
{
	struct api_fixture *f = *state;
	struct task *t = known_task(f);
	struct from_api_pod p = keep(f, META "\"spec\":{}}", t);

	assert_int_equal(p.klass->request.v[RES_CPU], 3000);
	assert_int_equal(p.klass->request.v[RES_MEMORY], FROM_API_MAX_AMOUNT);
	assert_true(str_eq_c(p.node, "n"));
	assert_true(str_eq_c(p.group, "g"));
	assert_int_equal(p.status, TASK_RUNNING);
	assert_int_equal(p.created, 5);
	assert_int_equal(p.flags & (TASK_OURS | TASK_OPTED_IN | TASK_RESERVED_MARK),
			 TASK_OURS | TASK_OPTED_IN | TASK_RESERVED_MARK);

	p = keep(f, REQUESTS("\"cpu\":\"1\""), t);
	assert_int_equal(p.klass->request.v[RES_CPU], 3000);
	p = keep(f, REQUESTS("\"cpu\":\"4\""), t);
	assert_int_equal(p.klass->request.v[RES_CPU], 4000);
	p = keep(f, REQUESTS("\"cpu\":\"many\""), t);
	assert_int_equal(p.klass->request.v[RES_CPU], 3000);
	p = keep(f,
		 SPEC "\"containers\":[{\"ports\":[{\"hostPort\":-1}],\"resources\":{\"requests\":"
		      "{\"cpu\":\"1\"}}}]}}",
		 t);
	assert_int_equal(p.klass->nports, 1);
	assert_int_equal(p.klass->ports[0].port, 80);
	cluster_task_set_status(f->c, t, TASK_PENDING, NULL);
	cluster_task_remove(f->c, t);
}

/* Its end is taken over. */
static void test_end(void **state)
{
	struct from_api_pod p = keep(*state,
				     META "\"spec\":{\"nodeName\":\"n\",\"containers\":7},"
					  "\"status\":{\"phase\":\"Succeeded\"}}",
				     NULL);

	assert_int_equal(p.status, TASK_SUCCEEDED);
}

static void test_needs_a_name(void **state)
{
	struct api_fixture *f = *state;
	struct api_pod pod;
	struct from_api_pod p;

	(void)decode_partial(&pod_fields, STR_LIT("{\"metadata\":{\"uid\":\"u\"}}"), &pod, f->arena,
			     NULL);
	assert_true(from_api_pod_keep(f->c, &pod, &schedulers, NULL, f->arena, &p) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_amounts, api_fixture_setup,
						api_fixture_teardown),
		cmocka_unit_test_setup_teardown(test_known, api_fixture_setup,
						api_fixture_teardown),
		cmocka_unit_test_setup_teardown(test_end, api_fixture_setup, api_fixture_teardown),
		cmocka_unit_test_setup_teardown(test_needs_a_name, api_fixture_setup,
						api_fixture_teardown),
	};

	return cmocka_run_group_tests_name("pods/ingest/from_api_pod_keep", tests, NULL, NULL);
}
