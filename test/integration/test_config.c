/* Configuration, flags and objects that are wrong; reload, dump, health and metrics. */
#include "lib/unit.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "play/scene.h"
#include "process/file.h"

#define GATE "scheduling.volcano.sh/queue-allocation-gate"

static const char good[] = "actions: \"enqueue, allocate, backfill\"\n"
			   "tiers:\n"
			   "- plugins:\n"
			   "  - name: priority\n"
			   "  - name: gang\n"
			   "  - name: predicates\n"
			   "  - name: capacity\n"
			   "    enableHierarchy: true\n";
static const char without_quota[] = "actions: \"enqueue, allocate, backfill\"\n"
				    "tiers:\n"
				    "- plugins:\n"
				    "  - name: gang\n"
				    "  - name: predicates\n";
static const char unknown_action[] = "actions: \"enqueue, nonsense\"\n";
static const char unknown_plugin[] = "actions: \"allocate\"\n"
				     "tiers:\n"
				     "- plugins:\n"
				     "  - name: nonsense\n";
/* The argument alone is only warned about. */
static const char unknown_argument[] = "actions: \"allocate\"\n"
				       "tiers:\n"
				       "- plugins:\n"
				       "  - {name: gang, arguments: {gang.max: 1}}\n"
				       "  - name: nonsense\n";
/* As Volcano's chart has it. */
static const char volcano_chart[] = "actions: \"enqueue, allocate, backfill\"\n"
				    "tiers:\n"
				    "- plugins:\n"
				    "  - name: priority\n"
				    "  - name: gang\n"
				    "    enablePreemptable: false\n"
				    "  - name: conformance\n"
				    "- plugins:\n"
				    "  - name: overcommit\n"
				    "  - name: drf\n"
				    "    enablePreemptable: false\n"
				    "  - name: predicates\n"
				    "  - name: proportion\n"
				    "  - name: nodeorder\n"
				    "  - name: binpack\n";
static const char broken[] = "actions: \"allocate\"\n"
			     "tiers: [\n";

static struct scene scene;

static int begin(void **state)
{
	const struct scene_options opt = { .stack.scheduler_conf = good };

	scene_start(&scene, &opt);
	*state = &scene;
	return 0;
}

static void write_conf(struct scene *s, const char *name, const char *text)
{
	CLEANUP(xmalloc_freep) char *path = xmalloc_printf("%s/%s", stack_dir(s->stack), name);

	assert_int_equal(file_write_atomic(path, str_of(text), 0600, NULL), 0);
}

static void test_bad_configuration_at_start(void **state)
{
	static const struct {
		const char *text;     /* NULL: no such file */
		const char *place[2]; /* texts of the message */
	} rows[] = {
		{ NULL, { "bad.conf", "No such file" } },
		{ broken, { "bad.conf", "line 3" } },
		{ unknown_action, { "bad.conf:1:", "unknown action" } },
		{ unknown_plugin, { "bad.conf:4:", "unknown plugin" } },
		{ unknown_argument, { "bad.conf:4:", "unknown argument of plugin gang" } },
		{ "actions: 7\n", { "bad.conf", "actions" } },
		{ "- a\n- b\n", { "bad.conf", "" } },
	};
	struct scene *s = *state;
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	CLEANUP(xmalloc_freep)
	char *kube = xmalloc_printf("--kubeconfig=%s", stack_kubeconfig(s->stack));
	CLEANUP(xmalloc_freep)
	char *conf = xmalloc_printf("--scheduler-conf=%s/bad.conf", stack_dir(s->stack));
	const char *const args[] = { kube, conf, "--listen-address=127.0.0.1:0",
				     "--healthz-address=127.0.0.1:0", NULL };

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (rows[i].text != NULL) {
			write_conf(s, "bad.conf", rows[i].text);
		}
		assert_int_equal(stack_run(s->stack, "headgate-scheduler", args, &out), 2);
		assert_non_null(strstr(out.p, rows[i].place[0]));
		assert_non_null(strstr(out.p, rows[i].place[1]));
	}
}

