/* test/bench/bench_cluster.c: the scheduler process against the embedded API server over HTTPS:
 * binds per second at 5,000 nodes, and the time from start to the first bind with 150,000 pods.
 * Figures depend on the machine; the ratio to what the API server alone takes for the same number
 * of writes does less so. Smaller sizes: bench_cluster NODES PODS RESTART_PODS. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "bench/bind_count.h"
#include "kube/transport.h"
#include "play/stack.h"
#include "process/file.h"

#define WAIT_NS (300 * CLOCK_NS_PER_S)
#define PATH_LEN 128
#define GROUP_SIZE 10
#define MAX_OBJECTS 200000
#define NEW_PODS 100
#define FILE_DOCS 9000
#define MAX_FILES 32
#define POD_REQUEST "{cpu: 100m, memory: 128Mi}"

struct size {
	unsigned nodes, pods, restart_pods;
};

/* Manifests in a folder, in files of FILE_DOCS documents, because a file has a limit of documents.
 */
struct out {
	char dir[64];
	char paths[MAX_FILES][PATH_LEN];
	const char *args[MAX_FILES + 1];
	unsigned files, docs;
	FILE *f;
};

static FILE *next_doc(struct out *o)
{
	if (o->f == NULL || o->docs == FILE_DOCS) {
		if (o->f != NULL) {
			fclose(o->f);
		}
		char path[PATH_LEN];

		snprintf(path, sizeof(path), "--load=%s/%02u.yaml", o->dir, o->files);
		memcpy(o->paths[o->files], path, sizeof(path));
		o->args[o->files] = o->paths[o->files];
		o->f = fopen(o->paths[o->files] + strlen("--load="), "w");
		o->args[++o->files] = NULL;
		o->docs = 0;
		if (o->f == NULL) {
			perror(o->dir);
			exit(1);
		}
	}
	o->docs++;
	fputs("---\n", o->f);
	return o->f;
}

static void remove_out(struct out *o)
{
	for (unsigned i = 0; i < o->files; i++) {
		unlink(o->paths[i] + strlen("--load="));
	}
	rmdir(o->dir);
}

static void write_nodes(struct out *o, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		fprintf(next_doc(o),
			"apiVersion: v1\nkind: Node\nmetadata: {name: node-%05u, labels: "
			"{kubernetes.io/hostname: node-%05u, zone: z%u}}\n"
			"spec: {}\nstatus:\n  allocatable: {cpu: \"32\", memory: 128Gi, pods: "
			"\"110\"}\n"
			"  capacity: {cpu: \"32\", memory: 128Gi, pods: \"110\"}\n  conditions: "
			"[{type: Ready, status: \"True\"}]\n",
			i, i, i % 3);
	}
}

static void write_pod(FILE *f, const char *prefix, unsigned i, unsigned bound_on)
{
	fprintf(f,
		"apiVersion: v1\nkind: Pod\nmetadata:\n  name: %s-%06u\n  namespace: default\n  "
		"annotations:\n"
		"    scheduling.k8s.io/group-name: %s-%u\n    "
		"scheduling.volcano.sh/queue-allocation-gate: \"true\"\n"
		"spec:\n  schedulerName: volcano\n",
		prefix, i, prefix, i / GROUP_SIZE);
	if (bound_on > 0) {
		fprintf(f, "  nodeName: node-%05u\n", i % bound_on);
	} else {
		fputs("  schedulingGates: [{name: scheduling.volcano.sh/queue-allocation-gate}]\n",
		      f);
	}
	fprintf(f,
		"  containers: [{name: main, image: pause, resources: {requests: %s}}]\nstatus: "
		"{phase: %s}\n",
		POD_REQUEST, bound_on > 0 ? "Running" : "Pending");
}

/* Pods in PodGroups; with bound_on > 0 they have a node and run. */
static void write_pods(struct out *o, const char *prefix, unsigned n, unsigned bound_on)
{
	for (unsigned i = 0; i < n; i++) {
		if (i % GROUP_SIZE == 0) {
			fprintf(next_doc(o),
				"apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\n"
				"metadata: {name: %s-%u, namespace: default}\n"
				"spec: {minMember: 1, queue: bench}\nstatus: {phase: %s}\n",
				prefix, i / GROUP_SIZE, bound_on > 0 ? "Running" : "Pending");
		}
		write_pod(next_doc(o), prefix, i, bound_on);
	}
}

static const char manifest_head[] =
	"apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: bench}\n"
	"spec: {weight: 1, parent: root, capability: {cpu: \"1000000\"}}\n";

