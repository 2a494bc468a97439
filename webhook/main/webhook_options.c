#include "webhook/main/webhook_options.h"

#include <string.h>

#include "base/clock.h"
#include "base/err.h"

#define MIN_LIFE_NS (10 * CLOCK_NS_PER_S)
#define MAX_LIFE_NS (INT64_C(876000) * 3600 * CLOCK_NS_PER_S) /* a hundred years */
#define MAX_THREADS 256
#define MAX_DEPTH 100

#define AT(kind, member) FLAGS_AT(struct webhook_options, kind, member)

static int set_address(void *member, const char *value, struct err *err);

static const struct flags_choice cert_modes[] = { { "files", WEBHOOK_OPTIONS_FILES },
						  { "secret", WEBHOOK_OPTIONS_SECRET },
						  { NULL, 0 } };

static const struct flags_row rows[] = {
	{ "Serving", .type = FLAGS_HEADING },
	{ "listen-address", AT(TEXT, listen_address), .arg = "ADDRESS", .unset = "all addresses",
	  .help = "Address to serve on" },
	{ "port", AT(INT, port), .max = UINT16_MAX, .def = "8443",
	  .help = "Port to serve on; 0: a free one" },
	{ "threads", AT(INT, threads), .min = 1, .max = MAX_THREADS, .def = "2",
	  .help = "Number of threads that serve" },
	{ "enable-healthz", AT(BOOL, enable_healthz), .def = "true",
	  .help = "Serve /healthz, /livez, /readyz and /metrics" },
	{ "healthz-address", FLAGS_CUSTOM_AT(struct webhook_options, set_address, healthz),
	  .arg = "HOST:PORT", .def = ":11251", .help = "Address for these endpoints" },
	{ "graceful-shutdown-time", AT(DURATION, grace_ns), .def = "30s",
	  .help = "How long to wait for requests in flight after SIGTERM" },
	{ "shutdown-delay-duration", AT(DURATION, delay_ns), .def = "0s",
	  .help = "How long to keep serving after SIGTERM, while /readyz already fails" },
	{ "Certificates", .type = FLAGS_HEADING },
	{ "cert-mode", FLAGS_CHOICE_AT(struct webhook_options, cert_modes, cert_mode),
	  .def = "files",
	  .help = "Read the certificate from files, or create and renew it in a Secret and write "
		  "its CA into "
		  "the webhook registrations" },
	{ "tls-cert-file", AT(TEXT, tls_cert_file), .arg = "FILE",
	  .help = "Certificate chain, PEM; read again when it changes" },
	{ "tls-private-key-file", AT(TEXT, tls_key_file), .arg = "FILE",
	  .help = "Private key of the certificate, PEM" },
	{ "webhook-namespace", AT(TEXT, webhook_namespace), .arg = "NAME",
	  .unset = "the namespace of the process",
	  .help = "Namespace of the Secret, the Lease and the Service" },
	{ "webhook-service-name", AT(TEXT, webhook_service), .arg = "NAME",
	  .help = "Service that the certificate is for" },
	{ "webhook-url", AT(TEXT, webhook_url), .arg = "URL",
	  .help = "URL of the webhook; the certificate is for its host" },
	{ "cert-secret", AT(TEXT, cert_secret), .arg = "NAME", .def = "headgate-webhook-tls",
	  .help = "Secret with CA and serving certificate" },
	{ "cert-lease", AT(TEXT, cert_lease), .arg = "NAME", .def = "headgate-webhook",
	  .help = "Lease held by the replica that renews the certificate" },
	{ "cert-registrations", AT(TEXT, cert_selector), .arg = "SELECTOR",
	  .def = "app.kubernetes.io/part-of=headgate",
	  .help = "Labels of Headgate's webhook registrations" },
	{ "cert-ca-duration", AT(DURATION, cert_ca_ns), .min = MIN_LIFE_NS, .max = MAX_LIFE_NS,
	  .def = "43800h", .help = "Validity of the CA" },
	{ "cert-leaf-duration", AT(DURATION, cert_leaf_ns), .min = MIN_LIFE_NS, .max = MAX_LIFE_NS,
	  .def = "2160h", .help = "Validity of the certificate" },
	{ "cert-rotation-delay", AT(DURATION, cert_spread_ns), .def = "1m",
	  .help = "How long a new CA is in the registrations before it signs the certificate" },
	{ "Admission", .type = FLAGS_HEADING },
	{ "enabled-admission", AT(TEXT, enabled_admission), .min = 1, .arg = "PATHS",
	  .unset = "all but those of the quota kinds",
	  .help = "Admission paths to serve, separated by commas" },
	{ "gate-sticky", AT(BOOL, gate_sticky), .def = "true",
	  .help = "Deny removing the opt-in annotation from pods that are gated or hold quota" },
	{ "max-queue-depth", AT(INT, max_queue_depth), .max = MAX_DEPTH, .def = "5",
	  .help = "Deepest level of queues below the root" },
	{ "enable-queue-allocated-pods-check", AT(BOOL, queue_allocated_pods_check),
	  .help = "Deny deleting queues that have pods" },
	{ "enable-root-queue-protection", AT(BOOL, root_queue_protection), .def = "true",
	  .help = "Deny changes of capability, deserved and guarantee of the root queue" },
	{ "manage-jobs-without-queue-name", AT(BOOL, manage_jobs_without_queue),
	  .help = "Also hold Jobs and pods that name no LocalQueue" },
	{ "integrations", AT(TEXT, integrations), .arg = "KINDS", .unset = "none",
	  .help = "External frameworks, Kind.version.group separated by commas: pods and Jobs "
		  "owned by "
		  "objects of these kinds are not held, since their owners are queued" },
	{ "integration-users", AT(TEXT, integration_users), .arg = "NAMES", .unset = "none",
	  .help = "User names of the controllers of --integrations, separated by commas, in "
		  "addition to "
		  "those in kube-system; an ownerReference written by any other user does not "
		  "count" },
	{ "offline", AT(BOOL, offline),
	  .help = "Serve without an API server: namespaces and queues are not known" },
	{ .type = FLAGS_END },
};

