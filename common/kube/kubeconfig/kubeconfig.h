/* common/kube/kubeconfig/kubeconfig.h: how to reach and authenticate to an API server: kubeconfig
 * files (contexts, clusters, users; client certificates, tokens, token files, credential plugins,
 * impersonation; inline data or paths relative to the file) or the in-cluster service account.
 * Immutable after loading, but for kubeconfig_set_credential. Errors name file and path. Members
 * that would change who sends a request, or where it goes, are honoured or refused with a message
 * (auth-provider, user and password); other members without effect are in `warnings`. Limit:
 * KUBECONFIG_MAX_BYTES for each file. */
#ifndef COMMON_KUBE_KUBECONFIG_KUBECONFIG_H
#define COMMON_KUBE_KUBECONFIG_KUBECONFIG_H

#include <stdbool.h>

#include "collections/vec.h"
#include "net/http_loop.h"

#define KUBECONFIG_MAX_BYTES (4u << 20)
#define KUBECONFIG_OWNED_ 8

struct err;

struct kubeconfig_strings VEC(char *); /* texts that are freed with it */

enum kubeconfig_interactive {
	KUBECONFIG_INTERACTIVE_NEVER,
	KUBECONFIG_INTERACTIVE_IF_AVAILABLE,
	KUBECONFIG_INTERACTIVE_ALWAYS,
};

/* A credential plugin: a program that prints an ExecCredential (kube/kubeconfig/exec_credential.h).
 */
struct kubeconfig_exec {
	char *api_version;              /* of client.authentication.k8s.io */
	char *command;                  /* a path, or a name to look for in $PATH */
	struct kubeconfig_strings args; /* behind the command */
	struct kubeconfig_strings env;  /* "NAME=value" */
	char *install_hint;             /* or NULL */
	enum kubeconfig_interactive interactive;
	bool cluster_info;    /* it gets the cluster as well */
	char *cluster_config; /* JSON, for it alone; or NULL */
};

struct kubeconfig {
	char *server;     /* "https://host:port", no trailing slash */
	char *namespace_; /* "default" when not given */
	char *token;      /* or NULL */
	char *token_file; /* or NULL; takes precedence over token, and is read again */
	char *proxy_url;  /* http, https or socks5; NULL: the proxy of the environment */
	struct kubeconfig_strings headers; /* "Impersonate-User: name", ..., a NULL; or empty */
	struct kubeconfig_exec *exec;      /* or NULL; gives what token and tls lack */
	struct http_loop_tls tls;
	struct kubeconfig_strings warnings;
	char *owned[KUBECONFIG_OWNED_]; /* private: storage behind tls */
};

/* The choice of a kubeconfig. Zeros: the present context of the usual files; no credential plugins.
 */
struct kubeconfig_options {
	const char *path;    /* NULL or "": the files of $KUBECONFIG together, then in-cluster, then
				~/.kube/config */
	const char *context; /* NULL: current-context */
	/* Instead of what the kubeconfig says; NULL, "" and false: what it says. */
	const char *cluster, *user; /* names of entries */
	const char *server;
	const char *token; /* instead of all credentials of the user */
	const char *as, *as_uid;
	const char *const *as_groups; /* NULL-terminated; empty: those of the kubeconfig */
	bool insecure_skip_verify;
	/* The caller runs credential plugins; else they are refused. */
	bool runs_plugins;
};

int kubeconfig_load(const struct kubeconfig_options *opt, struct kubeconfig **ret, struct err *err);
/* The text of a kubeconfig, instead of opt's path; dir is what its relative paths are relative to.
 */
int kubeconfig_parse(struct str text, const char *dir, const struct kubeconfig_options *opt,
		     struct kubeconfig **ret, struct err *err);
int kubeconfig_in_cluster(struct kubeconfig **ret, struct err *err);
/* The same from a service account folder (token, ca.crt, namespace) and an address. */
int kubeconfig_of_account(const char *dir, const char *host, const char *port,
			  struct kubeconfig **ret, struct err *err);
/* Replaces the tokens by this one (NULL: none), and certificate and key by these (PEM; NULL: they
 * stay). */
void kubeconfig_set_credential(struct kubeconfig *c, const char *token, const char *cert,
			       const char *key);
/* Both reach the same server with the same credentials: equal in all but namespace and warnings.
 * One with a credential plugin is equal to none. */
bool kubeconfig_equal(const struct kubeconfig *a, const struct kubeconfig *b);
/* Logs each of the warnings. */
void kubeconfig_log_warnings(const struct kubeconfig *c);
void kubeconfig_destroy(struct kubeconfig *c);
void kubeconfig_destroyp(struct kubeconfig **pc);

#endif
