#include "kube/kubeconfig/exec_credential.h"

#include <stdlib.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/base64.h"
#include "enc/json/jdoc.h"
#include "enc/json/json_out.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "process/file.h"

#define KIND "ExecCredential"
#define AUTHORITY_MAX_BYTES (1u << 20)

/* --- what the plugin gets ----------------------------------------------------------------------*/

/* The cluster in an ExecCredential has no member for a path: the contents of a file are sent. */
static int write_authority(const struct http_loop_tls *tls, struct json_out *o, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT, pem = STRBUF_INIT;
	int r;

	if (tls->ca_pem.len > 0) {
		strbuf_add_str(&pem, tls->ca_pem);
	} else if (tls->ca_file != NULL) {
		r = file_read_all(tls->ca_file, AUTHORITY_MAX_BYTES, &pem, err);
		if (r < 0) {
			return err_wrap(err, "certificate-authority");
		}
	}
	if (pem.len > 0) {
		/* The member is a []byte in Go, which JSON has as base64. */
		base64_encode(strbuf_str(&pem), &text);
		json_out_kv(o, "certificate-authority-data", text.p);
	}
	return 0;
}

static int write_cluster(const struct kubeconfig *cfg, struct json_out *o, struct err *err)
{
	int r;

	json_out_key(o, "cluster");
	json_out_object(o);
	json_out_kv(o, "server", cfg->server);
	if (cfg->tls.server_name != NULL) {
		json_out_kv(o, "tls-server-name", cfg->tls.server_name);
	}
	if (cfg->tls.insecure_skip_verify) {
		json_out_kv_bool(o, "insecure-skip-tls-verify", true);
	}
	r = write_authority(&cfg->tls, o, err);
	if (cfg->proxy_url != NULL) {
		json_out_kv(o, "proxy-url", cfg->proxy_url);
	}
	if (cfg->exec->cluster_config != NULL) {
		json_out_key(o, "config");
		json_out_raw(o, str_of(cfg->exec->cluster_config));
	}
	json_out_object_end(o);
	return r;
}

int exec_credential_request(const struct kubeconfig *cfg, bool interactive, struct strbuf *out,
			    struct err *err)
{
	struct json_out o;
	int r = 0;

	json_out_init(&o, out);
	json_out_object(&o);
	json_out_kv(&o, "kind", KIND);
	json_out_kv(&o, "apiVersion", cfg->exec->api_version);
	json_out_key(&o, "spec");
	json_out_object(&o);
	if (cfg->exec->cluster_info) {
		r = write_cluster(cfg, &o, err);
	}
	json_out_kv_bool(&o, "interactive", interactive);
	json_out_object_end(&o);
	json_out_object_end(&o);
	json_out_end(&o);
	return r;
}

/* --- what the plugin answers -------------------------------------------------------------------*/

/* As in client-go, a plugin must answer in the version of its request. */
static int check_type(const struct jdoc *doc, const char *api_version, struct err *err)
{
	if (!jdoc_is_str(jdoc_get(doc, "kind"), KIND)) {
		return err_set(err, ERR_INVALID, "the kind is not " KIND);
	}
	if (!jdoc_is_str(jdoc_get(doc, "apiVersion"), api_version)) {
		return err_set(err, ERR_INVALID,
			       "the apiVersion is \"%s\", and \"%s\" in the kubeconfig",
			       jdoc_str_or(jdoc_get(doc, "apiVersion"), ""), api_version);
	}
	return 0;
}

/* A non-empty string; absent or empty: *ret stays NULL. */
static int copy_str(const struct jdoc *status, const char *key, char **ret, struct err *err)
{
	const struct jdoc *d = jdoc_get(status, key);
	const char *text = jdoc_str(d);

	if (text == NULL && jdoc_kind(d) != JDOC_NULL) {
		return err_set(err, ERR_INVALID, "status.%s: not a string", key);
	}
	*ret = text == NULL || text[0] == '\0' ? NULL : xmalloc_dup(text);
	return 0;
}

/* The token becomes part of a header, which a line break would end. */
static int check_token(const char *token, struct err *err)
{
	for (const char *p = token; p != NULL && *p != '\0'; p++) {
		if ((unsigned char)*p <= ' ' || *p == 0x7f) {
			return err_set(err, ERR_INVALID,
				       "status.token: has a blank or a control character");
		}
	}
	return 0;
}

static int read_expiry(const struct jdoc *status, int64_t *ret, struct err *err)
{
	CLEANUP(xmalloc_freep) char *text = NULL;
	int r = copy_str(status, "expirationTimestamp", &text, err);

	/* Without a time the credential is used until the server refuses it. */
	*ret = INT64_MAX;
	if (r < 0 || text == NULL) {
		return r;
	}
	return clock_parse_time(str_of(text), ret) == 0
		       ? 0
		       : err_set(err, ERR_INVALID, "status.expirationTimestamp: not a time: \"%s\"",
				 text);
}

static int check_whole(const struct exec_credential *c, struct err *err)
{
	if ((c->cert == NULL) != (c->key == NULL)) {
		return err_set(err, ERR_INVALID,
			       "status: clientCertificateData and clientKeyData need each other");
	}
	if (c->token == NULL && c->cert == NULL) {
		return err_set(err, ERR_INVALID, "status: neither a token nor a certificate");
	}
	return check_token(c->token, err);
}

int exec_credential_parse(struct str text, const char *api_version, struct exec_credential *ret,
			  struct err *err)
{
	CLEANUP(exec_credential_finish) struct exec_credential c = { 0 };
	CLEANUP(jdoc_destroyp) struct jdoc *doc = NULL;
	const struct jdoc *status;
	int r;

	if (text.len > EXEC_CREDENTIAL_MAX_BYTES) {
		return err_set(err, ERR_INVALID, "more than %u bytes", EXEC_CREDENTIAL_MAX_BYTES);
	}
	r = jdoc_parse(text, &doc, err);
	if (r == 0) {
		r = check_type(doc, api_version, err);
	}
	status = jdoc_get(doc, "status");
	if (r == 0) {
		r = copy_str(status, "token", &c.token, err);
	}
	if (r == 0) {
		r = copy_str(status, "clientCertificateData", &c.cert, err);
	}
	if (r == 0) {
		r = copy_str(status, "clientKeyData", &c.key, err);
	}
	if (r == 0) {
		r = read_expiry(status, &c.expires, err);
	}
	if (r == 0) {
		r = check_whole(&c, err);
	}
	if (r < 0) {
		return r;
	}
	/* The texts change their owner: the cleanup must not find them. */
	*ret = c;
	c = (struct exec_credential){ 0 };
	return 0;
}

void exec_credential_finish(struct exec_credential *c)
{
	free(c->token);
	free(c->cert);
	free(c->key);
	*c = (struct exec_credential){ 0 };
}
