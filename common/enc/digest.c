#include "enc/digest.h"

#include <assert.h>
#include <openssl/evp.h>
#include <stddef.h>

#define SHA1_BYTES ((DIGEST_SHA1_HEX_SIZE - 1) / 2)

void digest_sha1_hex(struct str text, char out[DIGEST_SHA1_HEX_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char bytes[EVP_MAX_MD_SIZE];
	unsigned len = 0;
	int ok = EVP_Digest(text.p == NULL ? "" : text.p, text.len, bytes, &len, EVP_sha1(), NULL);

	/* Fails only without memory: each of OpenSSL's providers has SHA-1. */
	assert(ok == 1 && len == SHA1_BYTES);
	for (size_t i = 0; i < SHA1_BYTES; i++) {
		out[2 * i] = digits[bytes[i] >> 4];
		out[2 * i + 1] = digits[bytes[i] & 15];
	}
	out[2 * SHA1_BYTES] = '\0';
}
