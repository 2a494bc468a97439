#include <stdio.h>

#include "api/core/pod.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "collections/intern.h"
#include "lib/unit.h"
#include "scheduler/pods/ingest/from_api.h"
#include "unit/scheduler/pods/ingest/api_fixture.h"

static const char *const ours[] = { "volcano", NULL }, *const theirs[] = { "default-scheduler",
									   NULL };
static const struct from_api_schedulers schedulers = { .ours = ours, .gated = theirs };

/* meta, spec, status: members of each object. */
static struct from_api_pod read_pod(struct api_fixture *f, const char *meta, const char *spec,
				    const char *status)
{
	char json[2048];
	struct from_api_pod p;
	struct err err = ERR_INIT;

	snprintf(json, sizeof(json),
		 "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p\",\"uid\":\"u\"%s%s},\"spec\":{"
		 "\"schedulerName\":\"volcano\"%s%s},\"status\":{%s}}",
		 meta[0] ? "," : "", meta, spec[0] ? "," : "", spec, status);
	if (from_api_pod_read(f->c, api_fixture_decode(f->arena, &pod_fields, json), &schedulers,
			      f->arena, &p, &err) < 0) {
		fail_msg("%s", err.text);
	}
	return p;
}

static void test_flags(void **state)
{
	static const struct {
		const char *meta, *spec;
		uint32_t flags;
	} rows[] = {
		{ "", "", 0 },
		{ "\"annotations\":{\"scheduling.volcano.sh/queue-allocation-gate\":\"true\"}", "",
		  TASK_OPTED_IN },
		{ "\"annotations\":{\"volcano.sh/queue-allocation-gate\":\"true\"}", "",
		  TASK_OPTED_IN },
		{ "\"annotations\":{\"scheduling.volcano.sh/queue-allocation-gate\":\"True\"}", "",
		  0 },
		{ "", "\"schedulingGates\":[{\"name\":\"volcano.sh/queue-allocation-gate\"}]",
		  TASK_OUR_GATE },
		{ "",
		  "\"schedulingGates\":[{\"name\":\"x\"},{\"name\":"
		  "\"scheduling.volcano.sh/queue-allocation-gate\"}]",
		  TASK_OUR_GATE | TASK_FOREIGN_GATE },
		{ "", "\"schedulingGates\":[{\"name\":\"x\"}]", TASK_FOREIGN_GATE },
		{ "", "\"preemptionPolicy\":\"Never\"", TASK_PREEMPT_NEVER },
		{ "", "\"preemptionPolicy\":\"PreemptLowerPriority\"", 0 },
		{ "\"annotations\":{\"headgate.io/reserved\":\"q\"}", "", TASK_RESERVED_MARK },
		{ "\"annotations\":{\"headgate.io/bound-by\":\"headgate-scheduler\"}", "",
		  TASK_BOUND_MARK },
		{ "", "\"priorityClassName\":\"system-node-critical\"", TASK_CRITICAL },
		{ "\"namespace\":\"kube-system\"", "", TASK_CRITICAL },
		{ "", "\"containers\":[{\"resources\":{\"limits\":{\"cpu\":\"1\"}}}]",
		  TASK_HAS_CPU_LIMITS },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct from_api_pod p = read_pod(*state, rows[i].meta, rows[i].spec, "");

		if (p.flags != (rows[i].flags | TASK_OURS | TASK_PREEMPTABLE)) {
			fail_msg("row %zu: %x", i, p.flags);
		}
	}
}

