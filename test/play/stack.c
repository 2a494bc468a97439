#include "play/stack.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/rest.h"
#include "kube/transport.h"
#include "lib/wait.h"
#include "play/external.h"
#include "play/proc.h"
#include "play/registration.h"
#include "process/file.h"

/* Admission paths that the chart enables. */
#define VOLCANO_PATHS                                                                              \
	"/pods/mutate,"                                                                            \
	"/pods/validate,"                                                                          \
	"/queues/mutate,"                                                                          \
	"/queues/validate,"                                                                        \
	"/podgroups/mutate,"                                                                       \
	"/podgroups/validate"
#define KUEUE_PATHS                                                                                \
	"/mutate--v1-pod,"                                                                         \
	"/mutate-batch-v1-job,"                                                                    \
	"/mutate-kueue-x-k8s-io-v1beta2-clusterqueue,"                                             \
	"/mutate-kueue-x-k8s-io-v1beta2-resourceflavor,"                                           \
	"/validate--v1-pod,"                                                                       \
	"/validate-batch-v1-job,"                                                                  \
	"/validate-kueue-x-k8s-io-v1beta2-clusterqueue,"                                           \
	"/validate-kueue-x-k8s-io-v1beta2-cohort,"                                                 \
	"/validate-kueue-x-k8s-io-v1beta2-localqueue,"                                             \
	"/validate-kueue-x-k8s-io-v1beta2-resourceflavor,"                                         \
	"/validate-kueue-x-k8s-io-v1beta2-workload,"                                               \
	"/validate-kueue-x-k8s-io-v1beta2-workloadpriorityclass"

/* A limit for programs that never start: on a busy machine a start may take long. */
#define START_NS (120 * CLOCK_NS_PER_S)
#define STEP_MS 20
#define STOP_MS 60000
#define CALL_NS (60 * CLOCK_NS_PER_S)
#define PATH_LEN 512
#define MAX_ARGS 48
#define RUN_MS 120000
#define MAX_OUTPUT ((size_t)4 << 20)

struct stack {
	struct stack_options opt;
	char dir[PATH_LEN];
	char bin[PATH_LEN];
	char kubeconfig[PATH_LEN + 16];
	struct proc procs[STACK_PROGRAM_COUNT_];
	uint16_t api_port, webhook_port, health_port[STACK_PROGRAM_COUNT_];
	struct kubeconfig *config;
	struct transport *transport;
};

static const char *const program_names[STACK_PROGRAM_COUNT_] = {
	"headgate-apiserver", "headgate-webhook",   "headgate-scheduler",
	"headgate-scheduler", "headgate-scheduler",
};
/* Of their logs. */
static const char *const log_names[STACK_PROGRAM_COUNT_] = {
	"headgate-apiserver", "headgate-webhook", "headgate-scheduler",
	"headgate-scheduler", "headgate-manager",
};

/* Arguments of one program; texts live as long as the struct. */
struct args {
	char texts[MAX_ARGS][PATH_LEN + 64];
	const char *v[MAX_ARGS + 1];
	size_t n;
};

