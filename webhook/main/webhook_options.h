/* webhook/main/webhook_options.h: the command line of headgate-webhook. Flags of Volcano's webhook
 * manager keep their names; those without a meaning here are accepted and named in a note.
 * Owner: main thread. Texts are borrowed from argv. */
#ifndef WEBHOOK_MAIN_WEBHOOK_OPTIONS_H
#define WEBHOOK_MAIN_WEBHOOK_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEBHOOK_OPTIONS_MAX_NAMES 16

struct err;

struct webhook_options {
	const char *listen_address;
	uint16_t port, healthz_port;
	unsigned threads, max_queue_depth;
	const char *tls_cert_file, *tls_key_file;
	bool cert_managed; /* the pair comes from a Secret that we look after, not from files */
	bool offline;      /* no API server: queues and namespaces are not known */
	bool gate_feature, gate_sticky;
	bool queue_allocated_pods_check, root_queue_protection;
	bool manage_jobs_without_queue, enable_healthz;
	const char *cert_secret, *cert_lease, *cert_selector;
	const char *webhook_namespace, *webhook_service, *webhook_url;
	int64_t cert_ca_ns, cert_leaf_ns, cert_spread_ns;
	const char *scheduler_names[WEBHOOK_OPTIONS_MAX_NAMES];
	size_t scheduler_count;
	const char *kubeconfig, *master;
	const char *enabled_admission;
	const char *integrations, *integration_users;
	const char *metrics_token; /* file; NULL: everybody may read /metrics */
	char healthz_host[64];
	int64_t grace_ns, delay_ns;
	const char *ignored[32]; /* flags accepted and not used, for the note */
	size_t ignored_count;
};

/* Fills *o with defaults and argv. --help, --version and usage errors end the process (0, 0, 2). */
void webhook_options_parse(int argc, char **argv, struct webhook_options *o);
/* Single values, for tests: -ERR_INVALID names what is wrong. */
int webhook_options_feature_gates(struct webhook_options *o, const char *text, struct err *err);
/* "host:port", ":port" or "[v6]:port". */
int webhook_options_address(struct webhook_options *o, const char *text, struct err *err);

#endif