static void test_preemptable_rules(void **state)
{
	static const struct {
		const char *meta;
		bool preemptable;
	} rows[] = {
		{ "", true },
		{ "\"annotations\":{\"volcano.sh/preemptable\":\"false\"}", false },
		{ "\"annotations\":{\"volcano.sh/preemptable\":\"T\"}", true },
		{ "\"annotations\":{\"volcano.sh/preemptable\":\"yes\"}", false },
		{ "\"labels\":{\"volcano.sh/preemptable\":\"0\"}", false },
		{ "\"annotations\":{\"volcano.sh/preemptable\":\"1\"},\"labels\":"
		  "{\"volcano.sh/preemptable\":\"false\"}",
		  true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct from_api_pod p = read_pod(*state, rows[i].meta, "", "");

		assert_int_equal((p.flags & TASK_PREEMPTABLE) != 0, rows[i].preemptable);
	}
}

static void test_priority_and_role(void **state)
{
	struct api_fixture *f = *state;
	struct from_api_pod p;

	assert_int_equal(read_pod(f, "", "", "").priority, 1);
	assert_int_equal(read_pod(f, "", "\"priority\":0", "").priority, 0);
	assert_int_equal(read_pod(f, "", "\"priority\":-3", "").priority, -3);
	p = read_pod(f,
		     "\"annotations\":{\"volcano.sh/task-priority\":\"77\","
		     "\"volcano.sh/task-spec\":\"worker\"}",
		     "\"priority\":5", "");
	assert_int_equal(p.priority, 77);
	assert_string_equal(intern_name(f->c->names, p.role), "worker");
	p = read_pod(f,
		     "\"annotations\":{\"volcano.sh/task-priority\":\"x\"},\"labels\":"
		     "{\"volcano.sh/task-spec\":\"ps\"}",
		     "\"priority\":5", "");
	assert_int_equal(p.priority, 5);
	assert_string_equal(intern_name(f->c->names, p.role), "ps");
	assert_int_equal(read_pod(f, "", "", "").role, MODEL_NONE);
	assert_int_equal(
		read_pod(f, "\"annotations\":{\"volcano.sh/task-priority\":\"2147483648\"}", "", "")
			.priority,
		1);
}

static void test_deletion_cost(void **state)
{
	static const struct {
		const char *value;
		int32_t cost;
	} rows[] = {
		{ "100", 100 },      { "-7", -7 },         { "2147483647", INT32_MAX },
		{ "2147483648", 0 }, { "-2147483649", 0 }, { "1.5", 0 },
		{ "", 0 },
	};
	struct api_fixture *f = *state;
	char meta[128];

	assert_int_equal(read_pod(f, "", "", "").deletion_cost, 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].value);
		snprintf(meta, sizeof(meta),
			 "\"annotations\":{\"controller.kubernetes.io/pod-deletion-cost\":\"%s\"}",
			 rows[i].value);
		assert_int_equal(read_pod(f, meta, "", "").deletion_cost, rows[i].cost);
	}
}

static void test_status(void **state)
{
	static const char deleted[] = "\"deletionTimestamp\":\"2025-06-15T00:00:00Z\"";
	static const char node[] = "\"nodeName\":\"n\"";
	static const struct {
		const char *meta, *spec, *status;
		enum task_status expected;
	} rows[] = {
		{ "", "", "", TASK_PENDING },
		{ "", "", "\"phase\":\"Pending\"", TASK_PENDING },
		{ "", node, "\"phase\":\"Pending\"", TASK_BOUND },
		{ "", node, "\"phase\":\"Running\"", TASK_RUNNING },
		{ "", "", "\"phase\":\"Running\"", TASK_UNKNOWN },
		{ deleted, node, "\"phase\":\"Running\"", TASK_RELEASING },
		{ deleted, "", "\"phase\":\"Pending\"", TASK_RELEASING },
		{ deleted, node, "\"phase\":\"Succeeded\"", TASK_SUCCEEDED },
		{ "", node, "\"phase\":\"Failed\"", TASK_FAILED },
		{ "", node, "\"phase\":\"Unknown\"", TASK_UNKNOWN },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct from_api_pod p =
			read_pod(*state, rows[i].meta, rows[i].spec, rows[i].status);

		if (p.status != rows[i].expected) {
			fail_msg("row %zu: %d", i, (int)p.status);
		}
	}
}

static void test_condition(void **state)
{
	static const struct {
		const char *status, *reason;
		enum pod_cond cond;
		bool message, published;
	} rows[] = {
		{ "True", "", POD_COND_TRUE, false, false },
		{ "False", "SchedulingGated", POD_COND_GATED, false, false },
		{ "False", "Unschedulable", POD_COND_UNSCHEDULABLE, true, true },
		{ "False", "NotReadyForScheduling", POD_COND_NOT_READY, true, false },
		{ "False", "Schedulable", POD_COND_SCHEDULABLE, true, false },
		{ "False", "SchedulerError", POD_COND_ERROR, true, false },
		{ "False", "Whim", POD_COND_OTHER, true, false },
		{ "Unknown", "Unschedulable", POD_COND_OTHER, false, false },
	};
	char json[512];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct from_api_pod p;

		snprintf(json, sizeof(json),
			 "\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\"},{\"type\":"
			 "\"PodScheduled\",\"status\":\"%s\",\"reason\":\"%s\",\"message\":\"m\","
			 "\"lastTransitionTime\":\"1970-01-01T00:00:07Z\"}]",
			 rows[i].status, rows[i].reason);
		p = read_pod(*state, "", "", json);
		assert_int_equal(p.cond, rows[i].cond);
		assert_true(p.cond_message == (rows[i].message ? str_hash(STR_LIT("m")) : 0));
		assert_true(p.published_at ==
			    (rows[i].published ? INT64_C(7000000000) : MODEL_TIME_NONE));
	}
	assert_int_equal(read_pod(*state, "", "", "").cond, POD_COND_NONE);
}

