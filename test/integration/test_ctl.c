/* headgatectl against the running system: outputs, and the exit codes that scripts use. */
#include "lib/unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "play/scene.h"
#include "process/version.h"

static struct scene scene;
static char kubeconfig[400];

/* One pod runs, one is published, one waits for quota, all in team-a below the department. */
static int begin(void **state)
{
	const struct scene_options opt = { 0 };
	struct scene *s = &scene;
	struct scene_pod p = { .name = "runs", .queue = "team-a", .cpu = "1" };

	scene_start(s, &opt);
	snprintf(kubeconfig, sizeof(kubeconfig), "--kubeconfig=%s", stack_kubeconfig(s->stack));
	scene_add_queue(s, "department", NULL, "4", NULL);
	scene_add_queue(s, "team-a", "department", "2", NULL);
	scene_add_pod(s, &p);
	scene_wait(s, "runs", SCENE_RUNNING);
	p.name = "published";
	p.pool = "none";
	scene_add_pod(s, &p);
	scene_wait(s, "published", SCENE_PUBLISHED);
	p.name = "waits";
	p.pool = NULL;
	scene_add_pod(s, &p);
	scene_settle(s);
	*state = s;
	return 0;
}

static int end(void **state)
{
	scene_judge(*state);
	scene_stop(*state);
	return 0;
}

/* Runs headgatectl with these words, parted by blanks, and the kubeconfig after the verb. */
static int ctl(const char *words, struct strbuf *out)
{
	const char *args[16];
	char copy[400];
	size_t n = 0;

	snprintf(copy, sizeof(copy), "%s", words);
	for (char *p = copy; p != NULL && n < ARRAY_LEN(args) - 2;) {
		char *blank = strchr(p, ' ');

		if (blank != NULL) {
			*blank = '\0';
		}
		args[n++] = p;
		if (str_streq(p, "queues") || str_streq(p, "explain") || str_streq(p, "drain") ||
		    str_streq(p, "open") || str_streq(p, "close") || str_streq(p, "doctor")) {
			args[n++] = kubeconfig;
		}
		p = blank == NULL ? NULL : blank + 1;
	}
	args[n] = NULL;
	return stack_run(scene.stack, "headgatectl", args, out);
}

static struct jdoc *ctl_json(const char *words)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	struct jdoc *d = NULL;

	assert_int_equal(ctl(words, &out), 0);
	assert_int_equal(jdoc_parse(strbuf_str(&out), &d, NULL), 0);
	return d;
}

static void expect(const char *words, int code, const char *const *says)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	int got = ctl(words, &out);

	if (got != code) {
		fail_msg("headgatectl %s: exit code %d, not %d: %s", words, got, code, out.p);
	}
	for (; *says != NULL; says++) {
		if (strstr(out.p, *says) == NULL) {
			fail_msg("headgatectl %s: no \"%s\" in: %s", words, *says, out.p);
		}
	}
}

static void test_outputs_and_exit_codes(void **state UNUSED)
{
	static const struct {
		const char *words;
		int code;
		const char *says[6];
	} rows[] = {
		{ "queues", 0, { "QUEUE", "STATE", "department", "  team-a", "cpu 2", "default" } },
		{ "explain pod default/waits",
		  0,
		  { "default/waits", "team-a", "gated by Headgate" } },
		{ "explain pod waits -n default", 0, { "default/waits", "team-a" } },
		{ "explain pod default/published", 0, { "Published", "team-a", "node" } },
		{ "explain pod default/runs", 0, { "default/runs", "it has a node" } },
		{ "explain pod default/absent", 1, { "absent" } },
		{ "explain pod", 2, { "headgatectl" } },
		{ "explain cow default/waits", 2, { "expected: explain pod" } },
		{ "explain", 2, { "headgatectl" } },
		{ "queues extra", 2, { "extra" } },
		{ "queues -o yaml", 2, { "yaml" } },
		{ "queues --nonsense", 2, { "nonsense" } },
		{ "queues --server=https://127.0.0.1:1", 1, { "headgatectl" } },
		{ "queues --scheduler-conf=/nonexistent", 1, { "/nonexistent" } },
		{ "queues --dump=/nonexistent", 1, { "/nonexistent" } },
		{ "version", 0, { "headgatectl", HEADGATE_VERSION } },
		{ "bogus", 2, { "bogus", "Verbs:" } },
		{ "--help", 0, { "Verbs:", "drain" } },
		{ "certs --dns=a --days=0", 2, { "days" } },
		{ "certs --dns=a --out=/dev/null/folder", 1, { "/dev/null: Not a directory" } },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *says[ARRAY_LEN(rows[i].says) + 1] = { NULL };

		memcpy(says, rows[i].says, sizeof(rows[i].says));
		expect(rows[i].words, rows[i].code, says);
	}
}

