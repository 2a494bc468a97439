/* common/process/flags_text.h: renders a table of flags: --help, and the texts that the reference
 * pages, the man pages and the shell completion share with it. One thread. */
#ifndef COMMON_PROCESS_FLAGS_TEXT_H
#define COMMON_PROCESS_FLAGS_TEXT_H

#include <stdio.h>

struct flags;
struct flags_row;
struct strbuf;

void flags_text_print_help(const struct flags *f, FILE *to);
/* Appends the name of a flag's value: "FILE", "text|json"; nothing when it takes none. */
void flags_text_add_value(const struct flags_row *row, struct strbuf *out);
/* Appends "1 to 64" or the known names, between these; nothing when there are no bounds. */
void flags_text_add_bounds(const struct flags_row *row, const char *before, const char *behind,
			   struct strbuf *out);
/* Appends the default, a constant or in words; nothing when it is false, 0 or empty. */
void flags_text_add_default(const struct flags_row *row, struct strbuf *out);

#endif
