#include "demo/fleet_demo.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/kueue/kueue_keys.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "lib/wait.h"
#include "play/job_fleet.h"
#include "play/stack.h"
#include "process/file.h"

#define WAIT_NS (120 * CLOCK_NS_PER_S) /* only reached when something is broken */
#define JOBS "/apis/batch/v1/namespaces/default/jobs/"
#define KUEUE "/apis/kueue.x-k8s.io/v1beta2/"
#define WORKLOADS KUEUE "namespaces/default/workloads"
#define CLUSTERS KUEUE "multikueueclusters/"
#define MANAGER (-1)
#define MAX_KUBECONFIG 65536
#define NONE ((struct str){ NULL, 0 })

/* Three acts need the room of 2 CPU on clusters that are full. */
enum { WITHOUT_GATES, WITH_GATES, CUT_OFF, ACTS };

struct evicted {
	size_t workloads[JOB_FLEET_WORKERS], pods;
};

struct story {
	struct job_fleet *fleet;
	int64_t began;
	struct evicted acts[ACTS];
	int failures;
};

static void tell(const struct story *s, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void tell(const struct story *s, const char *fmt, ...)
{
	va_list ap;

	printf("  %5.1f s  ",
	       (double)(clock_mono(clock_real()) - s->began) / (double)CLOCK_NS_PER_S);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
}

static void heading(const char *title, const char *text)
{
	printf("\n%s\n%s\n", title, text);
	fflush(stdout);
}

/* --- what stands in the API --------------------------------------------------------------------*/

/* Of a worker (0 is worker1), or of the manager. *ret is NULL when there is none; the caller
 * destroys it. */
static int get(struct story *s, int cluster, const char *path, struct jdoc **ret, struct err *err)
{
	struct stack *of = cluster == MANAGER ? job_fleet_manager(s->fleet)
					      : job_fleet_worker(s->fleet, (unsigned)cluster);
	int r;

	*ret = NULL;
	r = stack_call(of, "GET", path, NONE, ret, err);
	return r == -ERR_NOT_FOUND ? 0 : r;
}

static int get_job(struct story *s, int cluster, const char *name, struct jdoc **ret,
		   struct err *err)
{
	char path[128];

	snprintf(path, sizeof(path), JOBS "%s", name);
	return get(s, cluster, path, ret, err);
}

/* The Workload of a Job in a list; NULL: there is none. */
static const struct jdoc *workload_of(const struct jdoc *list, const char *job)
{
	char begins[64];

	snprintf(begins, sizeof(begins), "job-%s-", job);
	for (const struct jdoc *w = jdoc_first(jdoc_get(list, "items")); w != NULL;
	     w = jdoc_next(w)) {
		if (strncmp(jdoc_str_or(jdoc_path(w, "metadata.name"), ""), begins,
			    strlen(begins)) == 0) {
			return w;
		}
	}
	return NULL;
}

static int64_t preemptions(const struct jdoc *w)
{
	int64_t n = 0;

	for (const struct jdoc *e = jdoc_first(jdoc_path(w, "status.schedulingStats.evictions"));
	     e != NULL; e = jdoc_next(e)) {
		n += jdoc_is_str(jdoc_get(e, "reason"), KUEUE_PREEMPTED)
			     ? jdoc_int(jdoc_get(e, "count"), 0)
			     : 0;
	}
	return n;
}

/* All that have been preempted since the clusters were started. */
static int count_evicted(struct story *s, struct evicted *ret, struct err *err)
{
	*ret = (struct evicted){ 0 };
	for (int i = 0; i < JOB_FLEET_WORKERS; i++) {
		CLEANUP(jdoc_destroyp) struct jdoc *list = NULL;

		if (get(s, i, WORKLOADS, &list, err) < 0) {
			return -err->code;
		}
		for (const struct jdoc *w = jdoc_first(jdoc_get(list, "items")); w != NULL;
		     w = jdoc_next(w)) {
			const struct jdoc *set = jdoc_at(jdoc_path(w, "spec.podSets"), 0);
			size_t n = (size_t)preemptions(w);

			ret->workloads[i] += n;
			ret->pods += n * (size_t)jdoc_int(jdoc_get(set, "count"), 0);
		}
	}
	return 0;
}

static struct evicted since(const struct evicted *now, const struct evicted *before)
{
	struct evicted d = { .pods = now->pods - before->pods };

	for (unsigned i = 0; i < JOB_FLEET_WORKERS; i++) {
		d.workloads[i] = now->workloads[i] - before->workloads[i];
	}
	return d;
}

static size_t sum(const struct evicted *e)
{
	size_t n = 0;

	for (unsigned i = 0; i < JOB_FLEET_WORKERS; i++) {
		n += e->workloads[i];
	}
	return n;
}

/* --- waiting -----------------------------------------------------------------------------------*/

struct look {
	const char *name; /* of a Job or a MultiKueueCluster */
	int cluster, wanted;
	int got;
	struct evicted before;
};

typedef int (*look_fn)(struct story *s, struct look *l, struct err *err); /* 1: as wanted */

static int wait_for(struct story *s, look_fn fn, struct look *l, const char *what, struct err *err)
{
	int64_t deadline = wait_deadline(WAIT_NS);
	int r;

	do {
		r = fn(s, l, err);
		if (r != 0) {
			return r < 0 ? r : 0;
		}
	} while (wait_until(deadline));
	return err_set(err, ERR_TIMEOUT, "%s: %s", l->name, what);
}

static int look_active(struct story *s, struct look *l, struct err *err)
{
	CLEANUP(jdoc_destroyp) struct jdoc *job = NULL;
	int r = get_job(s, l->cluster, l->name, &job, err);

	return r < 0 ? r : jdoc_int(jdoc_path(job, "status.ready"), 0) == l->wanted;
}

static int look_complete(struct story *s, struct look *l, struct err *err)
{
	CLEANUP(jdoc_destroyp) struct jdoc *job = NULL;
	int r = get_job(s, MANAGER, l->name, &job, err);

	return r < 0 ? r : job_fleet_is_true(job, "Complete");
}

/* The manager has recorded which cluster runs it. */
static int look_winner(struct story *s, struct look *l, struct err *err)
{
	CLEANUP(jdoc_destroyp) struct jdoc *list = NULL;
	int r = get(s, MANAGER, WORKLOADS, &list, err);
	const char *name = jdoc_path_str(workload_of(list, l->name), "status.clusterName");

	if (r < 0 || name == NULL) {
		return r;
	}
	l->got = name[strlen("worker")] - '1';
	return 1;
}

static int look_evicted(struct story *s, struct look *l, struct err *err)
{
	struct evicted now, d;
	int r = count_evicted(s, &now, err);

	if (r < 0) {
		return r;
	}
	d = since(&now, &l->before);
	return sum(&d) >= (size_t)l->wanted;
}

static int look_admitted(struct story *s, struct look *l, struct err *err)
{
	CLEANUP(jdoc_destroyp) struct jdoc *list = NULL;
	int r = get(s, l->cluster, WORKLOADS, &list, err);

	return r < 0 ? r : job_fleet_is_true(workload_of(list, l->name), KUEUE_ADMITTED);
}

static int look_connected(struct story *s, struct look *l, struct err *err)
{
	CLEANUP(jdoc_destroyp) struct jdoc *cluster = NULL;
	char path[128];
	int r;

	snprintf(path, sizeof(path), CLUSTERS "%s", l->name);
	r = get(s, MANAGER, path, &cluster, err);
	return r < 0 ? r
		     : cluster != NULL && job_fleet_is_true(cluster, "Active") == (l->wanted != 0);
}

/* --- Jobs --------------------------------------------------------------------------------------*/

/* One that runs until it is evicted, alone on its worker. */
static const struct filling {
	unsigned worker;
	const char *name;
	int pods, cpu; /* of each pod */
} fillings[] = {
	{ 0, "train", 4, 1 },    { 1, "render-1", 2, 1 }, { 1, "render-2", 2, 1 },
	{ 2, "crunch-1", 1, 2 }, { 2, "crunch-2", 1, 2 },
};
#define LATE (ARRAY_LEN(fillings) - 1) /* comes after the first act */

#define POD_TEMPLATE                                                                               \
	" containers: [{name: main, image: registry.k8s.io/pause:3.10, resources: {requests:"      \
	" {cpu: '%d'}}}]}}"

static int fill(struct story *s, const struct filling *f, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf yaml = STRBUF_INIT;

	strbuf_printf(&yaml,
		      "{apiVersion: batch/v1, kind: Job, metadata: {name: %s, namespace: default,"
		      " labels: {kueue.x-k8s.io/queue-name: batch}}, spec: {parallelism: %d,"
		      " completions: %d, template: {spec: {restartPolicy: Never," POD_TEMPLATE "}}",
		      f->name, f->pods, f->pods, f->cpu);
	return stack_apply(job_fleet_worker(s->fleet, f->worker), strbuf_str(&yaml), err);
}

static int wait_fill(struct story *s, const struct filling *f, struct err *err)
{
	struct look l = { .name = f->name, .cluster = (int)f->worker, .wanted = f->pods };

	return wait_for(s, look_active, &l, "it does not run", err);
}

/* A Job of 2 CPU at the manager; it runs for half a second. */
static int submit(struct story *s, const char *name, const char *labels, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf yaml = STRBUF_INIT;

	strbuf_printf(
		&yaml,
		"{apiVersion: batch/v1, kind: Job, metadata: {name: %s, namespace: default,"
		" labels: {kueue.x-k8s.io/queue-name: batch%s}}, spec: {managedBy:"
		" kueue.x-k8s.io/multikueue, template: {metadata: {annotations:"
		" {demo.headgate.io/runs-for: 500ms}}, spec: {restartPolicy: Never," POD_TEMPLATE
		"}}",
		name, labels, 2);
	return stack_apply(job_fleet_manager(s->fleet), strbuf_str(&yaml), err);
}

static int wait_winner(struct story *s, const char *name, int *ret, struct err *err)
{
	struct look l = { .name = name };
	int r = wait_for(s, look_winner, &l, "no worker cluster runs it", err);

	*ret = l.got;
	return r;
}

static int wait_complete(struct story *s, const char *name, struct err *err)
{
	struct look l = { .name = name };

	return wait_for(s, look_complete, &l, "it is not complete", err);
}

/* --- the acts ----------------------------------------------------------------------------------*/

static int start(struct story *s, struct err *err)
{
	int r;

	printf("A manager cluster and three worker clusters on this machine, each an API server\n"
	       "with Headgate, without containers. Each worker has 4 CPU.\n");
	fflush(stdout);
	r = job_fleet_start(false, &s->fleet, err);
	for (unsigned i = 0; r == 0 && i < JOB_FLEET_WORKERS; i++) {
		char path[256];

		snprintf(path, sizeof(path), "%s/test/demo/07-fleet-worker.yaml", stack_source());
		r = stack_apply_file(job_fleet_worker(s->fleet, i), path, err);
		if (r == 0 && i == 0) {
			snprintf(path, sizeof(path), "%s/test/demo/07-fleet-manager.yaml",
				 stack_source());
			r = stack_apply_file(job_fleet_manager(s->fleet), path, err);
		}
	}
	return r;
}

static int play_dispatch(struct story *s, struct err *err)
{
	int on, r = 0;

	heading("1. A Job goes to the cluster that has room",
		"   worker1 and worker2 are full, worker3 has 2 CPU left. The manager offers a\n"
		"   Job of 2 CPU to all three; the first that admits it runs it.\n");
	for (size_t i = 0; r == 0 && i < LATE; i++) {
		r = fill(s, &fillings[i], err);
	}
	for (size_t i = 0; r == 0 && i < LATE; i++) {
		r = wait_fill(s, &fillings[i], err);
	}
	r = r < 0 ? r : submit(s, "hello", "", err);
	if (r == 0) {
		tell(s, "hello is submitted to the manager");
	}
	r = r < 0 ? r : wait_winner(s, "hello", &on, err);
	if (r == 0) {
		tell(s, "worker%d admits hello; the offers to the others are withdrawn", on + 1);
	}
	r = r < 0 ? r : wait_complete(s, "hello", err);
	if (r == 0) {
		tell(s, "hello is complete: its status has been copied to the manager");
	}
	r = r < 0 ? r : fill(s, &fillings[LATE], err);
	return r < 0 ? r : wait_fill(s, &fillings[LATE], err);
}

static void tell_evictions(struct story *s, const struct evicted *e)
{
	for (unsigned i = 0; i < JOB_FLEET_WORKERS; i++) {
		if (e->workloads[i] > 0) {
			tell(s, "worker%u evicts %zu Job%s", i + 1, e->workloads[i],
			     e->workloads[i] == 1 ? "" : "s");
		}
	}
}

/* Until so many have been evicted for an urgent Job. No victim ends before the caller lets it. */
static int preempt(struct story *s, const char *name, int wanted, struct evicted *before,
		   struct err *err)
{
	struct look l = { .name = name, .wanted = wanted };
	struct evicted now, d;
	int r = count_evicted(s, before, err);

	for (unsigned i = 0; i < JOB_FLEET_WORKERS; i++) {
		job_fleet_hold_victims(s->fleet, i, true);
	}
	l.before = *before;
	r = r < 0 ? r : submit(s, name, ", kueue.x-k8s.io/priority-class: high", err);
	if (r == 0) {
		tell(s, "%s, of 2 CPU and high priority, is submitted", name);
	}
	r = r < 0 ? r : wait_for(s, look_evicted, &l, "too few were evicted", err);
	r = r < 0 ? r : count_evicted(s, &now, err);
	if (r == 0) {
		d = since(&now, before);
		tell_evictions(s, &d);
	}
	return r;
}

static void release(struct story *s, unsigned worker)
{
	job_fleet_hold_victims(s->fleet, worker, false);
}

/* The urgent Job runs and ends, and what was evicted runs again. */
static int finish(struct story *s, const char *name, unsigned act, const struct evicted *before,
		  struct err *err)
{
	struct evicted now;
	int on, r = wait_winner(s, name, &on, err);

	if (r == 0) {
		tell(s, "worker%d has room now, and runs %s", on + 1, name);
	}
	for (unsigned i = 0; i < JOB_FLEET_WORKERS; i++) {
		release(s, i);
	}
	r = r < 0 ? r : wait_complete(s, name, err);
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(fillings); i++) {
		r = wait_fill(s, &fillings[i], err);
	}
	r = r < 0 ? r : count_evicted(s, &now, err);
	if (r == 0) {
		s->acts[act] = since(&now, before);
		tell(s, "%s is complete, and what was evicted runs again: %zu Job%s", name,
		     sum(&s->acts[act]), sum(&s->acts[act]) == 1 ? "" : "s");
	}
	return r;
}

