/* common/base/sha1.h: SHA-1 (FIPS 180-4), for names that other programs derive in the same way;
 * not for security. Any thread. */
#ifndef COMMON_BASE_SHA1_H
#define COMMON_BASE_SHA1_H

#include "base/str.h"

#define SHA1_HEX_SIZE 41

/* The digest of the whole text as 40 lower-case hexadecimal digits and a NUL. */
void sha1_hex(struct str text, char out[SHA1_HEX_SIZE]);

#endif
