/* Other verdicts on pods of ours are tested with the verb, test_ctl_explain.c. */
#include "scheduler/ctl/explain/pod_explain.h"

#include <stdlib.h>
#include <unistd.h>

#include "api/meta/selector.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "lib/pods/cluster_fixture.h"
#include "lib/unit.h"
#include "process/file.h"
#include "scheduler/pods/dump/dump.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/model/budgets.h"

static struct jdoc *read_pod(const char *json)
{
	struct jdoc *d = NULL;

	assert_int_equal(jdoc_parse(str_of(json), &d, NULL), 0);
	return d;
}

static void test_a_pod_of_another_scheduler(void **state)
{
	static const char *const names[] = { "volcano", "second", NULL };
	static const char *const gated[] = { "default-scheduler", NULL }, *const none[] = { NULL };
	static const struct {
		const char *const *gated;
		const char *verdict;
	} rows[] = {
		{ none, "is not scheduled by Headgate: its spec.schedulerName is mine, and "
			"Headgate schedules pods that name volcano or second" },
		{ gated, "is not scheduled by Headgate: its spec.schedulerName is mine, and "
			 "Headgate schedules pods that name volcano or second, and gates those "
			 "that name default-scheduler" },
	};
	CLEANUP(jdoc_destroyp)
	struct jdoc *pod = read_pod("{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p\"},\"spec\":{"
				    "\"schedulerName\":\"mine\"}}");

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(pod_explain_finish) struct pod_explanation x = { .arena = NULL };

		unit_row_number(i);
		pod_explain_foreign(pod, names, rows[i].gated, &x);
		assert_string_equal(x.verdict, rows[i].verdict);
		assert_string_equal(x.reason, "OtherScheduler");
		assert_string_equal(x.gate, "none");
		assert_string_equal(x.scheduler, "mine");
		assert_null(x.task);
	}
}

/* A queue of 2 CPU, and pods of 3 CPU: one has no PodGroup yet. */
static struct live_cluster *load(char *path)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	const struct cluster_args a = { .dump = path };
	struct cluster *c = cluster_create();
	struct live_cluster *s = NULL;

	cluster_fixture_queue(c, "root", NULL, -1);
	cluster_fixture_queue(c, "team-a", "root", 2000);
	cluster_fixture_task(c, "large", cluster_fixture_podgroup(c, "g", "team-a", 1), 3000)
		->flags |= TASK_OPTED_IN | TASK_OUR_GATE;
	cluster_fixture_task(c, "typo", NULL, 3000);
	dump_format(c, &text);
	cluster_destroy(c);
	assert_int_equal(file_write_atomic(path, strbuf_str(&text), 0600, NULL), 0);
	assert_int_equal(live_cluster_load(&a, &s, NULL), 0);
	assert_int_equal(unlink(path), 0);
	return s;
}

static void test_what_never_fits_and_what_is_mistyped(void **state)
{
	static const struct {
		const char *pod, *json, *verdict, *reason;
	} rows[] = {
		{ "ns/large", NULL,
		  "can never get quota: 3 cpu needed, and the limit of queue team-a is 2",
		  "ExceedsQueueLimit" },
		{ "ns/typo", NULL,
		  "waits for its PodGroup: the PodGroup controller has not annotated it yet",
		  "WaitingForPodGroup" },
		{ "ns/typo",
		  "{\"metadata\":{\"annotations\":{\"scheduling.volcano.sh/"
		  "queue-name\":\"taem-a\"}}}",
		  "waits for queue taem-a, which does not exist; did you mean team-a?",
		  "QueueNotFound" },
		{ "ns/typo",
		  "{\"metadata\":{\"annotations\":{\"scheduling.volcano.sh/"
		  "queue-name\":\"team-a\"}}}",
		  "waits for its PodGroup: the PodGroup controller has not annotated it yet",
		  "WaitingForPodGroup" },
	};
	char path[] = "/tmp/headgate-explain-XXXXXX";
	struct live_cluster *s;

	(void)state;
	assert_int_equal(close(mkstemp(path)), 0);
	s = load(path);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(pod_explain_finish) struct pod_explanation x = { .arena = NULL };
		CLEANUP(jdoc_destroyp)
		struct jdoc *pod = rows[i].json == NULL ? NULL : read_pod(rows[i].json);

		unit_row(rows[i].pod);
		pod_explain_task(s, cluster_task_find(live_cluster_cluster(s), str_of(rows[i].pod)),
				 pod, &x);
		assert_string_equal(x.verdict, rows[i].verdict);
		assert_string_equal(x.reason, rows[i].reason);
	}
	live_cluster_destroy(s);
}

