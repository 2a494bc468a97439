/* common/enc/base64.h: RFC 4648 with padding, standard alphabet. Any thread. */
#ifndef COMMON_ENC_BASE64_H
#define COMMON_ENC_BASE64_H

#include "base/str.h"

struct err;
struct strbuf;

void base64_encode(struct str bytes, struct strbuf *out);
/* Blanks and line ends are skipped; anything else outside the alphabet: -ERR_INVALID. */
int base64_decode(struct str text, struct strbuf *out, struct err *err);

#endif