static int play_without(struct story *s, struct err *err)
{
	struct evicted before;
	int r;

	heading("2. An urgent Job where no cluster has room, without preemption gates",
		"   worker1 runs train (4 pods), worker2 render-1 and render-2 (2 pods each),\n"
		"   worker3 crunch-1 and crunch-2 (1 pod each). All of them are full, and each\n"
		"   makes room on its own.\n");
	r = preempt(s, "urgent-1", 3, &before, err);
	if (r == 0) {
		release(s, 0);
	}
	return r < 0 ? r : finish(s, "urgent-1", WITHOUT_GATES, &before, err);
}

/* Repeats headgatectl explain until worker3 has answered this. */
static int run_explain(struct story *s, const char *job, const char *answer, struct strbuf *out,
		       struct err *err)
{
	int64_t deadline = wait_deadline(WAIT_NS);
	char name[64], kubeconfig[300], row[64];
	const char *const args[] = { "explain",
				     "job",
				     name,
				     kubeconfig,
				     "--multikueue-namespace=" STACK_MANAGER_NAMESPACE,
				     NULL };

	snprintf(name, sizeof(name), "default/%s", job);
	snprintf(row, sizeof(row), "worker3   %s", answer);
	snprintf(kubeconfig, sizeof(kubeconfig), "--kubeconfig=%s",
		 stack_kubeconfig(job_fleet_manager(s->fleet)));
	do {
		if (stack_run(job_fleet_manager(s->fleet), "headgatectl", args, out) != 0) {
			return err_set(err, ERR_INTERNAL, "headgatectl explain: %s", out->p);
		}
		if (strstr(out->p, row) != NULL) {
			return 0;
		}
	} while (wait_until(deadline));
	return err_set(err, ERR_TIMEOUT, "headgatectl explain does not say \"%s\": %s", row,
		       out->p);
}

