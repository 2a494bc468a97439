#include "scheduler/multikueue/worker_config.h"

#include <stdbool.h>
#include <string.h>

#include "base/attrs.h"
#include "base/err.h"
#include "kube/kubeconfig/kubeconfig.h"

#define HTTPS "https://"

static int check_server(const char *server, struct err *err)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";
	const char *host = server + strlen(HTTPS);
	size_t n;

	if (strncmp(server, HTTPS, strlen(HTTPS)) != 0) {
		return err_set(err, ERR_INVALID, "server: not https");
	}
	n = host[0] == '[' ? 1 + strspn(host + 1, "0123456789abcdefABCDEF:.") + 1
			   : strspn(host, allowed);
	if (n == 0 || (host[n] != '\0' && host[n] != ':' && host[n] != '/')) {
		return err_set(err, ERR_INVALID, "server: neither a name nor an address");
	}
	return 0;
}

/* Members that reach beyond the text itself: a file would be one of the manager's container, where
 * its own token lies, and a program would run with its rights. */
static int check_reach(const struct kubeconfig *c, struct err *err)
{
	const struct {
		bool is;
		const char *why;
	} refused[] = {
		{ c->tls.insecure_skip_verify, "insecure-skip-tls-verify is set" },
		{ c->tls.ca_file != NULL, "certificate-authority names a file" },
		{ c->tls.cert_file != NULL, "client-certificate names a file" },
		{ c->tls.key_file != NULL, "client-key names a file" },
		{ c->token_file != NULL, "tokenFile names a file" },
		{ c->exec != NULL, "exec runs a program" },
	};

	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		if (refused[i].is) {
			return err_set(err, ERR_INVALID, "%s", refused[i].why);
		}
	}
	return 0;
}

int worker_config_parse(struct str text, struct kubeconfig **ret, const char **ret_reason,
			struct err *err)
{
	const struct kubeconfig_options opt = { .runs_plugins =
							true }; /* to say that it refuses them */
	CLEANUP(kubeconfig_destroyp) struct kubeconfig *c = NULL;
	int r;

	*ret_reason = "BadKubeConfig";
	r = kubeconfig_parse(text, "", &opt, &c, err);
	if (r < 0) {
		return -ERR_INVALID;
	}
	*ret_reason = "InsecureKubeConfig";
	if (check_reach(c, err) < 0 || check_server(c->server, err) < 0) {
		return -ERR_INVALID;
	}
	*ret = take_ptr(&c);
	return 0;
}

static bool is_below(const char *path, const char *root)
{
	size_t n = strlen(root);

	return strncmp(path, root, n) == 0 && path[n] == '/';
}

static bool goes_up(struct str path)
{
	while (path.len > 0) {
		if (str_eq_c(str_next(&path, '/'), "..")) {
			return true;
		}
	}
	return false;
}

int worker_config_check_path(const char *path, const char *root, struct err *err)
{
	if (path[0] != '/') {
		return err_set(err, ERR_INVALID, "%s: not an absolute path", path);
	}
	if (goes_up(str_of(path))) {
		return err_set(err, ERR_INVALID, "%s: has a component \"..\"", path);
	}
	if (!is_below(path, root)) {
		return err_set(err, ERR_INVALID, "%s: not below %s", path, root);
	}
	return 0;
}
