/* common/enc/digest.h: SHA-1 (FIPS 180-4), for names that other programs derive in the same way;
 * not for security. Any thread. */
#ifndef COMMON_ENC_DIGEST_H
#define COMMON_ENC_DIGEST_H

#include "base/str.h"

#define DIGEST_SHA1_HEX_SIZE 41

/* The digest of the whole text as 40 lower-case hexadecimal digits and a NUL. */
void digest_sha1_hex(struct str text, char out[DIGEST_SHA1_HEX_SIZE]);

#endif