static void test_bad_flags(void **state)
{
	static const struct {
		const char *program;
		const char *args[4];
		const char *says;
	} rows[] = {
		{ "headgate-scheduler", { "--nonsense" }, "nonsense" },
		{ "headgate-scheduler", { "extra" }, "extra" },
		{ "headgate-scheduler", { "--gate-removal-worker-num=0" }, "worker-num" },
		{ "headgate-scheduler", { "--schedule-period=fast" }, "schedule-period" },
		{ "headgate-scheduler", { "--feature-gates=Nonsense=true" }, "Nonsense" },
		{ "headgate-scheduler", { "--leader-elect-renew-deadline=1h" }, "renew deadline" },
		{ "headgate-scheduler", { "--kubeconfig=/nonexistent" }, "/nonexistent" },
		{ "headgate-webhook", { "--nonsense" }, "nonsense" },
		{ "headgate-webhook", { "--offline" }, "tls-cert-file" },
		{ "headgate-webhook",
		  { "--offline", "--tls-cert-file=/nonexistent",
		    "--tls-private-key-file=/nonexistent" },
		  "/nonexistent" },
		{ "headgate-apiserver", { "--port=99999" }, "99999" },
		{ "headgate-apiserver", { "--port=0", "--faults=/nonexistent" }, "/nonexistent" },
	};
	struct scene *s = *state;
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(stack_run(s->stack, rows[i].program, rows[i].args, &out), 2);
		assert_non_null(strstr(out.p, rows[i].says));
	}
}

#define RELOADS(result) "headgate_configuration_reloads_total{result=\"" result "\"}"

static void wait_reloads(struct scene *s, const char *sample, double n)
{
	CLEANUP(xmalloc_freep) char *line = xmalloc_printf("%s %g", sample, n);

	scene_wait_metric(s, STACK_SCHEDULER, line);
}

static bool is_unready(void *ctx, const struct mirror *m UNUSED)
{
	return scene_http(ctx, STACK_SCHEDULER, "/readyz", NULL) == 503;
}

static void test_reload(void **state)
{
	struct scene *s = *state;
	const char *bad[] = { broken, unknown_action, unknown_plugin };
	struct scene_pod p = { .name = "under-old", .queue = "reload", .cpu = "1" };

	scene_add_queue(s, "reload", NULL, "1", NULL);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		double failed = scene_metric(s, STACK_SCHEDULER, RELOADS("failed"));

		write_conf(s, "scheduler.conf", bad[i]);
		wait_reloads(s, RELOADS("failed"), failed + 1);
	}
	/* The old one is in force. */
	scene_add_pod(s, &p);
	scene_wait(s, "under-old", SCENE_RUNNING);
	assert_int_equal(scene_http(s, STACK_SCHEDULER, "/readyz", NULL), 200);
	write_conf(s, "scheduler.conf", without_quota);
	wait_reloads(s, RELOADS("ok"), 1);
	scene_wait_for(s, "the new configuration shows", is_unready, s);
	write_conf(s, "scheduler.conf", volcano_chart);
	wait_reloads(s, RELOADS("ok"), 2);
	scene_settle(s);
	assert_int_equal(scene_http(s, STACK_SCHEDULER, "/readyz", NULL), 200);
	write_conf(s, "scheduler.conf", good);
	wait_reloads(s, RELOADS("ok"), 3);
	scene_settle(s);
	assert_int_equal(scene_http(s, STACK_SCHEDULER, "/readyz", NULL), 200);
}

static int by_the_good_one(void **state)
{
	scene_restart_scheduler(*state, good, NULL);
	scene_settle(*state);
	return scene_after_each(state);
}

static void test_health_and_metrics(void **state)
{
	static const enum stack_program programs[] = { STACK_SCHEDULER, STACK_WEBHOOK };
	static const char *const paths[] = { "/healthz", "/livez", "/readyz", "/livez?verbose" };
	struct scene *s = *state;
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;

	for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
		for (size_t k = 0; k < ARRAY_LEN(paths); k++) {
			assert_int_equal(scene_http(s, programs[i], paths[k], NULL), 200);
		}
		assert_int_equal(scene_http(s, programs[i], "/nothing", NULL), 404);
		assert_int_equal(scene_http(s, programs[i], "/metrics", &out), 200);
		assert_non_null(strstr(out.p, "# TYPE headgate_"));
	}
}

static bool find_dump(const char *dir, char *out, size_t size)
{
	DIR *d = opendir(dir);
	bool found = false;

	for (const struct dirent *e = d == NULL ? NULL : readdir(d); e != NULL; e = readdir(d)) {
		if (str_has_suffix(str_of(e->d_name), ".json")) {
			snprintf(out, size, "%s/%s", dir, e->d_name);
			found = true;
		}
	}
	if (d != NULL) {
		closedir(d);
	}
	return found;
}