static const struct jdoc *find(const struct jdoc *list, const char *name)
{
	for (const struct jdoc *d = jdoc_first(list); d != NULL; d = jdoc_next(d)) {
		if (jdoc_is_str(jdoc_get(d, "name"), name)) {
			return d;
		}
	}
	return NULL;
}

static void test_queues_as_json(void **state UNUSED)
{
	struct jdoc *d = ctl_json("queues -o json");
	const struct jdoc *list = jdoc_kind(d) == JDOC_ARRAY ? d : jdoc_first(d);
	const struct jdoc *q = find(list, "team-a");

	assert_non_null(q);
	assert_string_equal(jdoc_path_str(q, "allocated.cpu"), "1");
	assert_string_equal(jdoc_path_str(q, "reserved.cpu"), "1");
	assert_int_equal(jdoc_int(jdoc_get(q, "publishedPods"), -1), 1);
	assert_int_equal(jdoc_int(jdoc_get(q, "gatedPods"), -1), 1);
	jdoc_destroy(d);
	d = ctl_json("explain pod default/waits -o json");
	assert_int_equal(jdoc_kind(d), JDOC_OBJECT);
	jdoc_destroy(d);
	d = ctl_json("version -o json");
	assert_string_equal(jdoc_path_str(d, "version"), HEADGATE_VERSION);
	jdoc_destroy(d);
}

static void test_certificates(void **state UNUSED)
{
	static const char *const files[] = { "ca.crt", "ca.key", "tls.crt", "tls.key" };
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	CLEANUP(xmalloc_freep)
	char *words = xmalloc_printf("certs --dns=example.com --ip=127.0.0.1 --out=%s/made",
				     stack_dir(scene.stack));
	char path[500];

	snprintf(path, sizeof(path), "%s/made", stack_dir(scene.stack));
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(ctl(words, &out), 0);
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		snprintf(path, sizeof(path), "%s/made/%s", stack_dir(scene.stack), files[i]);
		assert_int_equal(access(path, R_OK), 0);
	}
	assert_int_equal(ctl(words, &out), 0); /* good ones are there */
}

struct expected_state {
	const char *queue, *state;
};

static bool queue_has_state(void *ctx, const struct mirror *m)
{
	const struct expected_state *e = ctx;
	const struct jdoc *queue = mirror_get(m, MIRROR_QUEUES, e->queue);

	return jdoc_is_str(jdoc_path(queue, "status.state"), e->state);
}

static void wait_state(const char *queue, const char *state)
{
	struct expected_state e = { queue, state };

	scene_wait_for(&scene, "the state of the queue", queue_has_state, &e);
}

static void say(const char *words, int code, const char *text)
{
	const char *says[] = { text, NULL };

	expect(words, code, says);
}

/* A tree of its own: a queue that opens may give its quota to another pod than before. */
static void add_office(void)
{
	struct scene_pod p = { .name = "letter", .queue = "desk", .cpu = "1", .pool = "none" };

	scene_add_queue(&scene, "office", NULL, "2", NULL);
	scene_add_queue(&scene, "desk", "office", "1", NULL);
	scene_add_queue(&scene, "shelf", "office", "1", NULL);
	scene_add_pod(&scene, &p);
	scene_wait(&scene, "letter", SCENE_PUBLISHED);
}

