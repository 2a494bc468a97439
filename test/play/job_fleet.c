#include "play/job_fleet.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/base64.h"
#include "enc/json/jdoc.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/transport.h"
#include "play/job_controller.h"
#include "play/kube_scheduler.h"
#include "play/kubelet.h"
#include "play/line.h"
#include "play/mirror.h"
#include "play/stack.h"
#include "process/file.h"

#define START_DELAY_NS (20 * CLOCK_NS_PER_MS)
#define MAX_KUBECONFIG 65536

struct member {
	struct stack *stack;
	struct line *line; /* of the manager to the API server of a worker */
	struct transport *transport;
	struct mirror *mirror;
	struct job_controller *jobs;
	struct kubelet *kubelet;
	struct kube_scheduler *kube_scheduler;
};

struct job_fleet {
	struct member manager; /* no pods run there: its Job controller removes what Jobs own */
	struct member workers[JOB_FLEET_WORKERS];
};

static const char worker_conf[] = "featureGates: {MultiKueueOrchestratedPreemption: true}\n";

/* --- clusters ----------------------------------------------------------------------------------*/

static int add_node(struct member *w, unsigned number, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf yaml = STRBUF_INIT;

	strbuf_printf(&yaml,
		      "{apiVersion: v1, kind: Node, metadata: {name: worker%u-node}, spec: {},"
		      " status: {capacity: {cpu: '4', memory: 8Gi, pods: '110'}, allocatable: {cpu:"
		      " '4', memory: 8Gi, pods: '110'}, conditions: [{type: Ready, status: 'True',"
		      " reason: KubeletReady}]}}",
		      number);
	return stack_apply(w->stack, strbuf_str(&yaml), err);
}

static int follow_jobs(struct member *m, struct err *err)
{
	int r = stack_transport(m->stack, &m->transport, err);

	if (r < 0) {
		return r;
	}
	m->mirror = mirror_create(m->transport, clock_real(), true);
	mirror_follow(m->mirror, MIRROR_JOBS);
	mirror_follow(m->mirror, MIRROR_WORKLOADS);
	m->jobs = job_controller_create(m->mirror);
	return 0;
}

static int start_worker(struct member *w, unsigned number, struct err *err)
{
	static const char *const args[] = { "--leader-elect=false", NULL };
	const struct stack_options so = { .quota = true,
					  .quota_conf = worker_conf,
					  .scheduler_args = args };
	int r = stack_start(&so, &w->stack, err);

	r = r < 0 ? r : follow_jobs(w, err);
	if (r < 0) {
		return r;
	}
	w->kubelet = kubelet_create(w->mirror, START_DELAY_NS);
	w->kube_scheduler = kube_scheduler_create(w->mirror);
	mirror_start(w->mirror);
	return add_node(w, number, err);
}

/* First, since the others are called on its thread. */
static void drop_transport(struct member *m)
{
	transport_destroy(m->transport);
	m->transport = NULL;
}

static void stop_member(struct member *w, bool keep_logs)
{
	kubelet_destroy(w->kubelet);
	kube_scheduler_destroy(w->kube_scheduler);
	job_controller_destroy(w->jobs);
	mirror_destroy(w->mirror);
	line_close(w->line);
	stack_stop(w->stack, keep_logs);
}

/* --- the connections of the manager ------------------------------------------------------------*/

/* The kubeconfig of a worker with the address of its line. */
static int line_kubeconfig(struct member *w, struct strbuf *out, struct err *err)
{
	const struct kubeconfig_options ko = { .path = stack_kubeconfig(w->stack) };
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct kubeconfig *config;
	const char *colon, *at;
	uint64_t port;
	int r = kubeconfig_load(&ko, &config, err);

	if (r < 0) {
		return r;
	}
	colon = strrchr(config->server, ':');
	r = str_to_u64(str_of(colon + 1), &port) ? line_open((uint16_t)port, &w->line, err)
						 : err_set(err, ERR_INVALID, "%s", config->server);
	r = r < 0 ? r : file_read_all(ko.path, MAX_KUBECONFIG, &text, err);
	if (r == 0) {
		at = strstr(text.p, config->server);
		strbuf_printf(out, "%.*s%.*s:%u%s", (int)(at - text.p), text.p,
			      (int)(colon - config->server), config->server, line_port(w->line),
			      at + strlen(config->server));
	}
	kubeconfig_destroy(config);
	return r;
}

