#include "process/flags_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "process/flags.h"

#define WIDTH 80
#define HELP_COLUMN 30

void flags_text_add_value(const struct flags_row *row, struct strbuf *out)
{
	static const char *const by_type[FLAGS_VERSION + 1] = {
		[FLAGS_INT] = "N",
		[FLAGS_DOUBLE] = "N",
		[FLAGS_DURATION] = "DURATION",
		[FLAGS_TIME] = "TIME",
		[FLAGS_TEXT] = "TEXT",
		[FLAGS_LIST] = "TEXT",
		[FLAGS_SET] = "LIST",
		[FLAGS_CUSTOM] = "TEXT",
		[FLAGS_IGNORED] = "TEXT",
		[FLAGS_UNSUPPORTED] = "TEXT",
	};

	if (row->arg != NULL || row->type != FLAGS_CHOICE) {
		const char *text = row->arg != NULL ? row->arg : by_type[row->type];

		strbuf_add_c(out, text == NULL ? "" : text);
		return;
	}
	for (const struct flags_choice *c = row->choices; c->name != NULL; c++) {
		strbuf_printf(out, "%s%s", c == row->choices ? "" : "|", c->name);
	}
}

static void add_number(const struct flags_row *row, int64_t n, struct strbuf *out)
{
	const int64_t hour = 3600 * CLOCK_NS_PER_S;

	if (row->type != FLAGS_DURATION) {
		strbuf_printf(out, "%" PRId64, n);
	} else if (n % hour == 0 && n > 0) {
		strbuf_printf(out, "%" PRId64 "h", n / hour);
	} else {
		strbuf_printf(out, "%" PRId64 "s", n / CLOCK_NS_PER_S);
	}
}

static void add_known(const struct flags_row *row, struct strbuf *out)
{
	for (const struct flags_choice *c = row->choices; c->name != NULL; c++) {
		strbuf_printf(out, "%s%s", c == row->choices ? "" : ", ", c->name);
	}
}

void flags_text_add_bounds(const struct flags_row *row, const char *before, const char *behind,
			   struct strbuf *out)
{
	bool is_number = row->type == FLAGS_INT || row->type == FLAGS_DOUBLE ||
			 (row->type == FLAGS_DURATION && (row->min > 0 || row->max > 0));

	if (row->type != FLAGS_SET && !is_number) {
		return;
	}
	strbuf_add_c(out, before);
	if (row->type == FLAGS_SET) {
		add_known(row, out);
	} else {
		add_number(row, row->min, out);
		strbuf_add_c(out, row->max > 0 ? " to " : " or more");
		if (row->max > 0) {
			add_number(row, row->max, out);
		}
	}
	strbuf_add_c(out, behind);
}

void flags_text_add_default(const struct flags_row *row, struct strbuf *out)
{
	if (row->unset != NULL) {
		strbuf_add_c(out, row->unset);
	} else if (row->def != NULL && !flags_has_no_effect(row)) {
		strbuf_add_c(out, row->def);
	}
}

/* Breaks lines at blanks; the first one begins at this column, the others at `indent`. */
static void print_wrapped(const char *text, size_t column, size_t indent, FILE *to)
{
	struct str rest = str_of(text);
	bool fresh = true; /* nothing on this line yet */

	while (rest.p != NULL) {
		struct str word = str_next(&rest, ' ');

		if (!fresh && column + 1 + word.len >= WIDTH) {
			fprintf(to, "\n%*s", (int)indent, "");
			column = indent;
			fresh = true;
		}
		fprintf(to, "%s" STR_FMT, fresh ? "" : " ", STR_ARG(word));
		column += word.len + (fresh ? 0 : 1);
		fresh = false;
	}
	fputc('\n', to);
}

static void add_meaning(const struct flags_row *row, struct strbuf *out)
{
	CLEANUP(strbuf_finish) struct strbuf def = STRBUF_INIT;

	strbuf_add_c(out, row->help);
	flags_text_add_bounds(row, " (", "", out);
	flags_text_add_default(row, &def);
	if (def.len > 0) {
		strbuf_printf(out, "%sdefault: %s", out->len > strlen(row->help) ? "; " : " (",
			      def.p);
	}
	strbuf_add_c(out, out->len > strlen(row->help) ? ")" : "");
}

static void print_row(const struct flags_row *row, FILE *to)
{
	CLEANUP(strbuf_finish) struct strbuf left = STRBUF_INIT, value = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf right = STRBUF_INIT;
	size_t column;

	flags_text_add_value(row, &value);
	if (row->letter != '\0') {
		strbuf_printf(&left, "  -%c, --%s", row->letter, row->name);
	} else {
		strbuf_printf(&left, "      --%s", row->name);
	}
	if (value.len > 0) {
		strbuf_printf(&left, "=%s", value.p);
	}
	add_meaning(row, &right);
	column = left.len;
	fputs(left.p, to);
	if (column + 2 > HELP_COLUMN) {
		fputc('\n', to);
		column = 0;
	}
	fprintf(to, "%*s", (int)(HELP_COLUMN - column), "");
	print_wrapped(right.p, HELP_COLUMN, HELP_COLUMN, to);
}

static void print_usage(const struct flags *f, FILE *to)
{
	struct str forms = str_of(f->args == NULL ? "" : f->args);
	const char *lead = "Usage:";

	while (forms.p != NULL) {
		struct str form = str_next(&forms, '\n');

		fprintf(to, "%s %s%s" STR_FMT " [FLAG...]\n", lead, f->program,
			form.len > 0 ? " " : "", STR_ARG(form));
		lead = "  or: ";
	}
}

static void print_ignored(const struct flags *f, FILE *to)
{
	CLEANUP(strbuf_finish) struct strbuf names = STRBUF_INIT;
	const struct flags_row *row;

	for (size_t i = 0; (row = flags_at(f, i)) != NULL; i++) {
		if (flags_has_no_effect(row)) {
			strbuf_printf(&names, "%s--%s", names.len > 0 ? " " : "", row->name);
		}
	}
	if (names.len > 0) {
		fprintf(to, "\nAccepted for compatibility, without effect:\n  ");
		print_wrapped(names.p, 2, 2, to);
	}
}

void flags_text_print_help(const struct flags *f, FILE *to)
{
	const struct flags_row *row = flags_at(f, 0);

	print_usage(f, to);
	fputc('\n', to);
	print_wrapped(f->doc, 0, 0, to);
	if (row != NULL && row->type != FLAGS_HEADING) {
		fprintf(to, "\nFlags:\n");
	}
	for (size_t i = 0; (row = flags_at(f, i)) != NULL; i++) {
		if (row->type == FLAGS_HEADING) {
			fprintf(to, "\n%s:\n", row->name);
		} else if (!flags_has_no_effect(row)) {
			print_row(row, to);
		}
	}
	print_ignored(f, to);
	if (f->notes != NULL) {
		fputc('\n', to);
		print_wrapped(f->notes, 0, 0, to);
	}
}