static void test_request_and_class(void **state)
{
	struct from_api_pod p = read_pod(
		*state, "",
		"\"overhead\":{\"cpu\":\"10m\"},\"containers\":[{\"resources\":{\"requests\":{"
		"\"cpu\":\"500u\",\"memory\":\"1Ki\"}}},{\"resources\":{\"requests\":{\"cpu\":"
		"\"500u\"}}}]",
		"");
	struct from_api_pod empty = read_pod(*state, "", "\"containers\":[{\"name\":\"c\"}]", "");

	/* Added exactly, rounded once. */
	assert_int_equal(p.klass->request.v[RES_CPU], 11);
	assert_int_equal(p.klass->request.v[RES_MEMORY], 1024);
	assert_int_equal(p.klass->request.v[RES_PODS], 1);
	assert_false(p.klass->best_effort);
	assert_true(empty.klass->best_effort);
}

static void test_foreign_pod_has_request_and_ports_only(void **state)
{
	struct api_fixture *f = *state;
	struct from_api_pod p;
	const struct api_pod *pod = api_fixture_decode(
		f->arena, &pod_fields,
		"{\"metadata\":{\"name\":\"p\",\"annotations\":{\"scheduling.k8s.io/group-name\":"
		"\"g\"}},\"spec\":{\"nodeSelector\":{\"a\":\"b\"},\"volumes\":[{\"name\":\"v\","
		"\"persistentVolumeClaim\":{\"claimName\":\"c\"}}],\"containers\":[{\"ports\":["
		"{\"hostPort\":80}],\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}");

	assert_int_equal(from_api_pod_read(f->c, pod, &schedulers, f->arena, &p, NULL), 0);
	assert_int_equal(p.flags & TASK_OURS, 0);
	assert_null(p.group.p);
	assert_true(str_eq_c(p.namespace_, "default"));
	assert_int_equal(p.klass->nselector, 0);
	assert_null(p.klass->unsupported);
	assert_int_equal(p.klass->nports, 1);
	assert_int_equal(p.klass->request.v[RES_CPU], 1000);
}

/* Of the pods of a scheduler that we gate for, those that opted in are under quota. */
static void test_gate_only(void **state)
{
	static const struct {
		const char *annotations, *spec;
		bool annotation_decides, ours;
	} rows[] = {
		{ "\"a\":\"b\"", "", false, false },
		{ "\"volcano.sh/queue-allocation-gate\":\"true\"", "", false, true },
		{ "\"a\":\"b\"",
		  "\"schedulingGates\":[{\"name\":\"volcano.sh/queue-allocation-gate\"}],", false,
		  true },
		{ "\"a\":\"b\"",
		  "\"schedulingGates\":[{\"name\":\"volcano.sh/queue-allocation-gate\"}],", true,
		  true },
		{ "\"a\":\"b\"", "\"schedulingGates\":[{\"name\":\"x\"}],", false, false },
		{ "\"headgate.io/reserved\":\"q\"", "", false, true },
		{ "\"headgate.io/reserved\":\"q\"", "", true, false },
	};
	struct api_fixture *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(xmalloc_freep)
		char *json = xmalloc_printf(
			"{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p\",\"annotations\":{%s}},"
			"\"spec\":{%s\"schedulerName\":\"default-scheduler\",\"priority\":7,"
			"\"nodeSelector\":{\"a\":\"b\"},\"volumes\":[{\"name\":\"v\","
			"\"persistentVolumeClaim\":{\"claimName\":\"c\"}}]}}",
			rows[i].annotations, rows[i].spec);
		struct from_api_pod p;

		unit_row_number(i);
		f->c->annotation_decides = rows[i].annotation_decides;
		assert_int_equal(from_api_pod_read(f->c,
						   api_fixture_decode(f->arena, &pod_fields, json),
						   &schedulers, f->arena, &p, NULL),
				 0);
		assert_int_equal(p.flags & (TASK_OURS | TASK_GATE_ONLY),
				 rows[i].ours ? TASK_OURS | TASK_GATE_ONLY : 0);
		assert_int_equal(p.class_priority, 7);
		assert_int_equal(p.klass->nselector, 0);
		assert_null(p.klass->unsupported);
	}
}