static void test_close_and_open(void **state UNUSED)
{
	add_office();
	say("close queue nope", 1, "queue nope: ");
	say("close queue desk --dry-run=client", 0, "desk closed (dry run)");
	say("close queue desk --dry-run=server", 0, "desk closed (server dry run)");
	wait_state("desk", "Open");
	say("open queue desk", 0, "queue.scheduling.volcano.sh/desk is open already");
	say("close queue shelf", 0, "queue.scheduling.volcano.sh/shelf closed");
	wait_state("shelf", "Closed");
	say("open queue shelf", 0, "shelf opened");
	say("close queue desk", 0, "queue.scheduling.volcano.sh/desk closed");
	say("close queue desk", 0, "desk is closed already");
	wait_state("desk", "Closing"); /* it has a pod */
	scene_wait(&scene, "letter", SCENE_WITHDRAWN);
	say("open queue desk", 0, "queue.scheduling.volcano.sh/desk opened");
	wait_state("desk", "Open");
	scene_wait(&scene, "letter", SCENE_PUBLISHED);
}

/* Queues that are closed with their parent open with it, unless they were closed by name as well.
 */
static void test_close_and_open_a_tree(void **state UNUSED)
{
	say("close queue office", 0, "office closed");
	wait_state("desk", "Closing");
	wait_state("shelf", "Closed");
	say("open queue desk", 1, "queue desk: its parent, queue office, is ");
	say("close queue shelf", 0, "shelf is closed already");
	say("open queue office", 0, "office opened");
	wait_state("desk", "Open");
	scene_settle(&scene);
	wait_state("shelf", "Closed");
	say("open queue shelf", 0, "shelf opened");
	scene_settle(&scene);
	wait_state("shelf", "Open");
	scene_wait(&scene, "letter", SCENE_PUBLISHED);
}

/* Mistakes of first-time users: the verdict names each of them. */
static const struct {
	struct scene_pod pod;
	const char *words; /* behind "explain pod " */
	int code;
	const char *says[4];
} mistakes[] = {
	{ { .name = "typo", .queue = "team-aa", .cpu = "1" },
	  "typo",
	  0,
	  { "Verdict:   waits for queue team-aa, which does not exist; did you mean "
	    "team-a?\n",
	    "Queue:     team-aa\n" } },
	{ { .name = "other", .queue = "team-a", .cpu = "1", .scheduler = "mine" },
	  "other",
	  0,
	  { "is not scheduled by Headgate: its spec.schedulerName is mine, and Headgate "
	    "schedules pods that name volcano, and gates those that name "
	    "default-scheduler\n",
	    "Gate:      none: it opts in, but pods of its scheduler are not gated\n" } },
	{ { .name = "gated", .queue = "team-a", .cpu = "3", .scheduler = "default-scheduler" },
	  "gated",
	  0,
	  { "can never get quota: 3 cpu needed, and the limit of queue team-a is 2" } },
	{ { .name = "ungated", .cpu = "1", .scheduler = "default-scheduler" },
	  "ungated",
	  0,
	  { "has quota, and its own scheduler places it" } },
	{ { .name = "plain", .cpu = "1", .scheduler = "mine", .not_opted_in = true },
	  "plain -o json",
	  0,
	  { "\"schedulerName\":\"mine\"", "\"gate\":\"none\"", "\"charge\":null" } },
	{ { .name = "large", .queue = "team-a", .cpu = "3" },
	  "large",
	  0,
	  { "can never get quota: 3 cpu needed, and the limit of queue team-a is 2" } },
	{ { .name = "inner", .queue = "department", .cpu = "1" },
	  "inner",
	  0,
	  { "queue department accepts no pods: it is not a leaf of the queue tree" } },
	{ { .name = NULL }, "default/wait", 1, { "not found; did you mean waits?" } },
	{ { .name = NULL }, "wait -n elsewhere", 1, { "pod elsewhere/wait not found\n" } },
};

