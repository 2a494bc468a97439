/* test/demo/demo.c: the main job on the embedded API server: plays the manifests of this folder
 * against the real daemons, with simulated kubelets and a simulated autoscaler, prints a timeline
 * and says whether every promise held. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "demo/chart.h"
#include "demo/fleet_act.h"
#include "demo/fleet_demo.h"
#include "demo/timeline.h"
#include "enc/json/jdoc.h"
#include "kube/transport.h"
#include "play/autoscaler.h"
#include "play/history.h"
#include "play/job_controller.h"
#include "play/kube_scheduler.h"
#include "play/kubelet.h"
#include "play/mirror.h"
#include "play/stack.h"

#define STEP_TIMEOUT_NS (300 * CLOCK_NS_PER_S) /* only reached when something is broken */
#define START_DELAY_NS (20 * CLOCK_NS_PER_MS)

static const struct autoscaler_group groups[] = {
	{ "special", "2", "4Gi", 110, "pool", "special", 5 },
	{ "large", "4", "8Gi", 110, "pool", "large", 5 },
	{ "small", "1", "1Gi", 110, "pool", "small", 20 },
	{ "plain", "1", "1Gi", 110, "pool", "plain", 20 },
	{ "batch", "2", "4Gi", 110, "pool", "batch", 20 },
	{ "web", "1", "1Gi", 110, "pool", "web", 20 },
	{ "general", "4", "8Gi", 110, "pool", "general",
	  20 }, /* pods without nodeSelector get these */
};

/* One act: a manifest, the pods it waits for, and what it shows. */
struct act {
	const char *manifest, *prefix, *title, *explanation;
	unsigned pods;
	const char *pool; /* its nodes are counted */
	unsigned bought;
	const char *drawn; /* title in the picture */
	/* Applied, unless NULL, as soon as so many pods with this prefix run. */
	const char *then, *then_prefix;
	unsigned then_pods;
};

static struct act acts[] = {
	{ "01-proposal.yaml", "default/pod-", "1. Three pods, quota for one",
	  "   pod-2 selects a node that does not exist yet: it keeps its quota while the\n"
	  "   autoscaler buys the node, and pod-3 stays behind its gate.",
	  3, "special", 0, "1. Three pods, quota for one", NULL, NULL, 0 },
	{ "02-gang.yaml", "default/train-", "2. A gang of four, on nodes that do not exist yet",
	  "   All four get quota together, or none does; then two nodes are bought.", 4, "large", 0,
	  "2. A gang of four", NULL, NULL, 0 },
	{ "03-ten.yaml", "default/ten-", "3. Ten pods of which quota allows three at a time",
	  "   The autoscaler sees three pods, and buys three nodes.", 10, "small", 0,
	  "3. Ten pods, quota for three", NULL, NULL, 0 },
	{ "04-ten-without-gate.yaml", "default/plain-", "4. The same ten pods without the gate",
	  "   The autoscaler sees all ten, and buys ten nodes; quota still allows three.", 10,
	  "plain", 0, "4. The same ten pods without opting in", NULL, NULL, 0 },
	{ "05-jobs.yaml", "default/job-", "5. Three Jobs of 3, 2 and 2 CPU, quota for 4",
	  "   Suspended Jobs wait in a ClusterQueue. job-high comes last, with a higher\n"
	  "   priority: it preempts job-long, which runs again when there is quota.",
	  7, "batch", 0, "5. Three Jobs, quota for 4 CPU", "05-jobs-high.yaml", "default/job-long-",
	  3 },
	{ "06-kube-scheduler.yaml", "shop/web-", "6. Six pods of kube-scheduler, quota for two",
	  "   Headgate takes gates off as quota is reserved, and does no more. The\n"
	  "   simulated kube-scheduler reports pods that find no node, and places them.",
	  6, "web", 0, "6. Six pods of kube-scheduler, quota for 2", NULL, NULL, 0 },
};

struct demo {
	struct stack *stack;
	struct transport *transport;
	struct mirror *mirror;
	struct kubelet *kubelet;
	struct kube_scheduler *kube_scheduler;
	struct job_controller *jobs;
	struct autoscaler *autoscaler;
	struct timeline *timeline;
	struct fleet_act fleet; /* counts of the last act */
	int failures;
};

