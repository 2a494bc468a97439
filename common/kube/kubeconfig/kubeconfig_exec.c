#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "kube/kubeconfig/exec_credential.h"
#include "kube/kubeconfig/kubeconfig_private.h"

void kubeconfig_exec_free(struct kubeconfig_exec *exec)
{
	if (exec == NULL) {
		return;
	}
	free(exec->api_version);
	free(exec->command);
	free(exec->install_hint);
	free(exec->cluster_config);
	kubeconfig_read_free(&exec->args);
	kubeconfig_read_free(&exec->env);
	free(exec);
}

static void free_exec(struct kubeconfig_exec **pe)
{
	kubeconfig_exec_free(*pe);
}

/* v1alpha1 was removed in Kubernetes 1.24. */
static int read_version(const struct jdoc *exec, struct kubeconfig_exec *e, struct err *err)
{
	int r = kubeconfig_read_dup(exec, "apiVersion", &e->api_version, err);

	if (r < 0) {
		return r;
	}
	if (e->api_version == NULL) {
		return err_set(err, ERR_INVALID, "apiVersion: missing");
	}
	if (!str_streq(e->api_version, EXEC_CREDENTIAL_V1) &&
	    !str_streq(e->api_version, EXEC_CREDENTIAL_V1BETA1)) {
		return err_set(err, ERR_INVALID,
			       "apiVersion: \"%s\" is neither " EXEC_CREDENTIAL_V1
			       " nor " EXEC_CREDENTIAL_V1BETA1,
			       e->api_version);
	}
	return 0;
}

static int read_command(const struct jdoc *exec, const char *dir, struct kubeconfig_exec *e,
			struct err *err)
{
	const char *command = NULL;
	int r = kubeconfig_read_str(exec, "command", &command, err);

	if (r < 0) {
		return r;
	}
	if (command == NULL) {
		return err_set(err, ERR_INVALID, "command: missing");
	}
	/* A bare name is looked for in $PATH. */
	e->command = strchr(command, '/') == NULL ? xmalloc_dup(command)
						  : kubeconfig_read_path(dir, command);
	r = kubeconfig_read_list(exec, "args", &e->args, err);
	return r < 0 ? r : kubeconfig_read_dup(exec, "installHint", &e->install_hint, err);
}

/* A name with '=' would set another variable than it names. */
static int read_env(const struct jdoc *exec, struct kubeconfig_exec *e, struct err *err)
{
	const struct jdoc *env = jdoc_get(exec, "env");

	if (jdoc_kind(env) != JDOC_ARRAY && jdoc_kind(env) != JDOC_NULL) {
		return err_set(err, ERR_INVALID, "env: not a list");
	}
	for (const struct jdoc *i = jdoc_first(env); i != NULL; i = jdoc_next(i)) {
		const char *name = jdoc_str(jdoc_get(i, "name"));
		const struct jdoc *value = jdoc_get(i, "value");

		if (name == NULL || name[0] == '\0' || strchr(name, '=') != NULL) {
			return err_set(err, ERR_INVALID,
				       "env[%zu].name: not the name of a variable", e->env.n);
		}
		if (jdoc_str(value) == NULL && jdoc_kind(value) != JDOC_NULL) {
			return err_set(err, ERR_INVALID, "env[%zu].value: not a string", e->env.n);
		}
		vec_push(&e->env, xmalloc_printf("%s=%s", name, jdoc_str_or(value, "")));
	}
	return 0;
}

/* The member is required in v1; in v1beta1 its default is IfAvailable. */
static int read_interactive(const struct jdoc *exec, struct kubeconfig_exec *e, struct err *err)
{
	static const struct {
		const char *name;
		enum kubeconfig_interactive mode;
	} modes[] = {
		{ "Never", KUBECONFIG_INTERACTIVE_NEVER },
		{ "IfAvailable", KUBECONFIG_INTERACTIVE_IF_AVAILABLE },
		{ "Always", KUBECONFIG_INTERACTIVE_ALWAYS },
	};
	const char *mode = NULL;
	int r = kubeconfig_read_str(exec, "interactiveMode", &mode, err);

	if (r < 0) {
		return r;
	}
	if (mode == NULL && str_streq(e->api_version, EXEC_CREDENTIAL_V1)) {
		return err_set(err, ERR_INVALID,
			       "interactiveMode: missing: Never, IfAvailable or Always");
	}
	for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
		if (str_streq(mode == NULL ? "IfAvailable" : mode, modes[i].name)) {
			e->interactive = modes[i].mode;
			return 0;
		}
	}
	return err_set(err, ERR_INVALID,
		       "interactiveMode: \"%s\" is not Never, IfAvailable or Always", mode);
}

int kubeconfig_exec_read(const struct jdoc *exec, const char *dir, struct kubeconfig_exec **ret,
			 struct err *err)
{
	CLEANUP(free_exec) struct kubeconfig_exec *e = xmalloc_zero(1, sizeof(*e));
	int r;

	r = read_version(exec, e, err);
	if (r == 0) {
		r = read_command(exec, dir, e, err);
	}
	if (r == 0) {
		r = read_env(exec, e, err);
	}
	if (r == 0) {
		r = read_interactive(exec, e, err);
	}
	if (r == 0) {
		r = kubeconfig_read_bool(exec, "provideClusterInfo", &e->cluster_info, err);
	}
	if (r < 0) {
		return r;
	}
	*ret = take_ptr(&e);
	return 0;
}
