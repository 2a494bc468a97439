/* common/enc/json_text.h: JSON tokens as text, shared by json_out and jdoc. Any thread. */
#ifndef COMMON_ENC_JSON_TEXT_H
#define COMMON_ENC_JSON_TEXT_H

#include "base/str.h"

struct strbuf;

/* s in quotes; SCAN_NUL becomes \u0000, other invalid UTF-8 U+FFFD. */
void json_text_quote(struct strbuf *out, struct str s);
/* text, which the scanner accepted, with SCAN_NUL in the place of each \u0000: text itself when it
 * has none, else written to out. */
struct str json_text_with_nul(struct str text, struct strbuf *out);
/* Shortest text that reads back as n, integers without exponent; not finite: null. */
void json_text_number(struct strbuf *out, double n);

#endif
