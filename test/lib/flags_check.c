#include "lib/flags_check.h"

#include "lib/unit.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process/flags.h"
#include "process/flags_text.h"

#define WIDTH 80

static void check_unique(const struct flags *f, size_t i)
{
	const struct flags_row *row = flags_at(f, i), *other;

	for (size_t k = 0; k < i; k++) {
		other = flags_at(f, k);
		if (str_streq(row->name, other->name) ||
		    (row->letter != '\0' && row->letter == other->letter)) {
			fail_msg("%s: --%s is there twice, or its letter", f->program, row->name);
		}
	}
}

static void check_meaning(const struct flags *f, const struct flags_row *row)
{
	size_t len = row->help == NULL ? 0 : strlen(row->help);

	if (row->type == FLAGS_HEADING || flags_has_no_effect(row)) {
		return;
	}
	if (len == 0 || islower((unsigned char)row->help[0]) || row->help[len - 1] == '.' ||
	    strstr(row->help, "default:") != NULL || strstr(row->help, "(default") != NULL) {
		fail_msg("%s: the meaning of --%s", f->program, row->name);
	}
}

static void check_width(const struct flags *f)
{
	char *text = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&text, &len);
	struct str rest;

	flags_text_print_help(f, to);
	(void)fclose(to);
	rest = (struct str){ text, len };
	while (rest.p != NULL) {
		struct str line = str_next(&rest, '\n');

		if (line.len > WIDTH && !str_has_prefix(line, "Usage:") &&
		    !str_has_prefix(line, "  or:")) {
			fail_msg("%s: a line of --help is too long: " STR_FMT, f->program,
				 STR_ARG(line));
		}
	}
	free(text);
}

void flags_check(const struct flags *f)
{
	const struct flags_row *row;

	for (size_t i = 0; (row = flags_at(f, i)) != NULL; i++) {
		check_unique(f, i);
		check_meaning(f, row);
	}
	check_width(f);
}
