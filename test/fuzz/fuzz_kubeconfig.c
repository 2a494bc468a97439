/* A kubeconfig either is refused with a text, or leads to a server with a usable URL. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "kube/kubeconfig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kubeconfig *c = NULL;
	struct err err = ERR_INIT;

	if (kubeconfig_parse((struct str){ (const char *)data, size }, "/d", NULL, &c, &err) < 0) {
		assert(c == NULL && err.text[0] != '\0');
		return 0;
	}
	assert(strncmp(c->server, "http", 4) == 0 && c->namespace_ != NULL);
	assert(c->tls.ca_file == NULL || c->tls.ca_file[0] == '/');
	assert(c->token_file == NULL || c->token_file[0] == '/');
	kubeconfig_destroy(c);
	return 0;
}