/* Its part about worker clusters. */
static int explain(struct story *s, const char *job, const char *answer, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	int r = run_explain(s, job, answer, &out, err);
	struct str rest = strbuf_str(&out), line;
	bool shows = false;

	if (r < 0) {
		return r;
	}
	printf("\n$ headgatectl explain job default/%s   (its part about worker clusters)\n", job);
	while (rest.len > 0 && !str_has_prefix(rest, "FLAVOR")) {
		line = str_next(&rest, '\n');
		shows = shows || str_has_prefix(line, "Offered to:");
		if (shows) {
			printf(STR_FMT "\n", STR_ARG(line));
		}
	}
	fflush(stdout);
	return 0;
}

static int play_with(struct story *s, struct err *err)
{
	struct evicted before;
	int r;

	heading("3. The same with preemption gates",
		"   Each worker has to ask before it preempts, and the manager lets one of them:\n"
		"   that on which least work is lost.\n");
	r = job_fleet_set_gated(s->fleet, true, err);
	r = r < 0 ? r : preempt(s, "urgent-2", 1, &before, err);
	r = r < 0 ? r : explain(s, "urgent-2", "Preempting", err);
	if (r == 0) {
		release(s, 2);
	}
	return r < 0 ? r : finish(s, "urgent-2", WITH_GATES, &before, err);
}

