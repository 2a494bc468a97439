/* Other verdicts on pods of ours are tested with the verb, test_ctl_explain.c. */
#include "scheduler/ctl/explain/pod_explain.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "lib/pods/cluster_fixture.h"
#include "lib/unit.h"
#include "process/file.h"
#include "scheduler/pods/dump/dump.h"

static struct jdoc *read_pod(const char *json)
{
	struct jdoc *d = NULL;

	assert_int_equal(jdoc_parse(str_of(json), &d, NULL), 0);
	return d;
}

static void test_a_pod_of_another_scheduler(void **state)
{
	static const char *const names[] = { "volcano", "second", NULL };
	CLEANUP(pod_explain_finish) struct pod_explanation x = { .arena = NULL };
	CLEANUP(jdoc_destroyp)
	struct jdoc *pod = read_pod("{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p\"},\"spec\":{"
				    "\"schedulerName\":\"default-scheduler\"}}");

	(void)state;
	pod_explain_foreign(pod, names, &x);
	assert_string_equal(x.verdict,
			    "is not scheduled by Headgate: its spec.schedulerName is "
			    "default-scheduler, and Headgate schedules pods that name volcano or "
			    "second");
	assert_string_equal(x.reason, "OtherScheduler");
	assert_string_equal(x.gate, "none");
	assert_string_equal(x.scheduler, "default-scheduler");
	assert_null(x.task);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_pod_of_another_scheduler),
		cmocka_unit_test(test_what_never_fits_and_what_is_mistyped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
