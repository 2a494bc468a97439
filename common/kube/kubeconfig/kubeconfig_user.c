#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "kube/kubeconfig/kubeconfig_private.h"

static const char *const user_members[] = {
	"as",
	"as-groups",
	"as-uid",
	"as-user-extra",
	"auth-provider",
	"client-certificate",
	"client-certificate-data",
	"client-key",
	"client-key-data",
	"exec",
	"extensions",
	"password",
	"token",
	"tokenFile",
	"username",
	NULL,
};
static const char *const exec_members[] = {
	"apiVersion",         "args", "command", "env", "installHint", "interactiveMode",
	"provideClusterInfo", NULL,
};

/* --- impersonation -----------------------------------------------------------------------------*/

/* A line break would begin another header, and a header without a value is not sent. */
static int check_value(const char *member, const char *value, struct err *err)
{
	if (str_trim(str_of(value)).len == 0) {
		return err_set(err, ERR_INVALID, "%s: empty", member);
	}
	for (const char *p = value; *p != '\0'; p++) {
		if ((unsigned char)*p < ' ' || *p == 0x7f) {
			return err_set(err, ERR_INVALID, "%s: has a control character", member);
		}
	}
	return 0;
}

static int add_header(struct kubeconfig *c, const char *member, const char *name, const char *value,
		      struct err *err)
{
	int r = check_value(member, value, err);

	if (r == 0) {
		vec_push(&c->headers, xmalloc_printf("%s: %s", name, value));
	}
	return r;
}

/* Keys are any text: what cannot be in the name of a header is escaped, as kubectl does. */
static int add_extra(struct kubeconfig *c, const struct jdoc *extra, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf name = STRBUF_INIT;
	int r = 0;

	if (jdoc_kind(extra) != JDOC_ARRAY) {
		return err_set(err, ERR_INVALID, "as-user-extra.%s: not a list", jdoc_key(extra));
	}
	strbuf_add_c(&name, "Impersonate-Extra-");
	for (const char *p = jdoc_key(extra); *p != '\0'; p++) {
		unsigned char b = (unsigned char)*p;

		if (isalnum(b) || strchr("!#$&'*+-.^_`|~", b) != NULL) {
			strbuf_add_ch(&name, (char)b);
		} else {
			strbuf_printf(&name, "%%%02X", b);
		}
	}
	for (const struct jdoc *i = jdoc_first(extra); r == 0 && i != NULL; i = jdoc_next(i)) {
		r = jdoc_str(i) == NULL
			    ? err_set(err, ERR_INVALID, "as-user-extra.%s: not a list of strings",
				      jdoc_key(extra))
			    : add_header(c, "as-user-extra", name.p, jdoc_str(i), err);
	}
	return r;
}

/* A user may have several values for a key; each is a header of its own. */
static int add_extras(struct kubeconfig *c, const struct jdoc *user, struct err *err)
{
	const struct jdoc *extra = jdoc_get(user, "as-user-extra");
	int r = 0;

	if (jdoc_kind(extra) != JDOC_OBJECT && jdoc_kind(extra) != JDOC_NULL) {
		return err_set(err, ERR_INVALID, "as-user-extra: not a mapping");
	}
	for (const struct jdoc *e = jdoc_first(extra); r == 0 && e != NULL; e = jdoc_next(e)) {
		r = add_extra(c, e, err);
	}
	return r;
}

/* The groups are one member: those of the options replace all of the user's. */
static int read_groups(const struct kubeconfig_user *from, struct kubeconfig_strings *groups,
		       struct err *err)
{
	const char *const *given = from->opt->as_groups;

	if (given == NULL || given[0] == NULL) {
		return kubeconfig_read_list(from->user, "as-groups", groups, err);
	}
	for (size_t i = 0; given[i] != NULL; i++) {
		vec_push(groups, xmalloc_dup(given[i]));
	}
	return 0;
}

/* Each member of opt stands for the user's, as in kubectl. */
static int impersonate(struct kubeconfig *c, const struct kubeconfig_user *from, struct err *err)
{
	CLEANUP(kubeconfig_read_free) struct kubeconfig_strings groups = VEC_INIT;
	const char *name = from->opt->as, *uid = from->opt->as_uid;
	int r = name != NULL ? 0 : kubeconfig_read_str(from->user, "as", &name, err);

	if (r == 0 && name != NULL) {
		r = add_header(c, "as", "Impersonate-User", name, err);
	}
	if (r == 0 && uid == NULL) {
		r = kubeconfig_read_str(from->user, "as-uid", &uid, err);
	}
	if (r == 0 && uid != NULL) {
		r = add_header(c, "as-uid", "Impersonate-Uid", uid, err);
	}
	if (r == 0) {
		r = read_groups(from, &groups, err);
	}
	for (size_t i = 0; r == 0 && i < groups.n; i++) {
		r = add_header(c, "as-groups", "Impersonate-Group", groups.v[i], err);
	}
	if (r == 0) {
		r = add_extras(c, from->user, err);
	}
	/* kube-apiserver refuses such requests; here the message names the member. */
	if (r == 0 && name == NULL && c->headers.n > 0) {
		r = err_set(err, ERR_INVALID,
			    "as: missing: a UID, groups and extra fields need the user to act as");
	}
	if (r == 0 && c->headers.n > 0) {
		/* The HTTP client wants the list ended by NULL. */
		vec_push(&c->headers, NULL);
	}
	return r;
}

