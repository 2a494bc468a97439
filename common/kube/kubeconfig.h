/* common/kube/kubeconfig.h: how to reach and authenticate to an API server: a kubeconfig file
 * (contexts, clusters, users; client certificates, tokens, token files; inline data or paths
 * relative to the file) or the in-cluster service account. Immutable after loading. Errors name
 * file and path. exec and auth-provider plugins, user and password, and proxies are refused with a
 * message. Limit: KUBECONFIG_MAX_BYTES. */
#ifndef COMMON_KUBE_KUBECONFIG_H
#define COMMON_KUBE_KUBECONFIG_H

#include <stdbool.h>

#include "net/http_loop.h"

#define KUBECONFIG_MAX_BYTES (4u << 20)
#define KUBECONFIG_OWNED_ 8

struct err;

struct kubeconfig {
	char *server;     /* "https://host:port", no trailing slash */
	char *namespace_; /* "default" when not given */
	char *token;      /* or NULL */
	char *token_file; /* or NULL; takes precedence over token, and is read again */
	struct http_loop_tls tls;
	char *owned[KUBECONFIG_OWNED_]; /* private: storage behind tls */
};

/* path NULL: $KUBECONFIG's first existing file, then in-cluster, then ~/.kube/config. context NULL:
 * current-context. master: overrides the server URL when not NULL or "". */
int kubeconfig_load(const char *path, const char *context, const char *master,
		    struct kubeconfig **ret, struct err *err);
/* The text of a kubeconfig; dir is what its relative paths are relative to. */
int kubeconfig_parse(struct str text, const char *dir, const char *context, struct kubeconfig **ret,
		     struct err *err);
int kubeconfig_in_cluster(struct kubeconfig **ret, struct err *err);
/* The same from a service account folder (token, ca.crt, namespace) and an address. */
int kubeconfig_of_account(const char *dir, const char *host, const char *port,
			  struct kubeconfig **ret, struct err *err);
void kubeconfig_destroy(struct kubeconfig *c);
void kubeconfig_destroyp(struct kubeconfig **pc);

#endif