static void test_explain_names_the_mistake(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_LEN(mistakes); i++) {
		const char *says[ARRAY_LEN(mistakes[i].says) + 1] = { NULL };
		char words[100];

		if (mistakes[i].pod.name != NULL) {
			scene_add_pod(&scene, &mistakes[i].pod);
			scene_settle(&scene);
		}
		memcpy(says, mistakes[i].says, sizeof(mistakes[i].says));
		snprintf(words, sizeof(words), "explain pod %s", mistakes[i].words);
		expect(words, mistakes[i].code, says);
		if (mistakes[i].pod.name != NULL) {
			scene_delete_pod(&scene, mistakes[i].pod.name);
		}
	}
}

/* The queue closes, or is deleted, while the pod waits. */
static void test_explain_a_queue_that_is_gone(void **state UNUSED)
{
	struct scene_pod p = { .name = "left", .queue = "shed", .cpu = "2" };

	scene_add_queue(&scene, "shed", NULL, "1", NULL);
	scene_add_pod(&scene, &p);
	scene_settle(&scene);
	say("close queue shed", 0, "shed closed");
	wait_state("shed", "Closing");
	say("explain pod left", 0,
	    "queue shed accepts no pods: its state is Closing; headgatectl open queue shed opens "
	    "it\n");
	scene_delete_pod(&scene, "left");
}

static void test_explain_an_unsupported_field(void **state UNUSED)
{
	struct scene_pod p = { .name = "ring-1", .group = "ring", .cpu = "1" };

	scene_apply(&scene, "{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: "
			    "{name: ring, namespace: default}, spec: {queue: team-a, minMember: 1, "
			    "networkTopology: {mode: hard, highestTierAllowed: 1}}}");
	scene_add_pod(&scene, &p);
	scene_settle(&scene);
	assert_true(scene_is(&scene, "ring-1", SCENE_GATED));
	say("explain pod ring-1", 0,
	    "Verdict:   spec.networkTopology of the PodGroup has mode hard");
	scene_delete_pod(&scene, "ring-1");
}

#define QUEUE_LABEL "{\"a\":\"b\",\"kueue.x-k8s.io/queue-name\":\"q\"}"
#define NO_LABEL "{\"a\":\"b\"}"
#define DEPLOYMENTS "/apis/apps/v1/namespaces/default/deployments"

static void add_deployment(const char *name, const char *labels, const char *pod_labels)
{
	CLEANUP(xmalloc_freep)
	char *body = xmalloc_printf(
		"{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"%s\","
		"\"labels\":%s},\"spec\":{\"replicas\":0,\"selector\":{\"matchLabels\":" NO_LABEL
		"},\"template\":{\"metadata\":{\"labels\":%s},\"spec\":{\"containers\":[{\"name\":"
		"\"c\",\"image\":\"i\"}]}}}}",
		name, labels, pod_labels);

	scene_call(&scene, "POST", DEPLOYMENTS, body, NULL);
}

static void test_doctor(void **state UNUSED)
{
	say("doctor", 0, "no problems found");
	add_deployment("plain", NO_LABEL, NO_LABEL);
	add_deployment("pods", QUEUE_LABEL, QUEUE_LABEL);
	say("doctor", 0, "no problems found");
	add_deployment("named", QUEUE_LABEL, NO_LABEL);
	say("doctor", 1, "Deployment.apps default/named: has the label");
	say("doctor --server=https://127.0.0.1:1", 1, "headgatectl");
	say("doctor extra", 2, "extra");
	scene_call(&scene, "DELETE", DEPLOYMENTS "/named", NULL, NULL);
}

#define QUEUE_NAME "kueue.x-k8s.io/queue-name: q"
#define CONTAINERS "restartPolicy: Never, containers: [{name: c, image: i}]"

static void add_labelled_pod(const char *name, const char *labels, const char *owners)
{
	CLEANUP(xmalloc_freep)
	char *yaml = xmalloc_printf(
		"{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: default, labels: "
		"{" QUEUE_NAME
		"%s}, ownerReferences: [%s]}, spec: {schedulerName: other, " CONTAINERS "}}",
		name, labels, owners);

	scene_apply(&scene, yaml);
}