/* --- credentials -------------------------------------------------------------------------------*/

/* Passed over in silence, these members would leave a request without credentials. */
static int refuse(const struct jdoc *user, struct err *err)
{
	const struct jdoc *provider = jdoc_get(user, "auth-provider");
	const struct jdoc *name = jdoc_get(user, "username");

	if (jdoc_kind(provider) != JDOC_NULL) {
		return err_set(err, ERR_INVALID,
			       "auth-provider: \"%s\": Kubernetes 1.26 removed auth providers; use "
			       "a credential plugin (exec), a token or a certificate",
			       jdoc_str_or(jdoc_get(provider, "name"), ""));
	}
	if (jdoc_kind(name) != JDOC_NULL && !jdoc_is_str(name, "")) {
		return err_set(err, ERR_INVALID,
			       "username: basic authentication is not supported (Kubernetes "
			       "dropped it in 1.19)");
	}
	return 0;
}

static int read_tokens(struct kubeconfig *c, const struct kubeconfig_user *from, struct err *err)
{
	const char *file = NULL;
	int r = kubeconfig_read_dup(from->user, "token", &c->token, err);

	if (r == 0) {
		r = kubeconfig_read_str(from->user, "tokenFile", &file, err);
	}
	if (r == 0 && file != NULL) {
		c->token_file = kubeconfig_read_path(from->dir, file);
	}
	return r;
}

/* A plugin beside a token is not run, as in kubectl. Only a command-line tool runs plugins: no
 * thread of a daemon may wait for a child process, and a daemon in a cluster has its service
 * account. */
static int read_exec(struct kubeconfig *c, const struct kubeconfig_user *from, struct err *err)
{
	CLEANUP(xmalloc_freep) char *where = xmalloc_printf("%sexec.", from->where);
	const struct jdoc *exec = jdoc_get(from->user, "exec");
	int r;

	if (jdoc_kind(exec) == JDOC_NULL) {
		return 0;
	}
	if (c->token != NULL || c->token_file != NULL) {
		vec_push(&c->warnings,
			 xmalloc_printf("%sexec: not run, the user has a token", from->where));
		return 0;
	}
	if (!from->opt->runs_plugins) {
		return err_set(err, ERR_INVALID,
			       "exec: credential plugins are run by headgatectl alone; use a "
			       "token, a tokenFile or a certificate");
	}
	if (jdoc_kind(exec) != JDOC_OBJECT) {
		return err_set(err, ERR_INVALID, "exec: not a mapping");
	}
	kubeconfig_read_unknown(c, exec, where, exec_members);
	r = kubeconfig_exec_read(exec, from->dir, &c->exec, err);
	return r < 0 ? err_path(err, "exec.") : 0;
}

/* The plugin comes last, because a token beside it keeps it from running. */
static int read_credentials(struct kubeconfig *c, const struct kubeconfig_user *from,
			    struct err *err)
{
	int r = refuse(from->user, err);

	if (r == 0) {
		r = kubeconfig_read_pem(from->user, "client-certificate", from->dir,
					&c->owned[KUBECONFIG_CERT_FILE],
					&c->owned[KUBECONFIG_CERT_PEM], err);
	}
	if (r == 0) {
		r = kubeconfig_read_pem(from->user, "client-key", from->dir,
					&c->owned[KUBECONFIG_KEY_FILE],
					&c->owned[KUBECONFIG_KEY_PEM], err);
	}
	if (r == 0) {
		r = read_tokens(c, from, err);
	}
	return r < 0 ? r : read_exec(c, from, err);
}

int kubeconfig_user_read(struct kubeconfig *c, const struct kubeconfig_user *from, struct err *err)
{
	int r = 0;

	kubeconfig_read_unknown(c, from->user, from->where, user_members);
	if (from->opt->token != NULL) {
		r = check_value("token", from->opt->token, err);
		/* Not the user's certificate: beside a token, the server goes by the certificate.
		 */
		kubeconfig_set_credential(c, from->opt->token, NULL, NULL);
	} else if (from->user != NULL) {
		r = read_credentials(c, from, err);
	}
	/* Also with the token of the options: --token replaces the credentials, not the
	 * impersonation. */
	return r < 0 ? r : impersonate(c, from, err);
}