static void on_scale_up(void *ctx, const char *node, const char *pod UNUSED)
{
	struct demo *d = ctx;

	timeline_ordered(d->timeline, node);
	for (size_t i = 0; i < ARRAY_LEN(acts); i++) {
		if (strncmp(node, acts[i].pool, strlen(acts[i].pool)) == 0) {
			acts[i].bought++;
		}
	}
}

/* How many pods with this prefix are in this phase. */
struct progress {
	const char *prefix, *phase;
	unsigned wanted, n;
};

static bool count_pod(void *ctx, struct str key, const struct jdoc *pod)
{
	struct progress *p = ctx;

	p->n += str_has_prefix(key, p->prefix) &&
		jdoc_is_str(jdoc_path(pod, "status.phase"), p->phase);
	return true;
}

static bool is_complete(void *ctx, struct str key UNUSED, const struct jdoc *job)
{
	bool *all = ctx;

	*all = *all && jdoc_path(job, "status.completionTime") != NULL;
	return *all;
}

static bool has_come_so_far(void *ctx, const struct mirror *m)
{
	struct progress *p = ctx;

	p->n = 0;
	mirror_each(m, MIRROR_PODS, count_pod, p);
	return p->n == p->wanted;
}

static bool is_over(void *ctx, const struct mirror *m)
{
	bool complete = true;

	mirror_each(m, MIRROR_JOBS, is_complete, &complete);
	return complete && has_come_so_far(ctx, m);
}

static bool is_ready(void *ctx UNUSED, const struct mirror *m)
{
	return mirror_is_synced(m) && mirror_count(m, MIRROR_NODES) == 1 &&
	       mirror_get(m, MIRROR_QUEUES, "root") != NULL &&
	       mirror_get(m, MIRROR_QUEUES, "default") != NULL;
}

static int apply(struct demo *d, const char *file, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

	strbuf_printf(&path, "%s/test/demo/%s", stack_source(), file);
	return stack_apply_file(d->stack, path.p, err);
}

static bool has_colors(void)
{
	const char *none = getenv("NO_COLOR");

	return isatty(STDOUT_FILENO) && (none == NULL || none[0] == '\0');
}

static int start(struct demo *d, struct err *err)
{
	/* Longer than the defaults: there is no standby, and a busy machine shall not end the
	 * demo. */
	static const char *const args[] = { "--leader-elect-lease-duration=5m",
					    "--leader-elect-renew-deadline=4m",
					    "--leader-elect-retry-period=2s", NULL };
	struct stack_options so = { .scheduler_args = args, .quota = true };
	struct autoscaler_options ao = { .groups = groups,
					 .ngroups = ARRAY_LEN(groups),
					 .scan_interval_ns = 100 * CLOCK_NS_PER_MS,
					 .provision_ns = 400 * CLOCK_NS_PER_MS,
					 .on_scale_up = on_scale_up,
					 .ctx = d };
	int r;

	printf("A cluster on this machine: an API server, Headgate's webhook and scheduler, and\n"
	       "simulated kubelets, Job controller, kube-scheduler and autoscaler. There is one\n"
	       "node of 2 CPU. Each line has the time, what happens, and the quota of the queue\n"
	       "in use.\n\n");
	fflush(stdout);
	r = stack_start(&so, &d->stack, err);

	if (r == 0) {
		r = stack_transport(d->stack, &d->transport, err);
	}
	if (r < 0) {
		return r;
	}
	d->mirror = mirror_create(d->transport, clock_real(), true);
	d->timeline = timeline_create(d->mirror, has_colors());
	mirror_follow(d->mirror, MIRROR_JOBS);
	mirror_follow(d->mirror, MIRROR_WORKLOADS);
	d->jobs = job_controller_create(d->mirror);
	d->kubelet = kubelet_create(d->mirror, START_DELAY_NS);
	d->kube_scheduler = kube_scheduler_create(d->mirror);
	d->autoscaler = autoscaler_create(d->mirror, &ao);
	mirror_start(d->mirror);
	autoscaler_start(d->autoscaler);
	r = apply(d, "00-cluster.yaml", err);
	if (r == 0 && !mirror_wait(d->mirror, is_ready, NULL, STEP_TIMEOUT_NS)) {
		r = err_set(err, ERR_TIMEOUT, "the scheduler did not make its queues");
	}
	return r;
}