static int connect_worker(struct job_fleet *f, unsigned number, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf config = STRBUF_INIT, yaml = STRBUF_INIT;
	int r = line_kubeconfig(&f->workers[number - 1], &config, err);

	if (r < 0) {
		return r;
	}
	strbuf_printf(&yaml,
		      "{apiVersion: kueue.x-k8s.io/v1beta2, kind: MultiKueueCluster, metadata:"
		      " {name: worker%u}, spec: {clusterSource: {kubeConfig: {location:"
		      " worker%u-kubeconfig, locationType: Secret}}}}\n"
		      "---\n"
		      "{apiVersion: v1, kind: Secret, metadata: {name: worker%u-kubeconfig,"
		      " namespace: " STACK_MANAGER_NAMESPACE "}, data: {kubeconfig: ",
		      number, number, number);
	base64_encode(strbuf_str(&config), &yaml);
	strbuf_add_c(&yaml, "}}\n");
	return stack_apply(f->manager.stack, strbuf_str(&yaml), err);
}

/* The Secret of a worker as it stands, with the kubeconfig of another line. */
static int write_secret(struct job_fleet *f, unsigned worker, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf config = STRBUF_INIT, body = STRBUF_INIT;
	char path[96];
	int r = line_kubeconfig(&f->workers[worker], &config, err);

	if (r < 0) {
		return r;
	}
	snprintf(path, sizeof(path),
		 "/api/v1/namespaces/" STACK_MANAGER_NAMESPACE "/secrets/worker%u-kubeconfig",
		 worker + 1);
	strbuf_add_c(&body, "{\"data\":{\"kubeconfig\":\"");
	base64_encode(strbuf_str(&config), &body);
	strbuf_add_c(&body, "\"}}");
	return stack_call(f->manager.stack, "PATCH", path, strbuf_str(&body), NULL, err);
}

int job_fleet_rotate(struct job_fleet *f, unsigned worker, struct err *err)
{
	struct line *before = f->workers[worker].line;
	int r = write_secret(f, worker, err);

	line_close(before);
	return r;
}

int job_fleet_replace(struct job_fleet *f, unsigned worker, const char *manifest, struct err *err)
{
	struct member *w = &f->workers[worker];
	int r;

	drop_transport(w);
	stop_member(w, false);
	*w = (struct member){ .stack = NULL };
	r = start_worker(w, worker + 1, err);
	r = r < 0 ? r : stack_apply_file(w->stack, manifest, err);
	return r < 0 ? r : write_secret(f, worker, err);
}

/* --- the fleet ---------------------------------------------------------------------------------*/

static int write_manager_conf(struct job_fleet *f, bool gated, struct err *err)
{
	char conf[128];

	snprintf(conf, sizeof(conf), "featureGates: {MultiKueueOrchestratedPreemption: %s}\n",
		 gated ? "true" : "false");
	return stack_set_manager(f->manager.stack, conf, err);
}

int job_fleet_start(bool gated, struct job_fleet **ret, struct err *err)
{
	struct job_fleet *f = xmalloc_zero(1, sizeof(*f));
	const struct stack_options so = { .quota = true };
	int r = stack_start(&so, &f->manager.stack, err);

	r = r < 0 ? r : follow_jobs(&f->manager, err);
	if (r == 0) {
		mirror_start(f->manager.mirror);
	}
	r = r < 0 ? r
		  : stack_apply(f->manager.stack,
				str_of("{apiVersion: v1, kind: Namespace, metadata: "
				       "{name: " STACK_MANAGER_NAMESPACE "}}"),
				err);
	for (unsigned i = 0; r == 0 && i < JOB_FLEET_WORKERS; i++) {
		r = start_worker(&f->workers[i], i + 1, err);
		r = r < 0 ? r : connect_worker(f, i + 1, err);
	}
	r = r < 0 ? r : write_manager_conf(f, gated, err);
	r = r < 0 ? r : stack_start_program(f->manager.stack, STACK_MANAGER, err);
	if (r < 0) {
		job_fleet_stop(f, true);
		return r;
	}
	*ret = f;
	return 0;
}