static void make_manifest(struct out *o, const struct size *s, bool restart)
{
	fputs(manifest_head, next_doc(o));
	write_nodes(o, s->nodes);
	if (restart) {
		write_pods(o, "old", s->restart_pods, s->nodes);
		write_pods(o, "new", NEW_PODS, 0);
	} else {
		write_pods(o, "pod", s->pods, 0);
	}
	fclose(o->f);
}

struct run {
	double first_s, all_s;
	uint64_t rss_kb;
};

static uint64_t scheduler_rss_kb(struct stack *s)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT, text = STRBUF_INIT;
	uint64_t kb = 0;
	struct str rest;
	const char *at;

	strbuf_printf(&path, "/proc/%d/status", stack_pid(s, STACK_SCHEDULER));
	if (file_read_all(path.p, 1 << 16, &text, NULL) < 0 ||
	    (at = strstr(text.p, "VmRSS:")) == NULL) {
		return 0;
	}
	rest = str_trim(str_of(at + strlen("VmRSS:")));
	(void)str_to_u64(str_next(&rest, ' '), &kb);
	return kb;
}

/* Starts the API server with the manifest, then the scheduler, and watches n pods get their nodes.
 */
static int run_scheduler(const struct out *o, const char *prefix, unsigned n, struct run *ret,
			 struct err *err)
{
	const char *const sched_args[] = { "--leader-elect=false", "--kube-api-qps=0",
					   "--resource-sync-timeout=5m", NULL };
	struct stack_options so = { .no_webhook = true,
				    .no_scheduler = true,
				    .apiserver_args = o->args,
				    .scheduler_args = sched_args };
	struct stack *s = NULL;
	struct transport *t = NULL;
	struct bind_count *count;
	int64_t began;
	int r;

	r = stack_start(&so, &s, err);
	if (r == 0) {
		r = stack_transport(s, &t, err);
	}
	if (r < 0) {
		return r;
	}
	count = bind_count_start(t, prefix);
	began = clock_mono(clock_real());
	r = stack_start_program(s, STACK_SCHEDULER, err);
	if (r == 0 && !bind_count_wait(count, n, WAIT_NS)) {
		r = err_set(err, ERR_TIMEOUT, "%zu of %u pods got a node", bind_count_bound(count),
			    n);
	}
	ret->first_s = (double)(bind_count_first_at(count) - began) / 1e9;
	ret->all_s = (double)(bind_count_last_at(count) - bind_count_first_at(count)) / 1e9;
	ret->rss_kb = scheduler_rss_kb(s);
	transport_destroy(t);
	bind_count_destroy(count);
	stack_stop(s, r < 0);
	return r;
}

static int bench(const struct size *s, bool restart)
{
	struct out *o = xmalloc_zero(1, sizeof(*o));
	struct err err = ERR_INIT;
	struct run run = { 0 };
	int r;

	snprintf(o->dir, sizeof(o->dir), "/tmp/headgate-bench-XXXXXX");
	if (mkdtemp(o->dir) == NULL) {
		perror(o->dir);
		exit(1);
	}
	make_manifest(o, s, restart);
	r = run_scheduler(o, restart ? "default/new-" : "default/pod-",
			  restart ? NEW_PODS : s->pods, &run, &err);
	remove_out(o);
	free(o);
	if (r < 0) {
		fprintf(stderr, "bench_cluster: %s\n", err.text);
	} else if (restart) {
		printf("restart to first bind   %8.2f s      (%u running pods on %u nodes; "
		       "resident %.0f MB)\n",
		       run.first_s, s->restart_pods, s->nodes, (double)run.rss_kb / 1024);
	} else {
		printf("end-to-end binds        %8.0f /s     (%u gated pods onto %u nodes: ungate, "
		       "then bind, over HTTPS)\n",
		       s->pods / run.all_s, s->pods, s->nodes);
	}
	return r < 0;
}

int main(int argc, char **argv)
{
	struct size s = { 5000, 10000, 150000 };
	unsigned *const sizes[] = { &s.nodes, &s.pods, &s.restart_pods };

	for (int i = 1; i < argc && i <= (int)ARRAY_LEN(sizes); i++) {
		uint64_t n;

		if (!str_to_u64(str_of(argv[i]), &n) || n == 0 || n > MAX_OBJECTS) {
			fprintf(stderr, "usage: bench_cluster [NODES [PODS [RESTART_PODS]]]\n");
			return 2;
		}
		*sizes[i - 1] = (unsigned)n;
	}
	return bench(&s, false) | bench(&s, true);
}