static int play(struct demo *d, struct act *act, struct err *err)
{
	struct progress first = { act->then_prefix, "Running", act->then_pods, 0 };
	struct progress last = { act->prefix, "Succeeded", act->pods, 0 };
	int r;

	timeline_heading(d->timeline, act->title, act->explanation);
	r = apply(d, act->manifest, err);
	if (r == 0 && act->then != NULL) {
		r = mirror_wait(d->mirror, has_come_so_far, &first, STEP_TIMEOUT_NS)
			    ? apply(d, act->then, err)
			    : err_set(err, ERR_TIMEOUT, "%s: the first pods do not run",
				      act->manifest);
	}
	if (r == 0 && !mirror_wait(d->mirror, is_over, &last, STEP_TIMEOUT_NS)) {
		r = err_set(err, ERR_TIMEOUT, "%s: not all pods finished", act->manifest);
	}
	timeline_flush(d->timeline);
	return r;
}

static void verdict(struct demo *d, bool ok, const char *text)
{
	bool color = has_colors();

	printf("%s%s%s %s\n", color ? (ok ? "\033[32m" : "\033[31m") : "", ok ? "held " : "BROKE",
	       color ? "\033[0m" : "", text);
	d->failures += !ok;
}

static void judge(struct demo *d)
{
	struct history h = { 0 };
	struct err err = ERR_INIT;
	char text[ERR_TEXT_MAX + 100];
	size_t most;

	history_examine(d->mirror, &h, &err);
	printf("\n");
	snprintf(text, sizeof(text),
		 "autoscalers never saw more than quota allows (%zu changes checked)%s%s",
		 h.changes, h.breach ? ": " : "", h.breach ? err.text : "");
	verdict(d, !h.breach && h.changes > 0, text);
	verdict(d, history_never_together(d->mirror, "default/pod-2", "default/pod-3"),
		"pod-3 stayed gated while pod-2 held the quota");
	verdict(d, history_gang_at_once(d->mirror, "default/train-", 4),
		"no member of the gang was published or bound before all were ungated");
	verdict(d, h.gated_bound == 0, "no gated pod was bound");
	/* Fewer where a machine is so busy that one has finished before the next is created. */
	verdict(d, acts[2].bought >= 1 && acts[2].bought <= 3,
		"ten pods, quota for three: no more than three nodes bought");
	verdict(d, acts[1].bought == 2, "the gang got exactly the two nodes it needs");
	verdict(d, acts[0].bought == 1, "pod-2 got the one node it selects");
	most = history_most_at_once(d->mirror, acts[4].prefix);
	verdict(d, most >= 3 && most <= 4, "Jobs of 7 CPU: never more than their quota of 4");
	verdict(d, acts[4].bought >= 1 && acts[4].bought <= 2,
		"the Jobs got no more nodes than their quota needs, two");
	verdict(d, history_starts(d->mirror, "default/job-long-0") == 2,
		"job-long was preempted by job-high, and ran again");
	most = history_most_unschedulable(d->mirror, acts[5].prefix);
	verdict(d, most >= 1 && most <= 2 && acts[5].bought >= 1 && acts[5].bought <= 2,
		"pods of kube-scheduler: autoscalers saw two at once, as their quota is");
	verdict(d, d->fleet.with_gates == 1 && d->fleet.after_crash == 1,
		"one cluster evicted one Workload, also after the orchestrator was killed");
}

static void print_table(const struct demo *d)
{
	printf("\nWhat the autoscaler bought for ten pods of 1 CPU in a queue of 3 CPU:\n\n");
	printf("  %-24s %s\n", "", "NODES BOUGHT");
	printf("  %-24s %u\n", "with the gate", acts[2].bought);
	printf("  %-24s %u\n\n", "without opting in", acts[3].bought);
	printf("What was evicted on three full clusters for one urgent Workload:\n\n");
	printf("  %-24s %s\n", "", "EVICTED");
	printf("  %-24s %zu\n", "without gates", d->fleet.without_gates);
	printf("  %-24s %zu\n\n", "with gates", d->fleet.with_gates);
}