/* Of Volcano's webhook manager. */
static const struct flags_row volcano[] = {
	{ "admission-conf", .type = FLAGS_IGNORED },
	{ "ca-cert-file", .type = FLAGS_IGNORED },
	{ "enable-cascade-child-queue-close", .type = FLAGS_IGNORED_BOOL },
	{ "enable-queue-closed-before-delete-check", .type = FLAGS_UNSUPPORTED_BOOL },
	{ "kube-api-burst", .type = FLAGS_IGNORED },
	{ "kube-api-qps", .type = FLAGS_IGNORED },
	{ .type = FLAGS_END },
};

/* "host:port", ":port" or "[v6]:port" */
static int set_address(void *member, const char *value, struct err *err)
{
	struct webhook_options_address *a = member;
	const char *colon = strrchr(value, ':');
	struct str host;
	uint64_t port;

	if (colon == NULL || !str_to_u64(str_of(colon + 1), &port) || port > UINT16_MAX) {
		return err_set(err, ERR_INVALID, "expected HOST:PORT");
	}
	/* The last colon: an IPv6 address in brackets has others. */
	host = (struct str){ value, (size_t)(colon - value) };
	if (host.len >= 2 && host.p[0] == '[' && host.p[host.len - 1] == ']') {
		host = (struct str){ host.p + 1, host.len - 2 };
	}
	if (host.len >= sizeof(a->host)) {
		return err_set(err, ERR_INVALID, "the host is too long");
	}
	memcpy(a->host, host.p, host.len);
	a->host[host.len] = '\0';
	a->port = (uint16_t)port;
	return 0;
}

const struct flags *webhook_options_flags(void)
{
	static const struct flags_row *const tables[] = {
		rows, daemon_flags_rows, flags_help, flags_version, volcano, flags_klog, NULL
	};
	static const struct flags flags = {
		.program = "headgate-webhook",
		.doc = "Serves admission webhooks: gates pods until their queue has quota, "
		       "suspends Jobs that name a queue, defaults and validates queues, PodGroups "
		       "and Workloads.",
		.tables = tables,
	};

	return &flags;
}

static int check(const struct webhook_options *o, struct err *err)
{
	bool has_file = o->tls_cert_file != NULL || o->tls_key_file != NULL;

	if (o->cert_mode == WEBHOOK_OPTIONS_FILES) {
		return o->tls_cert_file != NULL && o->tls_key_file != NULL
			       ? 0
			       : err_set(err, ERR_INVALID,
					 "--tls-cert-file and --tls-private-key-file are required "
					 "(headgatectl certs makes a pair)");
	}
	if (has_file) {
		return err_set(err, ERR_INVALID,
			       "--cert-mode=secret does not allow certificate files");
	}
	if (o->offline) {
		return err_set(err, ERR_INVALID, "--cert-mode=secret needs an API server");
	}
	if (o->webhook_service == NULL && o->webhook_url == NULL) {
		return err_set(err, ERR_INVALID,
			       "--cert-mode=secret needs --webhook-service-name or --webhook-url");
	}
	return 0;
}

int webhook_options_parse(int argc, char **argv, struct webhook_options *ret, struct err *err)
{
	struct webhook_options o = { .daemon = { .master = NULL } };
	int r = daemon_flags_parse(webhook_options_flags(), argc, argv, &o.daemon, err);

	if (r == 0) {
		r = check(&o, err);
	}
	if (r == 0) {
		*ret = o;
	}
	return r;
}
