/* common/kube/kubeconfig.h: how to reach and authenticate to an API server: a kubeconfig file
 * (contexts, clusters, users; client certificates, tokens, token files; inline data or paths
 * relative to the file) or the in-cluster service account. Immutable after loading. Errors name
 * file and path. exec and auth-provider plugins are refused with a message. */
#ifndef COMMON_KUBE_KUBECONFIG_H
#define COMMON_KUBE_KUBECONFIG_H

#include <stdbool.h>

#include "net/http_loop.h"

struct err;

struct kubeconfig {
	char *server;     /* "https://host:port", no trailing slash */
	char *namespace_; /* "default" when not given */
	char *token;      /* or NULL */
	char *token_file; /* or NULL; wins over token and is read again */
	struct http_loop_tls tls;
	char *owned[8]; /* private: storage behind tls */
};

/* path NULL: $KUBECONFIG's first existing file, then in-cluster, then ~/.kube/config. context NULL:
 * current-context. master: overrides the server URL when not NULL or "". */
int kubeconfig_load(const char *path, const char *context, const char *master,
		    struct kubeconfig **ret, struct err *err);
int kubeconfig_in_cluster(struct kubeconfig **ret, struct err *err);
void kubeconfig_destroy(struct kubeconfig *c);
void kubeconfig_destroyp(struct kubeconfig **pc);

#endif