static int play_cut_off(struct story *s, struct err *err)
{
	struct look cluster = { .name = "worker3" }, job = { .name = "urgent-3", .cluster = 2 };
	struct evicted before;
	int r;

	heading("4. The cluster that may preempt is cut off",
		"   The manager lets no other cluster preempt: the first one may still succeed.\n");
	r = preempt(s, "urgent-3", 1, &before, err);
	if (r == 0) {
		job_fleet_cut(s->fleet, 2, true);
		tell(s, "worker3 is cut off from the manager");
	}
	r = r < 0 ? r : wait_for(s, look_connected, &cluster, "it seems connected", err);
	if (r == 0) {
		tell(s, "MultiKueueCluster worker3 is not Active any more");
	}
	r = r < 0 ? r : explain(s, "urgent-3", "Unreachable", err);
	if (r == 0) {
		release(s, 2);
	}
	r = r < 0 ? r : wait_for(s, look_admitted, &job, "worker3 does not admit it", err);
	if (r == 0) {
		tell(s, "worker3 admits urgent-3, which the manager cannot see");
		job_fleet_cut(s->fleet, 2, false);
		tell(s, "worker3 can be reached again");
	}
	return r < 0 ? r : finish(s, "urgent-3", CUT_OFF, &before, err);
}

/* --- the verdict -------------------------------------------------------------------------------*/

