/* A kubeconfig either is refused with a text, or leads to a server with a usable URL; each header
 * of its impersonation is one line, and the request to its plugin is JSON. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "kube/kubeconfig/exec_credential.h"
#include "kube/kubeconfig/kubeconfig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_plugin(const struct kubeconfig *c)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *doc = NULL;

	if (exec_credential_request(c, false, &text, NULL) == 0) {
		assert(jdoc_parse(strbuf_str(&text), &doc, NULL) == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct kubeconfig_options opt = { .runs_plugins = true };
	struct kubeconfig *c = NULL;
	struct err err = ERR_INIT;

	if (kubeconfig_parse((struct str){ (const char *)data, size }, "/d", &opt, &c, &err) < 0) {
		assert(c == NULL && err.text[0] != '\0');
		return 0;
	}
	assert(strncmp(c->server, "http", 4) == 0 && c->namespace_ != NULL);
	assert(c->tls.ca_file == NULL || c->tls.ca_file[0] == '/');
	assert(c->token_file == NULL || c->token_file[0] == '/');
	for (size_t i = 0; i < c->headers.n && c->headers.v[i] != NULL; i++) {
		assert(strncmp(c->headers.v[i], "Impersonate-", 12) == 0);
		assert(strpbrk(c->headers.v[i], "\r\n") == NULL);
	}
	if (c->exec != NULL) {
		check_plugin(c);
	}
	kubeconfig_destroy(c);
	return 0;
}
