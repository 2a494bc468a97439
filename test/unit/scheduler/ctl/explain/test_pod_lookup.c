#include "scheduler/ctl/explain/pod_lookup.h"

#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "lib/unit.h"

static const char *const names[] = { "volcano", "second", NULL };

static struct jdoc *read_pod(const char *json)
{
	struct jdoc *d = NULL;

	assert_int_equal(jdoc_parse(str_of(json), &d, NULL), 0);
	return d;
}

#define POD(meta, spec) "{\"metadata\":{" meta "},\"spec\":{" spec "}}"
#define OURS "\"schedulerName\":\"second\""
#define THEIRS "\"schedulerName\":\"default-scheduler\""
#define GATES(list) ",\"schedulingGates\":[" list "]"
#define GATE(name) "{\"name\":\"" name "\"}"
#define QUEUED "\"finalizers\":[\"other\",\"kueue.x-k8s.io/managed\"]"

static void test_whose_it_is(void **state)
{
	static const struct {
		const char *json;
		bool foreign, has_workload;
	} rows[] = {
		{ POD("", OURS), false, false },
		{ POD("", THEIRS), true, false },
		{ POD("", ""), true, false },
		{ POD("", THEIRS ",\"nodeName\":\"n\""), false, false },
		{ POD(QUEUED, THEIRS), true, true },
		{ POD(QUEUED, OURS), false, false },
		{ POD(QUEUED, OURS GATES(GATE("kueue.x-k8s.io/admission"))), false, true },
		{ POD("\"finalizers\":[\"other\"]", THEIRS), true, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(jdoc_destroyp) struct jdoc *pod = read_pod(rows[i].json);

		unit_row(rows[i].json);
		assert_int_equal(pod_lookup_is_foreign(pod, names), rows[i].foreign);
		assert_int_equal(pod_lookup_has_workload(pod, names), rows[i].has_workload);
	}
}

static void test_gated_for_another_scheduler(void **state)
{
	static const char *const theirs[] = { "default-scheduler", NULL };
	static const struct {
		const char *json;
		bool gate_only;
	} rows[] = {
		{ POD("", THEIRS), false },
		{ POD("", THEIRS GATES(GATE("x"))), false },
		{ POD("", THEIRS GATES(GATE("volcano.sh/queue-allocation-gate"))), true },
		{ POD("\"annotations\":{\"volcano.sh/queue-allocation-gate\":\"true\"}", THEIRS),
		  true },
		{ POD("\"annotations\":{\"volcano.sh/queue-allocation-gate\":\"false\"}", THEIRS),
		  false },
		{ POD("\"annotations\":{\"headgate.io/reserved\":\"q\"}", THEIRS), true },
		{ POD("\"annotations\":{\"headgate.io/reserved\":\"q\"}", OURS), false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(jdoc_destroyp) struct jdoc *pod = read_pod(rows[i].json);

		unit_row(rows[i].json);
		assert_int_equal(pod_lookup_is_gate_only(pod, theirs), rows[i].gate_only);
	}
}

static void test_queue_and_group(void **state)
{
	CLEANUP(jdoc_destroyp) struct jdoc *bare = read_pod(POD("", ""));
	CLEANUP(jdoc_destroyp)
	struct jdoc *named = read_pod(POD("\"annotations\":{\"scheduling.volcano.sh/queue-name\":"
					  "\"q\"},\"labels\":{\"kueue.x-k8s.io/pod-group-name\":"
					  "\"g\"}",
					  ""));

	(void)state;
	assert_string_equal(pod_lookup_queue(bare), "default");
	assert_null(pod_lookup_group(bare));
	assert_string_equal(pod_lookup_scheduler(bare), "");
	assert_string_equal(pod_lookup_queue(named), "q");
	assert_string_equal(pod_lookup_group(named), "g");
}

static void test_gates(void **state)
{
	static const struct {
		const char *json, *text;
	} rows[] = {
		{ POD("", THEIRS), "none" },
		{ POD("\"annotations\":{\"volcano.sh/queue-allocation-gate\":\"true\"}", THEIRS),
		  "none: it opts in, but pods of its scheduler are not gated" },
		{ POD("", THEIRS GATES(GATE("a") "," GATE("b"))),
		  "gated by other controllers: a, b" },
		{ POD("", THEIRS GATES(GATE("a") "," GATE("volcano.sh/queue-allocation-gate"))),
		  "the gate volcano.sh/queue-allocation-gate is on it, and is removed only from "
		  "pods "
		  "of Headgate's scheduler" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(jdoc_destroyp) struct jdoc *pod = read_pod(rows[i].json);
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

		unit_row(rows[i].json);
		pod_lookup_describe_gate(pod, &text);
		assert_string_equal(text.p, rows[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whose_it_is),
		cmocka_unit_test(test_gated_for_another_scheduler),
		cmocka_unit_test(test_queue_and_group),
		cmocka_unit_test(test_gates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