static void verdict(struct story *s, bool ok, const char *text)
{
	printf("%s %s\n", ok ? "held " : "BROKE", text);
	s->failures += !ok;
}

/* worker3 alone has evicted one Workload, and its gate alone was open. */
static bool is_single(struct story *s, unsigned act, const char *job)
{
	return sum(&s->acts[act]) == 1 && s->acts[act].workloads[2] == 1 &&
	       job_fleet_count_opened(s->fleet, job) == 1;
}

static void judge(struct story *s)
{
	static const char *const jobs[] = { "hello", "urgent-1", "urgent-2", "urgent-3" };
	bool once = true;

	for (size_t i = 0; i < ARRAY_LEN(jobs); i++) {
		once = once && job_fleet_count_jobs(s->fleet, jobs[i]) == 1;
	}
	printf("\n");
	verdict(s, once, "each Job was started on one cluster");
	verdict(s, sum(&s->acts[WITHOUT_GATES]) == 3,
		"without gates, each of the three clusters evicted a Job");
	verdict(s, is_single(s, WITH_GATES, "urgent-2"),
		"with gates, one cluster evicted a Job, where least work is lost");
	verdict(s, is_single(s, CUT_OFF, "urgent-3"),
		"the same when this cluster was cut off from the manager meanwhile");
}

