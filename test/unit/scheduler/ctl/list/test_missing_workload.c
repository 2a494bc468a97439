#include "scheduler/ctl/list/missing_workload.h"

#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "scheduler/ctl/cli/verb.h"
#include "unit/scheduler/ctl/live_fixture.h"

#define WORKLOAD(space, owner)                                                                     \
	"{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: w-" owner           \
	", namespace: " space ", ownerReferences: [{apiVersion: batch/v1, kind: Job, name: " owner \
	"}]}}\n---\n"

#define LOCAL(name, space)                                                                         \
	"{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: " name            \
	", namespace: " space "}, spec: {clusterQueue: cq}}\n---\n"

static void add_job(struct sim_input *in, const char *name, const char *space, const char *labels)
{
	CLEANUP(xmalloc_freep)
	char *text = xmalloc_printf("{\"metadata\": {\"name\": \"%s\", \"namespace\": \"%s\", "
				    "\"labels\": %s}}",
				    name, space, labels);
	struct jdoc *job = NULL;

	assert_int_equal(jdoc_parse(str_of(text), &job, NULL), 0);
	assert_int_equal(sim_input_take(in, SCHED_JOBS, job, "f", NULL), 0);
}

static void test_of_manifests(void **state)
{
	static const struct {
		const char *type, *key, *text;
		bool as_is; /* Jobs are not read: their names are known by their Workloads */
	} rows[] = {
		{ "job", "team/train-2",
		  "job team/train-2 not found in the manifests; did you mean train-1?", false },
		{ "job", "team/queued",
		  "job team/queued has no Workload: it has the label kueue.x-k8s.io/queue-name=lq, "
		  "but no Workload was made for it",
		  false },
		{ "job", "team/unlabelled",
		  "job team/unlabelled has no Workload: it does not queue, because it has no label "
		  "kueue.x-k8s.io/queue-name with the name of a LocalQueue of namespace team (the "
		  "LocalQueues there: a, b)",
		  false },
		{ "job", "bare/unlabelled",
		  "job bare/unlabelled has no Workload: it does not queue, because it has no label "
		  "kueue.x-k8s.io/queue-name with the name of a LocalQueue of namespace bare (it "
		  "has no LocalQueue)",
		  false },
		{ "job", "team/queue",
		  "job team/queue not found in the manifests; did you mean queued?", false },
		{ "job", "bare/queue", "job bare/queue not found in the manifests", false },
		{ "job", "team/train-2",
		  "job team/train-2 has no Workload; it gets one if it has the label "
		  "kueue.x-k8s.io/queue-name; did you mean train-1?",
		  true },
		{ "job", "other/train-2",
		  "job other/train-2 has no Workload; it gets one if it has the label "
		  "kueue.x-k8s.io/queue-name",
		  true },
		{ "thing.example.com", "team/train-2",
		  "thing.example.com team/train-2 has no Workload; it gets one if it has the label "
		  "kueue.x-k8s.io/queue-name",
		  false },
	};
	CLEANUP(sim_input_destroyp) struct sim_input *in = sim_input_create(NULL, NULL);
	struct live_workloads s = { .in = in };
	struct cluster_args a = { .files = { .n = 1 } };

	(void)state;
	assert_int_equal(sim_input_add(in, "w.yaml",
				       STR_LIT(WORKLOAD("team", "train-1") WORKLOAD(
					       "elsewhere", "train-3") LOCAL("a", "team")
						       LOCAL("c", "elsewhere") LOCAL("b", "team")),
				       NULL),
			 0);
	add_job(in, "queued", "team", "{\"kueue.x-k8s.io/queue-name\": \"lq\"}");
	add_job(in, "unlabelled", "team", "{}");
	add_job(in, "unlabelled", "bare", "{}");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = ERR_INIT;

		unit_row(rows[i].type);
		a.as_is = rows[i].as_is;
		assert_int_equal(missing_workload_explain(&a, &s, rows[i].type, rows[i].key, &err),
				 -ERR_NOT_FOUND);
		assert_string_equal(err.text, rows[i].text);
	}
}

#define JOB(name, labels)                                                                          \
	"{apiVersion: batch/v1, kind: Job, metadata: {name: " name                                 \
	", namespace: ns, labels: {" labels                                                        \
	"}}, spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: "           \
	"[{name: c, image: i}]}}}}\n---\n"

/* The Job is read from the cluster, if that is allowed. */
static void test_of_a_cluster(void **state)
{
	static const struct {
		const char *fault, *line, *says;
	} rows[] = {
		{ "[]", "explain job ns/labelled",
		  "job ns/labelled has no Workload: it has the label kueue.x-k8s.io/queue-name=lq, "
		  "but no Workload was made for it; its events may say why (kubectl describe job "
		  "labelled -n ns)\n" },
		{ "[]", "explain job ns/unlabelled",
		  "it has no label kueue.x-k8s.io/queue-name with the name of a LocalQueue of "
		  "namespace ns (the LocalQueues there: lq)\n" },
		{ "[]", "explain job ns/labeled",
		  "job ns/labeled not found; did you mean labelled?\n" },
		{ "[]", "explain job default/labeled", "job default/labeled not found\n" },
		{ "[{fault: status, code: 403, path: '.*/jobs/labelled'}]",
		  "explain job ns/labelled",
		  "job ns/labelled has no Workload; it gets one if it has the label "
		  "kueue.x-k8s.io/queue-name\n" },
	};
	struct live_fixture f;

	(void)state;
	live_fixture_start(&f);
	live_fixture_load(&f, JOB("labelled", "kueue.x-k8s.io/queue-name: lq") JOB("unlabelled", "")
				      LOCAL("lq", "ns"));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].line);
		live_fixture_fault(&f, rows[i].fault);
		assert_int_equal(live_fixture_run(&f, rows[i].line), VERB_FAILED);
		if (strstr(f.out.p, rows[i].says) == NULL) {
			fail_msg("no \"%s\" in: %s", rows[i].says, f.out.p);
		}
	}
	live_fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of_manifests),
		cmocka_unit_test(test_of_a_cluster),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