/* Each takes a second or so to end: those of all clusters end together. */
static void stop_everywhere(struct job_fleet *f, enum stack_program p)
{
	struct stack *all[JOB_FLEET_WORKERS + 1] = { f->manager.stack };

	for (unsigned i = 0; i < JOB_FLEET_WORKERS; i++) {
		all[i + 1] = f->workers[i].stack;
	}
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		if (all[i] != NULL) {
			(void)stack_signal(all[i], p, SIGTERM);
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		if (all[i] != NULL) {
			(void)stack_stop_program(all[i], p, SIGTERM);
		}
	}
}

void job_fleet_stop(struct job_fleet *f, bool keep_logs)
{
	if (f == NULL) {
		return;
	}
	stop_everywhere(f, STACK_MANAGER);
	stop_everywhere(f, STACK_SCHEDULER);
	stop_everywhere(f, STACK_WEBHOOK);
	for (unsigned i = 0; i < JOB_FLEET_WORKERS; i++) {
		drop_transport(&f->workers[i]);
	}
	drop_transport(&f->manager);
	stop_everywhere(f, STACK_APISERVER);
	stop_member(&f->manager, keep_logs);
	for (unsigned i = 0; i < JOB_FLEET_WORKERS; i++) {
		stop_member(&f->workers[i], keep_logs);
	}
	free(f);
}

struct stack *job_fleet_manager(const struct job_fleet *f)
{
	return f->manager.stack;
}

struct stack *job_fleet_worker(const struct job_fleet *f, unsigned worker)
{
	return f->workers[worker].stack;
}

int job_fleet_set_gated(struct job_fleet *f, bool gated, struct err *err)
{
	int r = write_manager_conf(f, gated, err);

	if (r < 0) {
		return r;
	}
	(void)stack_stop_program(f->manager.stack, STACK_MANAGER, SIGTERM);
	return stack_start_program(f->manager.stack, STACK_MANAGER, err);
}

void job_fleet_hold_victims(struct job_fleet *f, unsigned worker, bool hold)
{
	job_controller_hold_pods(f->workers[worker].jobs, hold);
}

void job_fleet_cut(struct job_fleet *f, unsigned worker, bool cut)
{
	line_cut(f->workers[worker].line, cut);
}

/* --- what has happened on the workers ----------------------------------------------------------*/

/* A version of an object; name is that of a Job. */
typedef bool (*record_is_fn)(const struct mirror_record *r, const char *name);

static bool is_job(const struct mirror_record *r, const char *name)
{
	const char *slash = strchr(r->key, '/');

	return r->resource == MIRROR_JOBS && slash != NULL && strcmp(slash + 1, name) == 0;
}

/* A Workload that its gate lets preempt: its name begins as that of the Job does. */
static bool is_opened(const struct mirror_record *r, const char *name)
{
	CLEANUP(strbuf_finish) struct strbuf begins = STRBUF_INIT;

	strbuf_printf(&begins, "default/job-%s-", name);
	return r->resource == MIRROR_WORKLOADS && r->text != NULL &&
	       strncmp(r->key, begins.p, begins.len) == 0 &&
	       strstr(r->text, "\"position\":\"Open\"") != NULL;
}

static size_t count_workers(struct job_fleet *f, record_is_fn is, const char *name)
{
	size_t workers = 0, n;

	for (unsigned i = 0; i < JOB_FLEET_WORKERS; i++) {
		const struct mirror_record *v = mirror_history(f->workers[i].mirror, &n);
		size_t k = 0;

		while (k < n && !is(&v[k], name)) {
			k++;
		}
		workers += k < n;
	}
	return workers;
}

size_t job_fleet_count_jobs(struct job_fleet *f, const char *name)
{
	return count_workers(f, is_job, name);
}

size_t job_fleet_count_opened(struct job_fleet *f, const char *job)
{
	return count_workers(f, is_opened, job);
}

bool job_fleet_is_true(const struct jdoc *object, const char *type)
{
	return jdoc_is_str(jdoc_get(mirror_pod_condition(object, type), "status"), "True");
}