static void print_table(const struct story *s)
{
	static const char *const names[ACTS] = { "without gates", "with gates",
						 "with gates, cut off" };

	printf("\nWhat was evicted for one urgent Job of 2 CPU:\n\n  %-24s %-8s %s\n", "", "JOBS",
	       "PODS");
	for (unsigned i = 0; i < ACTS; i++) {
		printf("  %-24s %-8zu %zu\n", names[i], sum(&s->acts[i]), s->acts[i].pods);
	}
	printf("\n");
}

int fleet_demo_play(void)
{
	struct story s = { .began = clock_mono(clock_real()) };
	struct err err = ERR_INIT;
	int r = start(&s, &err);

	r = r < 0 ? r : play_dispatch(&s, &err);
	r = r < 0 ? r : play_without(&s, &err);
	r = r < 0 ? r : play_with(&s, &err);
	r = r < 0 ? r : play_cut_off(&s, &err);
	if (r < 0) {
		printf("demo stopped: %s\n", err.text);
		s.failures++;
	} else {
		judge(&s);
		print_table(&s);
	}
	printf("%s (%.1f s)\n", s.failures == 0 ? "every promise held" : "a promise was broken",
	       (double)(clock_mono(clock_real()) - s.began) / (double)CLOCK_NS_PER_S);
	fflush(stdout);
	job_fleet_stop(s.fleet, s.failures > 0);
	return s.failures == 0 ? 0 : 1;
}

/* --- for a person with kubectl -----------------------------------------------------------------*/

static int write_kubeconfig(struct stack *of, const char *folder, const char *name, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	char path[512];
	int r = file_read_all(stack_kubeconfig(of), MAX_KUBECONFIG, &text, err);

	snprintf(path, sizeof(path), "%s/%s.yaml", folder, name);
	return r < 0 ? r : file_write_atomic(path, strbuf_str(&text), 0600, err);
}

int fleet_demo_serve(const char *folder, const sigset_t *until)
{
	struct job_fleet *f = NULL;
	struct err err = ERR_INIT;
	int got, r = job_fleet_start(true, &f, &err);

	r = r < 0 ? r : write_kubeconfig(job_fleet_manager(f), folder, "manager", &err);
	for (unsigned i = 0; r == 0 && i < JOB_FLEET_WORKERS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "worker%u", i + 1);
		r = write_kubeconfig(job_fleet_worker(f, i), folder, name, &err);
	}
	if (r < 0) {
		printf("not started: %s\n", err.text);
		job_fleet_stop(f, true);
		return 1;
	}
	printf("A manager cluster and three worker clusters are up, each of which has 4 CPU. In\n"
	       "another terminal:\n\n    cd %s\n    kubectl --kubeconfig manager.yaml get "
	       "multikueueclusters\n\n"
	       "docs/multikueue-walkthrough.md goes on from here. Ctrl-C ends it.\n",
	       folder);
	fflush(stdout);
	sigwait(until, &got);
	job_fleet_stop(f, false);
	return 0;
}
