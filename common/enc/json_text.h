/* common/enc/json_text.h: JSON tokens as text, shared by json_out and jdoc. Any thread. */
#ifndef COMMON_ENC_JSON_TEXT_H
#define COMMON_ENC_JSON_TEXT_H

#include "base/str.h"

struct strbuf;

/* s in quotes; invalid UTF-8 becomes U+FFFD. */
void json_text_quote(struct strbuf *out, struct str s);
/* Shortest text that reads back as n, integers without exponent; not finite: null. */
void json_text_number(struct strbuf *out, double n);

#endif
