/* common/kube/kubeconfig/kubeconfig_private.h: shared by the files that read kubeconfigs. One
 * thread. */
#ifndef COMMON_KUBE_KUBECONFIG_KUBECONFIG_PRIVATE_H
#define COMMON_KUBE_KUBECONFIG_KUBECONFIG_PRIVATE_H

#include "kube/kubeconfig/kubeconfig.h"

struct jdoc;

/* Indices into owned[]: the strings that `tls` points to. */
enum {
	KUBECONFIG_CA_FILE,
	KUBECONFIG_CA_PEM,
	KUBECONFIG_CERT_FILE,
	KUBECONFIG_CERT_PEM,
	KUBECONFIG_KEY_FILE,
	KUBECONFIG_KEY_PEM,
	KUBECONFIG_SERVER_NAME,
};

/* kubeconfig_read.c: members of an object. A string: absent and "" give NULL, another kind is an
 * error. */
int kubeconfig_read_str(const struct jdoc *obj, const char *key, const char **ret, struct err *err);
/* The same as a copy, into a member that is freed. */
int kubeconfig_read_dup(const struct jdoc *obj, const char *key, char **member, struct err *err);
/* A boolean that is false when absent. */
int kubeconfig_read_bool(const struct jdoc *obj, const char *key, bool *ret, struct err *err);
/* An array of strings, appended to *list; absent: none. */
int kubeconfig_read_list(const struct jdoc *obj, const char *key, struct kubeconfig_strings *list,
			 struct err *err);
/* A PEM that is given inline ("KEY-data", base64, takes precedence) or as a path ("KEY"). */
int kubeconfig_read_pem(const struct jdoc *obj, const char *key, const char *dir, char **ret_file,
			char **ret_pem, struct err *err);
/* Adds a warning for each member of obj that is not among `known`; where names obj:
 * "users[u].user.".
 */
void kubeconfig_read_unknown(struct kubeconfig *c, const struct jdoc *obj, const char *where,
			     const char *const *known);
char *kubeconfig_read_path(const char *dir, const char *path); /* relative to dir */
void kubeconfig_read_free(struct kubeconfig_strings *list);

/* kubeconfig_user.c: the credentials and the impersonation of a user, or of opt in their place;
 * errors name the member. */
struct kubeconfig_user {
	const struct jdoc *user; /* NULL: none, opt alone */
	const char *dir, *where; /* where: "users[u].user.", for warnings */
	const struct kubeconfig_options *opt;
};
int kubeconfig_user_read(struct kubeconfig *c, const struct kubeconfig_user *from, struct err *err);

/* kubeconfig_exec.c: the `exec` of a user. */
int kubeconfig_exec_read(const struct jdoc *exec, const char *dir, struct kubeconfig_exec **ret,
			 struct err *err);
void kubeconfig_exec_free(struct kubeconfig_exec *exec);

#endif
