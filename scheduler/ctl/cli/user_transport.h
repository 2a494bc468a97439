/* scheduler/ctl/cli/user_transport.h: the transport of headgatectl: HTTPS with the credentials of
 * the user of a kubeconfig, which a credential plugin makes again when they expire or the server
 * rejects them. For blocking requests, one at a time. Owner: main thread. */
#ifndef SCHEDULER_CTL_CLI_USER_TRANSPORT_H
#define SCHEDULER_CTL_CLI_USER_TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct exec_credential;
struct kubeconfig;
struct transport;

struct user_transport_options {
	const char *user_agent;
	bool has_timeout; /* timeout_ns (0: none) in place of each call's own */
	int64_t timeout_ns;
	/* Runs the plugin of cfg, as credential_plugin_run does. */
	int (*run_plugin)(const struct kubeconfig *cfg, struct exec_credential *ret,
			  struct err *err);
};

/* Takes cfg, also on failure. The plugin runs at once. transport_destroy. */
int user_transport_create(struct kubeconfig *cfg_take, const struct user_transport_options *opt,
			  struct transport **ret, struct err *err);

#endif
