/* common/base/flags_text.h: how a table of flags is shown: --help, and the words that the reference
 * pages, the man pages and the shell completion use as well. One thread. */
#ifndef COMMON_BASE_FLAGS_TEXT_H
#define COMMON_BASE_FLAGS_TEXT_H

#include <stdio.h>

struct flags;
struct flags_row;
struct strbuf;

void flags_text_print_help(const struct flags *f, FILE *to);
/* What the value of a flag is called: "FILE", "text|json"; nothing when it takes none. */
void flags_text_add_value(const struct flags_row *row, struct strbuf *out);
/* "1 to 64" or the names that are known, between these; nothing when there are no bounds. */
void flags_text_add_bounds(const struct flags_row *row, const char *before, const char *behind,
			   struct strbuf *out);
/* The default, a constant or in words; nothing when it goes without saying: false, 0, empty. */
void flags_text_add_default(const struct flags_row *row, struct strbuf *out);

#endif
