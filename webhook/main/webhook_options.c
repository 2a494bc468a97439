#include "webhook/main/webhook_options.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/keys.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"

#define MAX_THREADS 256
#define MAX_DEPTH 100
#define MIN_LIFE_NS (10 * CLOCK_NS_PER_S)
#define MAX_LIFE_NS (INT64_C(876000) * 3600 * CLOCK_NS_PER_S) /* a hundred years */

enum key {
	KEY_LISTEN = 256,
	KEY_PORT,
	KEY_THREADS,
	KEY_CERT,
	KEY_KEY,
	KEY_CERT_MODE,
	KEY_CERT_SECRET,
	KEY_CERT_LEASE,
	KEY_CERT_SELECTOR,
	KEY_CERT_CA,
	KEY_CERT_LEAF,
	KEY_CERT_SPREAD,
	KEY_NAMESPACE,
	KEY_SERVICE,
	KEY_URL,
	KEY_SCHEDULER,
	KEY_KUBECONFIG,
	KEY_MASTER,
	KEY_OFFLINE,
	KEY_ENABLED,
	KEY_FEATURES,
	KEY_DEPTH,
	KEY_PODS_CHECK,
	KEY_ROOT,
	KEY_STICKY,
	KEY_MANAGE_JOBS,
	KEY_INTEGRATIONS,
	KEY_INTEGRATION_USERS,
	KEY_HEALTHZ,
	KEY_HEALTHZ_ADDRESS,
	KEY_METRICS_TOKEN,
	KEY_GRACE,
	KEY_DELAY,
	KEY_LOG_FORMAT,
	KEY_IGNORED,
};

