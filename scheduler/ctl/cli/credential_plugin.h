/* scheduler/ctl/cli/credential_plugin.h: runs the credential plugin of a kubeconfig: a child
 * process with our environment and our standard error, and with an ExecCredential as its standard
 * output. Blocking, up to a time limit. Owner: main thread. */
#ifndef SCHEDULER_CTL_CLI_CREDENTIAL_PLUGIN_H
#define SCHEDULER_CTL_CLI_CREDENTIAL_PLUGIN_H

#include <stdint.h>

struct err;
struct exec_credential;
struct kubeconfig;

/* cfg has a plugin. The process is ended after limit_ns. If there is no such program, the install
 * hint is printed to standard error. */
int credential_plugin_run(const struct kubeconfig *cfg, int64_t limit_ns,
			  struct exec_credential *ret, struct err *err);

#endif
