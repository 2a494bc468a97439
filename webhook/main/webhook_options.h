/* webhook/main/webhook_options.h: the command line of headgate-webhook. Flags of Volcano's webhook
 * manager keep their names; those without a meaning here are accepted with a warning. Owner: main
 * thread. Texts are borrowed from argv. */
#ifndef WEBHOOK_MAIN_WEBHOOK_OPTIONS_H
#define WEBHOOK_MAIN_WEBHOOK_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "obs/daemon_flags.h"

struct err;

/* Values of --cert-mode: certificates from files, or from a Secret in which this program renews
 * them. */
enum webhook_options_cert { WEBHOOK_OPTIONS_FILES, WEBHOOK_OPTIONS_SECRET };

struct webhook_options_address {
	char host[64];
	uint16_t port;
};

struct webhook_options {
	struct daemon_flags daemon; /* first */
	const char *listen_address;
	struct webhook_options_address healthz;
	int64_t port, threads, max_queue_depth;
	const char *tls_cert_file, *tls_key_file;
	enum webhook_options_cert cert_mode;
	bool offline; /* no API server: queues and namespaces are not known */
	bool gate_sticky, enable_healthz;
	bool queue_allocated_pods_check, root_queue_protection, manage_jobs_without_queue;
	const char *cert_secret, *cert_lease, *cert_selector;
	const char *webhook_namespace, *webhook_service, *webhook_url;
	int64_t cert_ca_ns, cert_leaf_ns, cert_spread_ns, grace_ns, delay_ns;
	const char *enabled_admission, *integrations, *integration_users;
};

/* The whole table, for the reference. */
const struct flags *webhook_options_flags(void);
/* 0; 1: help or version was printed, exit 0; -ERR_INVALID: message in err, exit 2. */
int webhook_options_parse(int argc, char **argv, struct webhook_options *ret, struct err *err);

#endif