static void add(struct args *a, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void add(struct args *a, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(a->texts[a->n], sizeof(a->texts[0]), fmt, ap);
	va_end(ap);
	a->v[a->n] = a->texts[a->n];
	a->v[++a->n] = NULL;
}

static void add_all(struct args *a, const char *const *more)
{
	for (; more != NULL && *more != NULL && a->n < MAX_ARGS; more++) {
		add(a, "%s", *more);
	}
}

const char *stack_source(void)
{
	const char *dir = getenv("HEADGATE_SRC");

	return dir == NULL ? "." : dir;
}

/* build/bin next to the folder build/... that the running test is in. */
static void find_programs(struct stack *s)
{
	const char *given = getenv("HEADGATE_BIN");
	char self[PATH_LEN] = "", *test;
	ssize_t n;

	if (given != NULL) {
		snprintf(s->bin, sizeof(s->bin), "%s", given);
		return;
	}
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	test = n > 0 ? strstr(self, "/test/") : NULL;
	if (test != NULL) {
		*test = '\0';
	}
	snprintf(s->bin, sizeof(s->bin), "%.*s/bin", PATH_LEN - 8, test != NULL ? self : "build");
}

static const char *const quota_kinds[] = {
	"admissionchecks", "clusterqueues",           "cohorts",
	"localqueues",     "multikueueclusters",      "multikueueconfigs",
	"resourceflavors", "workloadpriorityclasses", "workloads",
};

static void apiserver_args(const struct stack *s, struct args *a)
{
	add(a, "--port=%u", s->api_port);
	add(a, "--kubeconfig-out=%s", s->kubeconfig);
	add(a, "--crds=%s/charts/headgate/files/crds", stack_source());
	for (size_t i = 0; s->opt.quota && i < ARRAY_LEN(quota_kinds); i++) {
		add(a, "--load=%s/charts/headgate/files/crds/quota/%s.yaml", stack_source(),
		    quota_kinds[i]);
	}
	add_all(a, s->opt.apiserver_args);
}

static void webhook_args(const struct stack *s, struct args *a)
{
	add(a, "--port=%u", s->webhook_port);
	add(a, "--listen-address=127.0.0.1");
	add(a, "--kubeconfig=%s", s->kubeconfig);
	if (s->opt.webhook_managed) {
		add(a, "--cert-mode=secret");
		add(a, "--webhook-namespace=default");
		add(a, "--webhook-url=https://127.0.0.1:%u", s->webhook_port);
	} else {
		add(a, "--tls-cert-file=%s/tls.crt", s->dir);
		add(a, "--tls-private-key-file=%s/tls.key", s->dir);
	}
	add(a, "--healthz-address=127.0.0.1:%u", s->health_port[STACK_WEBHOOK]);
	add(a, "--enable-healthz=true");
	if (s->opt.quota) {
		add(a, "--enabled-admission=" VOLCANO_PATHS "," KUEUE_PATHS);
	}
	add_all(a, s->opt.webhook_args);
}

static void manager_args(const struct stack *s, struct args *a)
{
	add(a, "--kubeconfig=%s", s->kubeconfig);
	add(a, "--listen-address=127.0.0.1:%u", s->health_port[STACK_MANAGER]);
	add(a, "--healthz-address=127.0.0.1:%u", s->health_port[STACK_MANAGER]);
	add(a, "--leader-elect=false");
	add(a, "--controllers=multikueue");
	add(a, "--multikueue-namespace=" STACK_MANAGER_NAMESPACE);
	add(a, "--quota-conf=%s/manager.conf", s->dir);
}

static void scheduler_args(const struct stack *s, enum stack_program p, struct args *a)
{
	add(a, "--kubeconfig=%s", s->kubeconfig);
	add(a, "--listen-address=127.0.0.1:%u", s->health_port[p]);
	add(a, "--healthz-address=127.0.0.1:%u", s->health_port[p]);
	/* A busy machine is no reason to lose the lease. A scheduler that stops releases it; a
	 * lease that is not released delays the next leader by twice its duration. */
	add(a, "--leader-elect-lease-duration=30s");
	add(a, "--leader-elect-renew-deadline=24s");
	add(a, "--leader-elect-retry-period=200ms");
	add(a, "--resource-sync-timeout=5m");
	if (s->opt.orchestrator || s->opt.multikueue) {
		add(a,
		    s->opt.multikueue ? "--controllers=multikueue" : "--controllers=orchestrator");
		add(a, "--multikueue-namespace=default");
	} else if (s->opt.quota) {
		add(a, "--controllers=*,workload");
	}
	if (s->opt.quota_conf != NULL) {
		add(a, "--quota-conf=%s/quota.conf", s->dir);
	}
	if (s->opt.scheduler_conf != NULL) {
		add(a, "--scheduler-conf=%s/scheduler.conf", s->dir);
	}
	add_all(a, s->opt.scheduler_args);
}

static bool is_up(const struct stack *s, enum stack_program p)
{
	uint16_t port = p == STACK_APISERVER ? s->api_port
			: p == STACK_WEBHOOK ? s->webhook_port
					     : s->health_port[p];

	return (p != STACK_APISERVER || proc_wait_file(s->kubeconfig, STEP_MS)) &&
	       proc_wait_port(port, STEP_MS);
}

static int wait_ready(struct stack *s, enum stack_program p, struct err *err)
{
	int64_t deadline = clock_mono(clock_real()) + START_NS;

	while (!is_up(s, p)) {
		if (!proc_is_running(&s->procs[p]) || clock_mono(clock_real()) > deadline) {
			return err_set(err, ERR_TIMEOUT, "%s did not start, see %s/%s.log",
				       program_names[p], s->dir, log_names[p]);
		}
	}
	return 0;
}

int stack_start_program(struct stack *s, enum stack_program p, struct err *err)
{
	struct args *a = xmalloc_zero(1, sizeof(*a));
	char log[PATH_LEN + 64];
	int r;

	add(a, "%s/%s", s->bin, program_names[p]);
	switch (p) {
	case STACK_APISERVER:
		apiserver_args(s, a);
		break;
	case STACK_WEBHOOK:
		webhook_args(s, a);
		break;
	case STACK_SCHEDULER:
	case STACK_STANDBY:
		scheduler_args(s, p, a);
		break;
	case STACK_MANAGER:
		manager_args(s, a);
		break;
	case STACK_PROGRAM_COUNT_:
		break;
	}
	snprintf(log, sizeof(log), "%s/%s.log", s->dir, log_names[p]);
	r = proc_start(&s->procs[p], a->v, log, err);
	free(a);
	return r < 0 ? r : wait_ready(s, p, err);
}

int stack_stop_program(struct stack *s, enum stack_program p, int signal)
{
	return proc_stop(&s->procs[p], signal, STOP_MS);
}

bool stack_signal(struct stack *s, enum stack_program p, int signal)
{
	return proc_is_running(&s->procs[p]) && kill(s->procs[p].pid, signal) == 0;
}

int stack_run(struct stack *s, const char *program, const char *const *args, struct strbuf *out)
{
	struct args *a = xmalloc_zero(1, sizeof(*a));
	struct proc p = { 0 };
	char log[PATH_LEN + 64];
	int code = -1;

	add(a, "%s/%s", s->bin, program);
	add_all(a, args);
	snprintf(log, sizeof(log), "%s/run.log", s->dir);
	unlink(log);
	if (proc_start(&p, a->v, log, NULL) == 0) {
		int64_t deadline = wait_deadline(RUN_MS * CLOCK_NS_PER_MS);

		while (proc_is_running(&p) && wait_until(deadline)) {
		}
		code = proc_is_running(&p) ? proc_stop(&p, SIGKILL, STOP_MS) : p.code;
	}
	free(a);
	if (out != NULL) {
		strbuf_reset(out);
		strbuf_add_c(out, "");
		(void)file_read_all(log, MAX_OUTPUT, out, NULL);
	}
	return code;
}

bool stack_is_running(struct stack *s, enum stack_program p)
{
	return proc_is_running(&s->procs[p]);
}

int stack_exit_code(struct stack *s, enum stack_program p)
{
	return proc_is_running(&s->procs[p]) ? -1 : s->procs[p].code;
}

int stack_set_scheduler(struct stack *s, const char *conf, const char *const *args, struct err *err)
{
	char path[PATH_LEN + 32];

	s->opt.scheduler_conf = conf;
	s->opt.scheduler_args = args;
	if (conf == NULL) {
		return 0;
	}
	snprintf(path, sizeof(path), "%s/scheduler.conf", s->dir);
	return file_write_atomic(path, str_of(conf), 0600, err);
}

int stack_set_manager(struct stack *s, const char *conf, struct err *err)
{
	char path[PATH_LEN + 32];

	snprintf(path, sizeof(path), "%s/manager.conf", s->dir);
	return file_write_atomic(path, str_of(conf), 0600, err);
}

static int write_quota_conf(const struct stack *s, struct err *err)
{
	char path[PATH_LEN + 32];

	snprintf(path, sizeof(path), "%s/quota.conf", s->dir);
	return file_write_atomic(path, str_of(s->opt.quota_conf), 0600, err);
}

bool stack_is_external(void)
{
	return external_kubeconfig() != NULL;
}

/* Arguments are for the embedded server alone. */
static int check_external(const struct stack *s, struct err *err)
{
	if (s->opt.apiserver_args != NULL) {
		return err_set(err, ERR_INVALID, "this test needs the embedded API server");
	}
	return 0;
}

static int apply_all(struct stack *s, const struct jdoc *docs, struct err *err);

static int register_webhook(struct stack *s, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf manifest = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *docs = NULL;
	int r = registration_render(stack_source(), s->dir, s->webhook_port, s->opt.quota,
				    &manifest, err);

	r = r < 0 ? r : yaml_parse_all(strbuf_str(&manifest), &docs, err);
	if (r < 0) {
		return r;
	}
	/* As the chart without quota.preemptionGateSelector: replicas get no gate by themselves. */
	registration_drop(docs, "-workload-selected");
	return apply_all(s, docs, err);
}

static int start_webhook(struct stack *s, struct err *err)
{
	int r = registration_make_certificates(s->dir, err);

	if (r == 0) {
		r = stack_start_program(s, STACK_WEBHOOK, err);
	}
	r = r == 0 ? register_webhook(s, err) : r;
	return r == 0 && stack_is_external() ? external_wait_webhooks(s->transport, err) : r;
}

static int start_all(struct stack *s, struct err *err)
{
	int r = stack_is_external() ? check_external(s, err)
				    : stack_start_program(s, STACK_APISERVER, err);

	if (r == 0) {
		r = kubeconfig_load(&(struct kubeconfig_options){ .path = s->kubeconfig },
				    &s->config, err);
	}
	if (r == 0) {
		r = stack_transport(s, &s->transport, err);
	}
	if (r == 0 && stack_is_external()) {
		r = external_prepare(s->transport, stack_source(), err);
	}
	if (r == 0) {
		r = stack_set_scheduler(s, s->opt.scheduler_conf, s->opt.scheduler_args, err);
		r = r < 0 || s->opt.quota_conf == NULL ? r : write_quota_conf(s, err);
	}
	if (r == 0 && !s->opt.no_webhook) {
		r = start_webhook(s, err);
	}
	if (r == 0 && !s->opt.no_scheduler) {
		r = stack_start_program(s, STACK_SCHEDULER, err);
	}
	return r;
}

int stack_start(const struct stack_options *opt, struct stack **ret, struct err *err)
{
	struct stack *s = xmalloc_zero(1, sizeof(*s));
	const char *tmp = getenv("TMPDIR");
	int r;

	s->opt = *opt;
	find_programs(s);
	snprintf(s->dir, sizeof(s->dir), "%s/headgate-XXXXXX", tmp == NULL ? "/tmp" : tmp);
	if (mkdtemp(s->dir) == NULL) {
		free(s);
		return err_set(err, ERR_IO, "cannot make a work folder in %s",
			       tmp == NULL ? "/tmp" : tmp);
	}
	if (stack_is_external()) {
		snprintf(s->kubeconfig, sizeof(s->kubeconfig), "%s", external_kubeconfig());
	} else {
		snprintf(s->kubeconfig, sizeof(s->kubeconfig), "%s/kubeconfig", s->dir);
	}
	s->api_port = proc_free_port();
	s->webhook_port = proc_free_port();
	for (unsigned i = 0; i < STACK_PROGRAM_COUNT_; i++) {
		s->health_port[i] = proc_free_port();
	}
	r = start_all(s, err);
	if (r < 0) {
		stack_stop(s, true);
		return r;
	}
	*ret = s;
	return 0;
}

static void remove_dir(const char *dir)
{
	const char *const argv[] = { "/bin/rm", "-rf", dir, NULL };
	struct proc p = { 0 };

	if (proc_start(&p, argv, "/dev/null", NULL) == 0) {
		while (proc_is_running(&p)) {
			proc_wait_file("/dev/null/nothing", 10);
		}
	}
}

void stack_stop(struct stack *s, bool keep_logs)
{
	if (s == NULL) {
		return;
	}
	for (unsigned i = STACK_PROGRAM_COUNT_; i-- > 0;) {
		stack_stop_program(s, (enum stack_program)i, SIGTERM);
	}
	transport_destroy(s->transport);
	kubeconfig_destroy(s->config);
	if (keep_logs) {
		fprintf(stderr, "logs are in %s\n", s->dir);
	} else {
		remove_dir(s->dir);
	}
	free(s);
}

int stack_pid(const struct stack *s, enum stack_program p)
{
	return (int)s->procs[p].pid;
}

const char *stack_dir(const struct stack *s)
{
	return s->dir;
}

const char *stack_kubeconfig(const struct stack *s)
{
	return s->kubeconfig;
}

uint16_t stack_webhook_port(const struct stack *s)
{
	return s->webhook_port;
}

uint16_t stack_metrics_port(const struct stack *s, enum stack_program p)
{
	return s->health_port[p];
}

int stack_transport(struct stack *s, struct transport **ret, struct err *err)
{
	const struct http_loop_options opt = { .user_agent = "headgate-test",
					       .connect_ns = CALL_NS };

	return transport_http_open(s->config, &opt, ret, err);
}

int stack_call(struct stack *s, const char *method, const char *path, struct str body,
	       struct jdoc **ret, struct err *err)
{
	enum http_method m = http_method_of(str_of(method));
	const char *type = body.p == NULL    ? NULL
			   : m == HTTP_PATCH ? "application/merge-patch+json"
					     : "application/json";

	return rest_call(s->transport, m, path, type, body, CALL_NS, ret, err);
}

bool stack_may_try_again(const struct err *err, int64_t deadline)
{
	return strstr(err->text, "failed calling webhook") != NULL && wait_until(deadline);
}

static int apply_one(struct stack *s, const struct jdoc *object, struct err *err)
{
	const char *api_version = jdoc_path_str(object, "apiVersion"),
		   *kind = jdoc_path_str(object, "kind");
	const char *name = jdoc_str_or(jdoc_path(object, "metadata.name"), "");
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT, body = STRBUF_INIT;
	int64_t deadline = clock_mono(clock_real()) + START_NS;
	struct err last = ERR_INIT;
	int r = registration_path(object, &path, err);

	if (r < 0) {
		return r;
	}
	jdoc_format(object, &body);
	do {
		r = stack_call(s, "POST", path.p, strbuf_str(&body), NULL, &last);
	} while (r < 0 && stack_may_try_again(&last, deadline));
	if (r < 0) {
		r = err_set(err, last.code, "%s", last.text);
	}
	if (r == 0 && stack_is_external()) {
		r = external_created(s->transport, object, err);
	}
	return r < 0 ? err_wrap(err, "%s %s %s", api_version, kind, name) : 0;
}

static int apply_all(struct stack *s, const struct jdoc *docs, struct err *err)
{
	int r = 0;

	for (const struct jdoc *d = jdoc_first(docs); d != NULL && r == 0; d = jdoc_next(d)) {
		r = jdoc_kind(d) == JDOC_NULL ? 0 : apply_one(s, d, err);
	}
	return r;
}

int stack_apply(struct stack *s, struct str yaml, struct err *err)
{
	CLEANUP(jdoc_destroyp) struct jdoc *docs = NULL;
	int r = yaml_parse_all(yaml, &docs, err);

	return r < 0 ? r : apply_all(s, docs, err);
}

int stack_apply_file(struct stack *s, const char *path, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	int r = file_read_all(path, YAML_MAX_BYTES, &text, err);

	if (r == 0) {
		r = stack_apply(s, strbuf_str(&text), err);
	}
	return r < 0 ? err_wrap(err, "%s", path) : 0;
}