static void stop(struct demo *d, bool keep_logs)
{
	transport_destroy(d->transport);
	autoscaler_destroy(d->autoscaler);
	kubelet_destroy(d->kubelet);
	kube_scheduler_destroy(d->kube_scheduler);
	job_controller_destroy(d->jobs);
	timeline_destroy(d->timeline);
	mirror_destroy(d->mirror);
	stack_stop(d->stack, keep_logs);
}

/* path NULL: no picture is wanted. */
static int draw(const struct demo *d, const char *path, struct err *err)
{
	struct chart_panel panels[ARRAY_LEN(acts)];

	if (path == NULL || d->mirror == NULL) {
		return 0;
	}
	for (size_t i = 0; i < ARRAY_LEN(acts); i++) {
		panels[i] = (struct chart_panel){ acts[i].drawn, acts[i].prefix, acts[i].pool };
	}
	return chart_write(d->mirror, panels, ARRAY_LEN(panels), path, err);
}

/* Keeps everything running for a person with kubectl, until Ctrl-C. */
static int serve(struct demo *d, sigset_t *signals, struct err *err)
{
	int got;

	if (start(d, err) < 0) {
		printf("not started: %s\n", err->text);
		stop(d, true);
		return 1;
	}
	printf("\nEverything is up. In another terminal:\n\n    export KUBECONFIG=%s\n    kubectl "
	       "get nodes\n\n"
	       "A pod runs until you delete it, or for the time in its annotation\n"
	       "demo.headgate.io/runs-for, as \"5s\". Ctrl-C ends it.\n",
	       stack_kubeconfig(d->stack));
	timeline_heading(d->timeline, "Timeline", "   What you do, and what follows:");
	sigwait(signals, &got);
	stop(d, false);
	return 0;
}

static int play_all(struct demo *d, const char *picture, struct err *err)
{
	int64_t began = clock_mono(clock_real());
	int r = start(d, err);

	for (size_t i = 0; i < ARRAY_LEN(acts) && r == 0; i++) {
		r = play(d, &acts[i], err);
	}
	r = r < 0 ? r : fleet_act_play(&d->fleet, err);
	if (d->mirror != NULL) {
		judge(d);
	}
	print_table(d);
	if (r == 0) {
		r = draw(d, picture, err);
	}
	if (r < 0) {
		printf("demo stopped: %s\n", err->text);
		d->failures++;
	}
	printf("%s (%.1f s)\n", d->failures == 0 ? "every promise held" : "a promise was broken",
	       (double)(clock_mono(clock_real()) - began) / (double)CLOCK_NS_PER_S);
	fflush(stdout);
	stop(d, d->failures > 0);
	return d->failures == 0 ? 0 : 1;
}

struct choice {
	bool fleet, serves;
	const char *picture; /* NULL: none is wanted */
	const char *folder;  /* of kubeconfigs */
};

static bool parse(struct choice *c, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (str_streq(argv[i], "fleet")) {
			c->fleet = true;
		} else if (str_streq(argv[i], "--serve")) {
			c->serves = true;
		} else if (str_streq(argv[i], "--picture") && i + 1 < argc) {
			c->picture = argv[++i];
		} else if (str_streq(argv[i], "--kubeconfigs") && i + 1 < argc) {
			c->folder = argv[++i];
		} else {
			fprintf(stderr, "usage: demo [fleet] [--serve] [--picture FILE.svg] "
					"[--kubeconfigs FOLDER]\n");
			return false;
		}
	}
	return true;
}

int main(int argc, char **argv)
{
	struct choice c = { .folder = "." };
	struct demo d = { 0 };
	struct err err = ERR_INIT;
	sigset_t signals;

	if (!parse(&c, argc, argv)) {
		return 2;
	}
	if (!c.serves) {
		return c.fleet ? fleet_demo_play() : play_all(&d, c.picture, &err);
	}
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL); /* before any thread */
	return c.fleet ? fleet_demo_serve(c.folder, &signals) : serve(&d, &signals, &err);
}