struct dump {
	struct scene *s;
	char path[600];
};

static bool has_dump(void *ctx, const struct mirror *m UNUSED)
{
	struct dump *d = ctx;

	return find_dump(stack_dir(d->s->stack), d->path, sizeof(d->path));
}

static void test_dump_explains(void **state)
{
	struct scene *s = *state;
	struct dump d = { .s = s };
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	CLEANUP(xmalloc_freep)
	char *dir = xmalloc_printf("--cache-dump-dir=%s", stack_dir(s->stack));
	const char *const args[] = { dir, NULL };
	const char *explain[] = { "explain", "--dump", d.path, "pod", "default/waits", NULL };
	struct scene_pod p = { .name = "holds", .queue = "dump", .cpu = "1", .pool = "none" };

	scene_restart_scheduler(s, good, args);
	scene_add_queue(s, "dump", NULL, "1", NULL);
	scene_add_pod(s, &p);
	scene_wait(s, "holds", SCENE_PUBLISHED);
	p.name = "waits";
	scene_add_pod(s, &p);
	scene_settle(s);
	assert_true(stack_signal(s->stack, STACK_SCHEDULER, SIGUSR1));
	scene_wait_for(s, "the dump is there", has_dump, &d);
	assert_int_equal(stack_run(s->stack, "headgatectl", explain, &out), 0);
	assert_non_null(strstr(out.p, "dump"));
	explain[4] = "default/absent";
	assert_int_equal(stack_run(s->stack, "headgatectl", explain, &out), 1);
	assert_non_null(strstr(out.p, "absent"));
}

/* Without the webhook, which would refuse such queues. */
static void test_bad_objects_do_not_stop_the_others(void **state UNUSED)
{
	static const char gated[] = "[{\"name\":\"" GATE "\"}]";
	static const char queues[] =
		"{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: top},"
		" spec: {parent: root, capability: {cpu: '4'}}}\n---\n"
		"{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: bad},"
		" spec: {parent: top, capability: {cpu: 1E1.5}}}\n---\n"
		"{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: "
		"below-bad},"
		" spec: {parent: bad, capability: {cpu: '1'}}}\n---\n"
		"{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: sound},"
		" spec: {parent: top, capability: {cpu: '1'}}}\n";
	const struct scene_options opt = { .stack.no_webhook = true };
	struct scene_pod p = { .cpu = "1", .gates = gated };
	struct scene s;

	if (stack_is_external()) {
		print_message("skipped: a real API server has no bad nodes\n");
		skip();
	}
	scene_start(&s, &opt);
	scene_apply(&s, queues);
	scene_apply(&s, "{apiVersion: v1, kind: Node, metadata: {name: bad-node},"
			" status: {allocatable: {cpu: 1x}}}");
	p.name = p.queue = "bad";
	scene_add_pod(&s, &p);
	p.name = p.queue = "below-bad";
	scene_add_pod(&s, &p);
	p.name = p.queue = "sound";
	scene_add_pod(&s, &p);
	scene_wait(&s, "sound", SCENE_RUNNING);
	scene_wait_event(&s, "InvalidObject", "bad");
	scene_wait_event(&s, "InvalidObject", "bad-node");
	assert_true(scene_metric(&s, STACK_SCHEDULER,
				 "headgate_bad_objects_total{resource=\"queues\"}") >= 1);
	assert_true(scene_metric(&s, STACK_SCHEDULER,
				 "headgate_bad_objects_total{resource=\"nodes\"}") >= 1);
	scene_settle(&s);
	assert_true(scene_is(&s, "bad", SCENE_GATED));
	assert_true(scene_is(&s, "below-bad", SCENE_GATED));
	/* When it is corrected, the queues below it open; it is no leaf itself. */
	scene_patch_queue(&s, "bad", "{\"spec\":{\"capability\":{\"cpu\":\"2\"}}}");
	scene_wait(&s, "below-bad", SCENE_RUNNING);
	assert_true(scene_is(&s, "bad", SCENE_GATED));
	scene_judge(&s);
	scene_stop(&s);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_configuration_at_start),
		cmocka_unit_test(test_bad_flags),
		cmocka_unit_test_teardown(test_reload, by_the_good_one),
		cmocka_unit_test(test_health_and_metrics),
		cmocka_unit_test_teardown(test_dump_explains, scene_after_each),
		cmocka_unit_test(test_bad_objects_do_not_stop_the_others),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests(tests, begin, scene_end);
}
