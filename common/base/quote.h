/* common/base/quote.h: text as a JSON string, in bodies and in log lines. Any thread. */
#ifndef COMMON_BASE_QUOTE_H
#define COMMON_BASE_QUOTE_H

#include "base/str.h"

struct strbuf;

/* Appends s in quotes. Control characters (DEL included, since logs are read in terminals) are
 * escaped, UTF8_NUL becomes \u0000, other bytes that are not UTF-8 become U+FFFD. */
void quote_json(struct strbuf *out, struct str s);
/* Appends s without quotes, for terminals: control characters are escaped (those of Latin-1
 * included), other bytes that are not UTF-8 become U+FFFD. */
void quote_plain(struct strbuf *out, struct str s);

#endif