static const struct argp_option rows[] = {
	{ 0, 0, 0, 0, "Serving:", 1 },
	{ "listen-address", KEY_LISTEN, "ADDRESS", 0, "address to serve on (all)", 0 },
	{ "port", KEY_PORT, "PORT", 0, "port to serve on, 0: a free one (8443)", 0 },
	{ "tls-cert-file", KEY_CERT, "FILE", 0,
	  "certificate chain, PEM; read again when it changes", 0 },
	{ "tls-private-key-file", KEY_KEY, "FILE", 0, "its private key, PEM", 0 },
	{ "threads", KEY_THREADS, "N", 0, "threads that serve (2)", 0 },
	{ "enable-healthz", KEY_HEALTHZ, "BOOL", OPTION_ARG_OPTIONAL,
	  "serve /healthz, /livez, /readyz and /metrics (true)", 0 },
	{ "healthz-address", KEY_HEALTHZ_ADDRESS, "HOST:PORT", 0, "where (:11251)", 0 },
	{ "metrics-token-file", KEY_METRICS_TOKEN, "FILE", 0,
	  "/metrics asks for the bearer token in this file; read again for each request", 0 },
	{ "graceful-shutdown-time", KEY_GRACE, "DURATION", 0,
	  "how long requests in flight may take after SIGTERM (30s)", 0 },
	{ "shutdown-delay-duration", KEY_DELAY, "DURATION", 0,
	  "how long to go on serving, not ready, after SIGTERM (0s)", 0 },
	{ 0, 0, 0, 0, "Certificates:", 2 },
	{ "cert-mode", KEY_CERT_MODE, "files|secret", 0,
	  "take the pair from the files above, or make and rotate it in a Secret and put its CA "
	  "into "
	  "the registrations (files)",
	  0 },
	{ "webhook-namespace", KEY_NAMESPACE, "NAME", 0,
	  "namespace of Secret, Lease and service (own namespace)", 0 },
	{ "webhook-service-name", KEY_SERVICE, "NAME", 0, "service the certificate is for", 0 },
	{ "webhook-url", KEY_URL, "URL", 0, "URL whose host the certificate is for", 0 },
	{ "cert-secret", KEY_CERT_SECRET, "NAME", 0, "the Secret (headgate-webhook-tls)", 0 },
	{ "cert-lease", KEY_CERT_LEASE, "NAME", 0,
	  "Lease of the replica that looks after it (headgate-webhook)", 0 },
	{ "cert-registrations", KEY_CERT_SELECTOR, "SELECTOR", 0,
	  "labels of our registrations (app.kubernetes.io/part-of=headgate)", 0 },
	{ "cert-ca-duration", KEY_CERT_CA, "DURATION", 0, "validity of the CA (43800h)", 0 },
	{ "cert-leaf-duration", KEY_CERT_LEAF, "DURATION", 0, "validity of the certificate (2160h)",
	  0 },
	{ "cert-rotation-delay", KEY_CERT_SPREAD, "DURATION", 0,
	  "time for API servers to see a new CA before it is used (1m)", 0 },
	{ 0, 0, 0, 0, "Admission:", 3 },
	{ "enabled-admission", KEY_ENABLED, "PATHS", 0,
	  "paths served, separated by commas (all but those of the quota kinds)", 0 },
	{ "scheduler-name", KEY_SCHEDULER, "NAME", 0,
	  "pods of this scheduler are ours; may be given again (volcano)", 0 },
	{ "feature-gates", KEY_FEATURES, "NAME=BOOL,...", 0,
	  "SchedulingGatesQueueAdmission=false leaves pods without gate (true)", 0 },
	{ "gate-sticky", KEY_STICKY, "BOOL", OPTION_ARG_OPTIONAL,
	  "refuse to take the annotation off pods that are gated or have quota (true)", 0 },
	{ "max-queue-depth", KEY_DEPTH, "N", 0, "levels of queues below the root (5)", 0 },
	{ "enable-queue-allocated-pods-check", KEY_PODS_CHECK, "BOOL", OPTION_ARG_OPTIONAL,
	  "refuse to delete queues that have pods (false)", 0 },
	{ "enable-root-queue-protection", KEY_ROOT, "BOOL", OPTION_ARG_OPTIONAL,
	  "refuse to change the amounts of the root queue (true)", 0 },
	{ "manage-jobs-without-queue-name", KEY_MANAGE_JOBS, "BOOL", OPTION_ARG_OPTIONAL,
	  "hold Jobs and pods that name no LocalQueue, too (false)", 0 },
	{ "integrations", KEY_INTEGRATIONS, "KINDS", 0,
	  "external frameworks, Kind.version.group separated by commas: what their objects own "
	  "waits "
	  "with them (none)",
	  0 },
	{ "integration-users", KEY_INTEGRATION_USERS, "NAMES", 0,
	  "user names of their controllers, separated by commas, beside those of kube-system; an "
	  "owner that anybody else writes does not count (none)",
	  0 },
	{ 0, 0, 0, 0, "API server:", 4 },
	{ "kubeconfig", KEY_KUBECONFIG, "FILE", 0,
	  "how to reach the API server (KUBECONFIG, in-cluster, ~/.kube/config)", 0 },
	{ "master", KEY_MASTER, "URL", 0, "address of the API server, before that of the file", 0 },
	{ "offline", KEY_OFFLINE, 0, 0,
	  "serve without an API server: labels of namespaces and queues are not known", 0 },
	{ 0, 0, 0, 0, "Messages:", 5 },
	{ "v", 'v', "LEVEL", 0, "verbosity, 0 to 6 (0)", 0 },
	{ "logging-format", KEY_LOG_FORMAT, "text|json", 0, "(text)", 0 },
	{ 0, 0, 0, 0, "Accepted for compatibility, without effect:", 6 },
	{ "kube-api-qps", KEY_IGNORED, "N", 0, 0, 0 },
	{ "kube-api-burst", KEY_IGNORED, "N", 0, 0, 0 },
	{ "ca-cert-file", KEY_IGNORED, "FILE", 0, 0, 0 },
	{ "admission-conf", KEY_IGNORED, "FILE", 0, 0, 0 },
	{ "logtostderr", KEY_IGNORED, "BOOL", OPTION_ARG_OPTIONAL, 0, 0 },
	{ 0, 0, 0, 0, 0, 0 },
};

/* Feature gates of Volcano; only ours means something here. Sorted. */
static const char *const feature_names[] = {
	"CSIStorage",
	"CronVolcanoJobSupport",
	"PodDisruptionBudgetsSupport",
	"PriorityClass",
	"QueueCommandSync",
	"ResourceTopology",
	"SchedulingGatesQueueAdmission",
	"VolcanoJobSupport",
	"WorkLoadSupport",
};

