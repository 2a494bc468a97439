/* common/kube/kubeconfig/exec_credential.h: the messages between headgatectl and a credential
 * plugin: JSON of the kind ExecCredential (client.authentication.k8s.io). Any thread. Limit of an
 * answer: EXEC_CREDENTIAL_MAX_BYTES. */
#ifndef COMMON_KUBE_KUBECONFIG_EXEC_CREDENTIAL_H
#define COMMON_KUBE_KUBECONFIG_EXEC_CREDENTIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

#define EXEC_CREDENTIAL_V1 "client.authentication.k8s.io/v1"
#define EXEC_CREDENTIAL_V1BETA1 "client.authentication.k8s.io/v1beta1"
#define EXEC_CREDENTIAL_MAX_BYTES (1u << 20)

struct err;
struct kubeconfig;
struct strbuf;

/* A token, a certificate with its key (PEM), or both. */
struct exec_credential {
	char *token; /* or NULL */
	char *cert, *key;
	int64_t expires; /* wall ns; INT64_MAX: unknown */
};

/* Appends the ExecCredential that the plugin of cfg gets in $KUBERNETES_EXEC_INFO. An error when
 * the authority's file cannot be read. */
int exec_credential_request(const struct kubeconfig *cfg, bool interactive, struct strbuf *out,
			    struct err *err);
/* The plugin's answer, which must have the version that the kubeconfig asks for. */
int exec_credential_parse(struct str text, const char *api_version, struct exec_credential *ret,
			  struct err *err);
void exec_credential_finish(struct exec_credential *c); /* of zeros is fine */

#endif