static void cover(struct cluster *c, const char *name, const char *value, uint32_t allowed)
{
	struct field_pair pair = { "app", value };
	const struct api_label_selector selector = { .match_labels = { &pair, 1 } };
	const struct budgets_spec spec = { .namespace_ = STR_LIT("ns"),
					   .name = str_of(name),
					   .generation = 1,
					   .selector = &selector,
					   .allowed = allowed };

	assert_int_equal(budgets_set(c, &spec, NULL), 0);
}

static void run_on(struct cluster *c, struct node *n, struct podgroup *g, const char *app)
{
	struct field_pair pair = { "app", app };
	const struct field_map labels = { &pair, 1 };
	struct task *t = cluster_fixture_task(c, app, g, 100);

	budgets_set_labels(c, t, &labels);
	cluster_task_set_status(c, t, TASK_RUNNING, n);
	ledger_charge(c, t, queue_find(c, STR_LIT("team-a")), CHARGE_BOUND);
}

static void load_budgets(const char *path)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct cluster *c = cluster_create();
	struct podgroup *g;
	struct node *n;

	budgets_begin(c);
	cluster_fixture_queue(c, "root", NULL, -1);
	cluster_fixture_queue(c, "team-a", "root", 2000);
	n = cluster_fixture_node(c, "n", 4000);
	g = cluster_fixture_podgroup(c, "g", "team-a", 1);
	cover(c, "one", "web", 1);
	cover(c, "none", "db", 0);
	cover(c, "first", "both", 1);
	cover(c, "second", "both", 1);
	run_on(c, n, g, "web");
	run_on(c, n, g, "db");
	run_on(c, n, g, "both");
	run_on(c, n, g, "free");
	dump_format(c, &text);
	cluster_destroy(c);
	assert_int_equal(file_write_atomic(path, strbuf_str(&text), 0600, NULL), 0);
}