static int cmp_feature(const void *name, const void *row)
{
	return str_cmp(*(const struct str *)name, str_of(*(const char *const *)row));
}

static bool parse_bool(struct str text, bool *ret)
{
	bool yes = str_eq_c(text, "true") || str_eq_c(text, "1") || str_eq_c(text, "t");

	if (!yes && !str_eq_c(text, "false") && !str_eq_c(text, "0") && !str_eq_c(text, "f")) {
		return false;
	}
	*ret = yes;
	return true;
}

int webhook_options_feature_gates(struct webhook_options *o, const char *text, struct err *err)
{
	struct str rest = str_of(text);

	while (rest.p != NULL) {
		struct str value = str_trim(str_next(&rest, ','));
		struct str name;
		bool on = false;

		if (value.len == 0) {
			continue;
		}
		name = str_next(&value, '=');
		if (bsearch(&name, feature_names, ARRAY_LEN(feature_names),
			    sizeof(feature_names[0]), cmp_feature) == NULL) {
			return err_set(err, ERR_INVALID, "no such feature gate: \"" STR_FMT "\"",
				       STR_ARG(name));
		}
		if (!parse_bool(value, &on)) {
			return err_set(err, ERR_INVALID,
				       "feature gate " STR_FMT ": neither true nor false",
				       STR_ARG(name));
		}
		if (str_eq_c(name, "SchedulingGatesQueueAdmission")) {
			o->gate_feature = on;
		}
	}
	return 0;
}

int webhook_options_address(struct webhook_options *o, const char *text, struct err *err)
{
	const char *colon = strrchr(text, ':');
	struct str host;
	uint64_t port;

	if (colon == NULL || !str_to_u64(str_of(colon + 1), &port) || port > UINT16_MAX) {
		return err_set(err, ERR_INVALID, "\"%s\" is not HOST:PORT", text);
	}
	host = (struct str){ text, (size_t)(colon - text) };
	if (host.len >= 2 && host.p[0] == '[' && host.p[host.len - 1] == ']') {
		host = (struct str){ host.p + 1, host.len - 2 };
	}
	if (host.len >= sizeof(o->healthz_host)) {
		return err_set(err, ERR_INVALID, "\"%s\" is too long", text);
	}
	memcpy(o->healthz_host, host.p, host.len);
	o->healthz_host[host.len] = '\0';
	o->healthz_port = (uint16_t)port;
	return 0;
}

/* Go programs take -v=3, argp hands over "=3". */
static struct str value_of(const char *arg)
{
	return str_of(arg != NULL && arg[0] == '=' ? arg + 1 : arg);
}

static uint64_t number(struct argp_state *s, const char *flag, const char *arg, uint64_t max)
{
	uint64_t n = 0;

	if (!str_to_u64(value_of(arg), &n) || n > max) {
		argp_error(s, "--%s: \"%s\" is not a number up to %llu", flag, arg,
			   (unsigned long long)max);
	}
	return n;
}

static bool boolean(struct argp_state *s, const char *flag, const char *arg)
{
	bool on = true;

	if (arg != NULL && !parse_bool(value_of(arg), &on)) {
		argp_error(s, "--%s: \"%s\" is neither true nor false", flag, arg);
	}
	return on;
}

static int64_t duration(struct argp_state *s, const char *flag, const char *arg)
{
	int64_t ns = 0;

	if (clock_parse_duration(value_of(arg), &ns) < 0) {
		argp_error(s, "--%s: \"%s\" is not a duration", flag, arg);
	}
	return ns;
}

static void add_scheduler(struct argp_state *s, struct webhook_options *o, const char *name)
{
	if (o->scheduler_count == WEBHOOK_OPTIONS_MAX_NAMES) {
		argp_error(s, "--scheduler-name: at most %d", WEBHOOK_OPTIONS_MAX_NAMES);
	}
	o->scheduler_names[o->scheduler_count++] = name;
}