/* Without a PodGroup it has a record of its own, in its own queue; its conditions are not ours. */
static void test_gate_only_apply(void **state)
{
	static const char format[] =
		"{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p\",\"annotations\":{"
		"\"volcano.sh/queue-allocation-gate\":\"true\"%s}},\"spec\":{\"schedulerName\":"
		"\"default-scheduler\",\"priority\":7},\"status\":{\"conditions\":[{\"type\":"
		"\"PodScheduled\",\"status\":\"False\",\"reason\":\"Unschedulable\",\"message\":"
		"\"m\",\"lastTransitionTime\":\"2025-06-15T15:06:00Z\"}]}}";
	static const struct {
		const char *annotations, *group, *queue;
	} rows[] = {
		{ "", "p", "fallback" },
		{ ",\"scheduling.volcano.sh/queue-name\":\"q\"", "p", "q" },
		{ ",\"scheduling.volcano.sh/queue-name\":\"\"", "p", "fallback" },
		{ ",\"scheduling.k8s.io/group-name\":\"g\"", "g", NULL },
		{ ",\"scheduling.k8s.io/group-name\":\"\"", "p", "fallback" },
	};
	struct api_fixture *f = *state;
	struct task *t = cluster_task_add(f->c, STR_LIT("ns"), STR_LIT("p"), STR_LIT("u"));

	f->c->default_queue = queue_get(f->c, STR_LIT("fallback"))->id;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(xmalloc_freep) char *json = xmalloc_printf(format, rows[i].annotations);
		const struct podgroup *g;
		struct from_api_pod p;

		unit_row_number(i);
		assert_int_equal(from_api_pod_read(f->c,
						   api_fixture_decode(f->arena, &pod_fields, json),
						   &schedulers, f->arena, &p, NULL),
				 0);
		from_api_pod_apply(f->c, &p, t);
		g = f->c->podgroups.v[t->podgroup];
		assert_string_equal(g->name, rows[i].group);
		assert_int_equal(g->kind == PODGROUP_ALONE, rows[i].queue != NULL);
		if (rows[i].queue != NULL) {
			assert_string_equal(intern_name(f->c->names, g->queue_name), rows[i].queue);
			assert_int_equal(g->priority, 7);
		}
		assert_int_equal(t->cond, POD_COND_UNSCHEDULABLE);
		assert_int_equal(t->cond_message, 0);
		/* It has had no gate since then. */
		assert_int_equal(t->published_at, p.published_at);
		assert_true(t->published_at != MODEL_TIME_NONE);
		assert_null(cluster_verify(f->c));
	}
}

static void test_apply(void **state)
{
	struct api_fixture *f = *state;
	struct from_api_pod p =
		read_pod(f, "\"annotations\":{\"scheduling.k8s.io/group-name\":\"g\"}",
			 "\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]",
			 "\"nominatedNodeName\":\"n\"");
	struct task *t = cluster_task_add(f->c, p.namespace_, p.name, p.uid);

	t->flags = TASK_PARKED;
	from_api_pod_apply(f->c, &p, t);
	assert_int_equal(t->flags, TASK_OURS | TASK_PREEMPTABLE | TASK_PARKED);
	assert_string_equal(f->c->podgroups.v[t->podgroup]->name, "g");
	assert_string_equal(f->c->nodes.v[t->nominated]->name, "n");
	assert_null(cluster_verify(f->c));
	p.created = 5;
	p.resource_version = 9;
	from_api_pod_apply(f->c, &p, t);
	assert_int_equal(t->created, 5);
	assert_int_equal(t->resource_version, 9);
	/* A condition of ours is not replaced by an older one. */
	t->cond = POD_COND_UNSCHEDULABLE;
	t->cond_message = 5;
	p = read_pod(f, "", "",
		     "\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\","
		     "\"reason\":\"SchedulingGated\"}]");
	from_api_pod_apply(f->c, &p, t);
	assert_int_equal(t->cond, POD_COND_UNSCHEDULABLE);
	assert_int_equal(t->cond_message, 5);
	assert_int_equal(t->podgroup, MODEL_NONE);
	assert_int_equal(t->nominated, MODEL_NONE);
	assert_null(cluster_node_find(f->c, STR_LIT("n")));
	assert_null(cluster_verify(f->c));
}

#define T(name) cmocka_unit_test_setup_teardown(name, api_fixture_setup, api_fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_flags),
		T(test_preemptable_rules),
		T(test_priority_and_role),
		T(test_deletion_cost),
		T(test_status),
		T(test_condition),
		T(test_request_and_class),
		T(test_foreign_pod_has_request_and_ports_only),
		T(test_gate_only),
		T(test_gate_only_apply),
		T(test_apply),
	};

	return cmocka_run_group_tests_name("pods/ingest/from_api_pod", tests, NULL, NULL);
}
