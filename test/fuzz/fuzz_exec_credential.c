/* An answer of a credential plugin either is refused with a text, or has a token that fits into one
 * header, or a certificate with its key. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "kube/kubeconfig/exec_credential.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct exec_credential c = { 0 };
	struct err err = ERR_INIT;

	if (exec_credential_parse((struct str){ (const char *)data, size }, EXEC_CREDENTIAL_V1, &c,
				  &err) < 0) {
		assert(c.token == NULL && c.cert == NULL && err.text[0] != '\0');
		return 0;
	}
	assert(c.token != NULL || c.cert != NULL);
	assert((c.cert == NULL) == (c.key == NULL));
	assert(c.token == NULL || strpbrk(c.token, " \t\r\n") == NULL);
	exec_credential_finish(&c);
	return 0;
}