static void note_ignored(struct argp_state *s, struct webhook_options *o)
{
	if (o->ignored_count < ARRAY_LEN(o->ignored)) {
		/* "--flag VALUE": the flag is one word back. */
		const char *word = s->argv[s->next - 1];

		if (word[0] != '-' && s->next >= 2) {
			word = s->argv[s->next - 2];
		}
		o->ignored[o->ignored_count++] = word;
	}
}

static void set_log_format(struct argp_state *s, const char *arg)
{
	if (!str_streq(arg, "text") && !str_streq(arg, "json")) {
		argp_error(s, "--logging-format: \"%s\" is neither text nor json", arg);
	}
	log_set_format(str_streq(arg, "json") ? LOG_JSON : LOG_TEXT);
}

static void set_cert_mode(struct argp_state *s, struct webhook_options *o, const char *arg)
{
	if (!str_streq(arg, "files") && !str_streq(arg, "secret")) {
		argp_error(s, "--cert-mode: \"%s\" is neither files nor secret", arg);
	}
	o->cert_managed = str_streq(arg, "secret");
}

static int64_t lifetime(struct argp_state *s, const char *flag, const char *arg)
{
	int64_t ns = duration(s, flag, arg);

	if (ns < MIN_LIFE_NS || ns > MAX_LIFE_NS) {
		argp_error(s, "--%s: \"%s\" is not within 10s and 876000h", flag, arg);
	}
	return ns;
}

