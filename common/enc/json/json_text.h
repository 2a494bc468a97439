/* common/enc/json/json_text.h: JSON tokens as text, shared by json_out and jdoc. Any thread. */
#ifndef COMMON_ENC_JSON_JSON_TEXT_H
#define COMMON_ENC_JSON_JSON_TEXT_H

#include "base/str.h"

struct strbuf;

/* Replaces each escape that cJSON reads differently from the scanner by the character itself. The
 * scanner must have accepted text; returns text itself when it has no such escape, else writes to
 * out. */
struct str json_text_for_cjson(struct str text, struct strbuf *out);
/* Shortest text that reads back as n, those of the range of int64 without exponent; 2^63 counts as
 * its greatest one; not finite: null. */
void json_text_number(struct strbuf *out, double n);

#endif