static void test_pods_with_quota_that_another_scheduler_places(void **state)
{
	static const struct {
		enum pod_cond cond;
		uint32_t flags;
		const char *verdict, *gate;
	} rows[] = {
		{ POD_COND_GATED, TASK_RESERVED_MARK, "has quota, and its own scheduler places it",
		  "Removed" },
		{ POD_COND_UNSCHEDULABLE, TASK_RESERVED_MARK,
		  "has quota, and its own scheduler finds no node for it; autoscalers see it",
		  "Removed" },
		{ POD_COND_GATED, 0, "has quota, and its own scheduler places it",
		  "RemovedByOthers" },
		{ POD_COND_GATED, TASK_RESERVED_MARK | TASK_UNGATED_ELSEWHERE,
		  "has quota, and its own scheduler places it", "RemovedElsewhere" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
		CLEANUP(pod_explain_finish) struct pod_explanation x = { .arena = NULL };
		char path[] = "/tmp/headgate-explain-XXXXXX";
		const struct cluster_args a = { .dump = path };
		struct cluster *c = cluster_create();
		struct podgroup *g;
		struct live_cluster *s = NULL;
		struct task *t;

		unit_row_number(i);
		cluster_fixture_queue(c, "root", NULL, -1);
		cluster_fixture_queue(c, "team-a", "root", 2000);
		g = cluster_podgroup_get_alone(c, STR_LIT("ns"), STR_LIT("theirs"));
		cluster_podgroup_set_queue(c, g, STR_LIT("team-a"));
		t = cluster_fixture_task(c, "theirs", g, 100);
		t->flags |= (uint32_t)TASK_OURS | TASK_OPTED_IN | TASK_GATE_ONLY | rows[i].flags;
		t->cond = (uint8_t)rows[i].cond;
		ledger_charge(c, t, queue_find(c, STR_LIT("team-a")), CHARGE_UNGATED);
		dump_format(c, &text);
		cluster_destroy(c);
		assert_int_equal(close(mkstemp(path)), 0);
		assert_int_equal(file_write_atomic(path, strbuf_str(&text), 0600, NULL), 0);
		assert_int_equal(live_cluster_load(&a, &s, NULL), 0);
		assert_int_equal(unlink(path), 0);
		pod_explain_task(s,
				 cluster_task_find(live_cluster_cluster(s), STR_LIT("ns/theirs")),
				 NULL, &x);
		assert_string_equal(x.verdict, rows[i].verdict);
		assert_string_equal(x.reason, "QuotaReserved");
		assert_string_equal(x.gate_reason, rows[i].gate);
		live_cluster_destroy(s);
	}
}

/* It is ungated at once and never charged, which is not what a lost gate looks like. */
static void test_a_pod_without_requests_that_another_scheduler_places(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	CLEANUP(pod_explain_finish) struct pod_explanation x = { .arena = NULL };
	char path[] = "/tmp/headgate-explain-XXXXXX";
	const struct cluster_args a = { .dump = path };
	struct cluster *c = cluster_create();
	struct live_cluster *s = NULL;
	struct podgroup *g;

	(void)state;
	cluster_fixture_queue(c, "root", NULL, -1);
	cluster_fixture_queue(c, "team-a", "root", 2000);
	g = cluster_podgroup_get_alone(c, STR_LIT("ns"), STR_LIT("theirs"));
	cluster_podgroup_set_queue(c, g, STR_LIT("team-a"));
	cluster_fixture_task(c, "theirs", g, 0)->flags |=
		(uint32_t)TASK_OURS | TASK_OPTED_IN | TASK_GATE_ONLY;
	dump_format(c, &text);
	cluster_destroy(c);
	assert_int_equal(close(mkstemp(path)), 0);
	assert_int_equal(file_write_atomic(path, strbuf_str(&text), 0600, NULL), 0);
	assert_int_equal(live_cluster_load(&a, &s, NULL), 0);
	assert_int_equal(unlink(path), 0);
	pod_explain_task(s, cluster_task_find(live_cluster_cluster(s), STR_LIT("ns/theirs")), NULL,
			 &x);
	assert_string_equal(x.verdict,
			    "requests nothing, so it needs no quota: its own scheduler places it");
	assert_string_equal(x.reason, "NoQuotaNeeded");
	assert_string_equal(x.gate_reason, "Removed");
	live_cluster_destroy(s);
}

static void test_budgets_of_pods_that_run(void **state)
{
	static const struct {
		const char *pod, *verdict;
	} rows[] = {
		{ "ns/free", "does not wait: it has a node" },
		{ "ns/web", "does not wait: it has a node; PodDisruptionBudget ns/one allows 1 "
			    "eviction now" },
		{ "ns/db", "does not wait: it has a node; PodDisruptionBudget ns/none allows 0 "
			   "evictions now" },
		{ "ns/both", "does not wait: it has a node; it is not evicted: several "
			     "PodDisruptionBudgets cover it" },
	};
	char path[] = "/tmp/headgate-explain-XXXXXX";
	const struct cluster_args a = { .dump = path };
	struct live_cluster *s = NULL;

	(void)state;
	assert_int_equal(close(mkstemp(path)), 0);
	load_budgets(path);
	assert_int_equal(live_cluster_load(&a, &s, NULL), 0);
	assert_int_equal(unlink(path), 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(pod_explain_finish) struct pod_explanation x = { .arena = NULL };

		unit_row(rows[i].pod);
		pod_explain_task(s, cluster_task_find(live_cluster_cluster(s), str_of(rows[i].pod)),
				 NULL, &x);
		assert_string_equal(x.verdict, rows[i].verdict);
		assert_string_equal(x.reason, "HasNode");
	}
	live_cluster_destroy(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_pod_of_another_scheduler),
		cmocka_unit_test(test_what_never_fits_and_what_is_mistyped),
		cmocka_unit_test(test_pods_with_quota_that_another_scheduler_places),
		cmocka_unit_test(test_a_pod_without_requests_that_another_scheduler_places),
		cmocka_unit_test(test_budgets_of_pods_that_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