/* Options whose value is more than a word. */
static error_t on_value(int key, char *arg, struct argp_state *s, struct webhook_options *o)
{
	struct err err = ERR_INIT;

	switch (key) {
	case 'v':
		log_set_level((enum log_level)(LOG_INFO + number(s, "v", arg, 100) > LOG_V6
						       ? LOG_V6
						       : LOG_INFO + number(s, "v", arg, 100)));
		return 0;
	case KEY_LOG_FORMAT:
		set_log_format(s, arg);
		return 0;
	case KEY_FEATURES:
		if (webhook_options_feature_gates(o, arg, &err) < 0) {
			argp_error(s, "--feature-gates: %s", err.text);
		}
		return 0;
	case KEY_HEALTHZ_ADDRESS:
		if (webhook_options_address(o, arg, &err) < 0) {
			argp_error(s, "--healthz-address: %s", err.text);
		}
		return 0;
	case KEY_SCHEDULER:
		add_scheduler(s, o, arg);
		return 0;
	case KEY_GRACE:
		o->grace_ns = duration(s, "graceful-shutdown-time", arg);
		return 0;
	case KEY_DELAY:
		o->delay_ns = duration(s, "shutdown-delay-duration", arg);
		return 0;
	case KEY_CERT_MODE:
		set_cert_mode(s, o, arg);
		return 0;
	case KEY_CERT_CA:
		o->cert_ca_ns = lifetime(s, "cert-ca-duration", arg);
		return 0;
	case KEY_CERT_LEAF:
		o->cert_leaf_ns = lifetime(s, "cert-leaf-duration", arg);
		return 0;
	case KEY_CERT_SPREAD:
		o->cert_spread_ns = duration(s, "cert-rotation-delay", arg);
		return 0;
	case KEY_IGNORED:
		note_ignored(s, o);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t on_flag(int key, char *arg, struct argp_state *s, struct webhook_options *o)
{
	switch (key) {
	case KEY_OFFLINE:
		o->offline = true;
		return 0;
	case KEY_PODS_CHECK:
		o->queue_allocated_pods_check =
			boolean(s, "enable-queue-allocated-pods-check", arg);
		return 0;
	case KEY_STICKY:
		o->gate_sticky = boolean(s, "gate-sticky", arg);
		return 0;
	case KEY_ROOT:
		o->root_queue_protection = boolean(s, "enable-root-queue-protection", arg);
		return 0;
	case KEY_INTEGRATIONS:
		o->integrations = arg;
		return 0;
	case KEY_INTEGRATION_USERS:
		o->integration_users = arg;
		return 0;
	case KEY_MANAGE_JOBS:
		o->manage_jobs_without_queue = boolean(s, "manage-jobs-without-queue-name", arg);
		return 0;
	case KEY_METRICS_TOKEN:
		o->metrics_token = arg;
		return 0;
	case KEY_HEALTHZ:
		o->enable_healthz = boolean(s, "enable-healthz", arg);
		return 0;
	case KEY_PORT:
		o->port = (uint16_t)number(s, "port", arg, UINT16_MAX);
		return 0;
	case KEY_THREADS:
		o->threads = (unsigned)number(s, "threads", arg, MAX_THREADS);
		return 0;
	case KEY_DEPTH:
		o->max_queue_depth = (unsigned)number(s, "max-queue-depth", arg, MAX_DEPTH);
		return 0;
	default:
		return on_value(key, arg, s, o);
	}
}

static void check_managed(struct argp_state *s, const struct webhook_options *o)
{
	if (o->tls_cert_file != NULL || o->tls_key_file != NULL) {
		argp_error(s, "--cert-mode=secret takes no files");
	}
	if (o->offline) {
		argp_error(s, "--cert-mode=secret needs an API server");
	}
	if (o->webhook_service == NULL && o->webhook_url == NULL) {
		argp_error(s, "--cert-mode=secret needs --webhook-service-name or --webhook-url");
	}
}

static void check(struct argp_state *s, struct webhook_options *o)
{
	if (o->cert_managed) {
		check_managed(s, o);
	} else if (o->tls_cert_file == NULL || o->tls_key_file == NULL) {
		argp_error(s, "--tls-cert-file and --tls-private-key-file are needed "
			      "(headgatectl certs makes a pair)");
	}
	if (o->scheduler_count == 0) {
		add_scheduler(s, o, KEYS_DEFAULT_SCHEDULER);
	}
}

static error_t on_name(int key, char *arg, struct argp_state *s, struct webhook_options *o)
{
	switch (key) {
	case KEY_CERT_SECRET:
		o->cert_secret = arg;
		return 0;
	case KEY_CERT_LEASE:
		o->cert_lease = arg;
		return 0;
	case KEY_CERT_SELECTOR:
		o->cert_selector = arg;
		return 0;
	case KEY_NAMESPACE:
		o->webhook_namespace = arg;
		return 0;
	case KEY_SERVICE:
		o->webhook_service = arg;
		return 0;
	case KEY_URL:
		o->webhook_url = arg;
		return 0;
	default:
		return on_flag(key, arg, s, o);
	}
}

static error_t on_option(int key, char *arg, struct argp_state *s)
{
	struct webhook_options *o = s->input;

	switch (key) {
	case KEY_LISTEN:
		o->listen_address = arg;
		return 0;
	case KEY_CERT:
		o->tls_cert_file = arg;
		return 0;
	case KEY_KEY:
		o->tls_key_file = arg;
		return 0;
	case KEY_KUBECONFIG:
		o->kubeconfig = arg[0] != '\0' ? arg : NULL;
		return 0;
	case KEY_MASTER:
		o->master = arg;
		return 0;
	case KEY_ENABLED:
		o->enabled_admission = arg;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(s, "unexpected argument \"%s\"", arg);
		return 0;
	case ARGP_KEY_END:
		check(s, o);
		return 0;
	default:
		return on_name(key, arg, s, o);
	}
}

void webhook_options_parse(int argc, char **argv, struct webhook_options *o)
{
	static const struct argp argp = {
		.options = rows,
		.parser = on_option,
		.doc = "Admission webhook of Headgate: gates pods until their queue has room, "
		       "defaults and checks queues and PodGroups.",
	};

	*o = (struct webhook_options){ .port = 8443,
				       .threads = 2,
				       .gate_feature = true,
				       .gate_sticky = true,
				       .max_queue_depth = 5,
				       .root_queue_protection = true,
				       .enable_healthz = true,
				       .healthz_port = 11251,
				       .cert_secret = "headgate-webhook-tls",
				       .cert_lease = "headgate-webhook",
				       .cert_selector = "app.kubernetes.io/part-of=headgate",
				       .cert_ca_ns = 43800 * 3600 * CLOCK_NS_PER_S,
				       .cert_leaf_ns = 2160 * 3600 * CLOCK_NS_PER_S,
				       .cert_spread_ns = 60 * CLOCK_NS_PER_S,
				       .grace_ns = 30 * CLOCK_NS_PER_S };
	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, o);
}