static void add_job(const char *name, const char *owners, const char *suspend)
{
	CLEANUP(xmalloc_freep)
	char *yaml = xmalloc_printf(
		"{apiVersion: batch/v1, kind: Job, metadata: {name: %s, namespace: default, "
		"labels: {" QUEUE_NAME
		"}, ownerReferences: [%s]}, spec: {suspend: %s, template: {spec: {" CONTAINERS
		"}}}}",
		name, owners, suspend);

	scene_apply(&scene, yaml);
}

static char *write_config(void)
{
	char *path = xmalloc_printf("%s/kueue.yaml", stack_dir(scene.stack));
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs("integrations: {externalFrameworks: [Foo.v1.example.com, Deployment.v1.apps]}\n", f);
	assert_int_equal(fclose(f), 0);
	return path;
}

#define OWNER(version, kind)                                                                       \
	"{apiVersion: " version ", kind: " kind ", name: o, uid: u, controller: true}"

/* Pods and Jobs that are older than the webhook, or were created while it did not answer. */
static void test_doctor_of_pods_and_jobs(void **state UNUSED)
{
	CLEANUP(xmalloc_freep) char *config = write_config();
	CLEANUP(xmalloc_freep) char *words = xmalloc_printf("doctor --config=%s", config);

	add_labelled_pod("managed", ", kueue.x-k8s.io/managed: 'true'", "");
	add_labelled_pod("of-a-job", "", OWNER("batch/v1", "Job"));
	add_job("suspended", "", "true");
	add_job("nested", OWNER("batch/v1", "Job"), "false");
	say("doctor", 0, "no problems found");
	add_labelled_pod("external", "", OWNER("example.com/v1", "Foo"));
	say("doctor", 1, "Pod default/external: has the label");
	add_job("external", OWNER("example.com/v1", "Foo"), "false");
	say("doctor", 1, "Job.batch default/external: has the label");
	add_deployment("external", QUEUE_LABEL, NO_LABEL);
	say(words, 0, "no problems found");
	add_labelled_pod("free", "", "");
	add_job("free", "", "false");
	say(words, 1, "Pod default/free: has the label");
	say(words, 1,
	    "Job.batch default/free: has the label kueue.x-k8s.io/queue-name but runs "
	    "without a Workload");
	say("doctor --config=/nowhere", 1, "/nowhere");
}

/* The last test: the registrations are gone afterwards. */
static void test_drain(void **state)
{
	static const char *const dry[] = { "would remove", "nothing was changed", NULL };
	static const char *const wet[] = { "removed the gate from 1 pods", NULL };
	static const char *const again[] = { "removed the gate from 0 pods", NULL };
	struct scene *s = *state;
	struct scene_pod p = { .name = "after", .queue = "team-a", .cpu = "1" };

	expect("drain", 0, dry);
	expect("drain --instance=none", 0, dry);
	say("drain --instance=a,b", 2, "is not the name of a Helm release");
	scene_settle(s);
	assert_true(scene_is(s, "waits", SCENE_GATED));
	expect("drain --yes", 0, wet);
	scene_wait(s, "waits", SCENE_UNGATED);
	expect("drain --yes", 0, again);
	scene_add_pod(s, &p);
	scene_settle(s);
	assert_false(scene_saw(s, "after", SCENE_GATED));
	/* Without gates too, nothing beyond quota is published. */
	assert_true(scene_is(s, "published", SCENE_PUBLISHED));
	assert_false(scene_saw(s, "waits", SCENE_PUBLISHED));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outputs_and_exit_codes),
		cmocka_unit_test(test_queues_as_json),
		cmocka_unit_test(test_certificates),
		cmocka_unit_test(test_explain_names_the_mistake),
		cmocka_unit_test(test_explain_a_queue_that_is_gone),
		cmocka_unit_test(test_explain_an_unsupported_field),
		cmocka_unit_test(test_close_and_open),
		cmocka_unit_test(test_close_and_open_a_tree),
		cmocka_unit_test(test_doctor),
		cmocka_unit_test(test_doctor_of_pods_and_jobs),
		cmocka_unit_test(test_drain),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests(tests, begin, end);
}
