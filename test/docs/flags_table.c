/* test/docs/flags_table.c: prints the flags from the tables that the programs parse by: all as one
 * Markdown page, those of one program as its manual page, or those of the daemons as YAML for the
 * checks of the chart. Usage: flags_table markdown | flags_table man PROGRAM | flags_table chart */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "process/feature_gates.h"
#include "process/flags.h"
#include "process/flags_text.h"
#include "process/version.h"
#include "scheduler/app/options.h"
#include "scheduler/ctl/cli/verb.h"
#include "scheduler/ctl/ctl.h"
#include "webhook/main/webhook_options.h"

struct daemon {
	const struct flags *(*flags)(void);
	const char *summary;
};

static const struct daemon daemons[] = {
	{ options_flags, "scheduler of Headgate" },
	{ webhook_options_flags, "admission webhook of Headgate" },
};

/* Text with a backslash before each of these characters. */
static void put(const char *before, const char *text, const char *special, const char *behind)
{
	fputs(before, stdout);
	for (const char *c = text; *c != '\0'; c++) {
		if (strchr(special, *c) != NULL) {
			putchar('\\');
		}
		putchar(*c);
	}
	fputs(behind, stdout);
}

/* --- Markdown ------------------------------------------------------------------------------- */

static void md_cell(const char *mark, const struct strbuf *text)
{
	if (text->len > 0) {
		put(mark, text->p, "|", mark);
	}
	fputs(" | ", stdout);
}

static void md_row(const struct flags_row *row)
{
	CLEANUP(strbuf_finish) struct strbuf value = STRBUF_INIT, bounds = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf def = STRBUF_INIT;

	flags_text_add_value(row, &value);
	flags_text_add_bounds(row, value.len > 0 ? ": " : "", "", &bounds);
	flags_text_add_default(row, &def);
	printf("| ");
	if (row->letter != '\0') {
		printf("`-%c`, ", row->letter);
	}
	printf("`--%s` | ", row->name);
	if (value.len > 0) {
		put("`", value.p, "|", "`");
	}
	md_cell("", &bounds);
	md_cell(row->unset == NULL ? "`" : "", &def);
	put("", row->help, "|", " |\n");
}

/* Rows without effect are named behind the table. */
static void md_rows(const struct flags *f, const char *mark)
{
	static const char *const head = "| flag | value | default | meaning |\n|---|---|---|---|\n";
	const struct flags_row *row = flags_at(f, 0);

	if (row != NULL && row->type != FLAGS_HEADING) {
		fputs(head, stdout);
	}
	for (size_t i = 0; (row = flags_at(f, i)) != NULL; i++) {
		if (row->type == FLAGS_HEADING) {
			printf("%s%s %s\n\n%s", i > 0 ? "\n" : "", mark, row->name, head);
		} else if (!flags_has_no_effect(row)) {
			md_row(row);
		}
	}
	putchar('\n');
}

static void md_ignored(const struct flags *f, bool supported, const char *lead)
{
	const struct flags_row *row;
	const char *separator = lead;

	for (size_t i = 0; (row = flags_at(f, i)) != NULL; i++) {
		bool ignored = row->type == FLAGS_IGNORED || row->type == FLAGS_IGNORED_BOOL;

		if (flags_has_no_effect(row) && ignored == supported) {
			printf("%s`--%s`", separator, row->name);
			separator = ", ";
		}
	}
	if (separator != lead) {
		printf(".\n\n");
	}
}

static void md_gates(void)
{
	const char *name, *effect = NULL;

	printf("## Feature gates\n\n`--feature-gates=NAME=BOOL,...` of both daemons. Gates without "
	       "effect are Volcano's; each that is\ngiven is named in one warning.\n\n"
	       "| gate | effect |\n|---|---|\n");
	for (size_t i = 0; (name = feature_gates_at(i, &effect)) != NULL; i++) {
		printf("| `%s` | %s |\n", name, effect == NULL ? "none" : effect);
	}
	putchar('\n');
}

static void md_verb(const struct verb *verb)
{
	struct str forms = str_of(verb->flags.args == NULL ? "" : verb->flags.args);

	printf("### %s\n\n```\n", verb->flags.program);
	while (forms.p != NULL) {
		struct str form = str_next(&forms, '\n');

		printf("%s%s" STR_FMT " [FLAG...]\n", verb->flags.program, form.len > 0 ? " " : "",
		       STR_ARG(form));
	}
	printf("```\n\n");
	put("", verb->flags.doc, "", "\n\n");
	md_rows(&verb->flags, "####");
	if (verb->flags.notes != NULL) {
		put("", verb->flags.notes, "", "\n\n");
	}
}

static void print_markdown(void)
{
	const struct verb *verb;

	printf("# Flags\n\n`make docs` writes this page from the tables that the programs parse "
	       "by; "
	       "`--help` shows the same.\n\nFlags are spelled as Go programs take them: "
	       "`--name=value` or `--name value`, `-n value`; a boolean is `--name`\nor "
	       "`--name=false` (`true`, `t`, `1`, `false`, `f`, `0`). Durations are written like "
	       "`30s` or `1h30m`. The last\nvalue counts, unless the flag may be repeated. Wrong "
	       "flags "
	       "and values end the program with exit code 2.\n\n");
	for (size_t i = 0; i < ARRAY_LEN(daemons); i++) {
		const struct flags *f = daemons[i].flags();

		printf("## %s\n\n%s\n\n", f->program, f->doc);
		md_rows(f, "###");
		md_ignored(f, true,
			   "Accepted for compatibility, without effect, with one warning "
			   "each: ");
		md_ignored(f, false,
			   "Accepted with their default only, since other values would "
			   "be without effect: ");
	}
	md_gates();
	printf("## headgatectl\n\n");
	for (size_t i = 0; (verb = ctl_verb_at(i)) != NULL; i++) {
		md_verb(verb);
	}
}

/* --- manual pages --------------------------------------------------------------------------- */

static void man_text(const char *before, const char *text, const char *behind)
{
	put(before, text, "-\\", behind);
}

static void man_title(const char *program, int section, const char *summary)
{
	printf(".TH ");
	for (const char *c = program; *c != '\0'; c++) {
		putchar(toupper((unsigned char)*c));
	}
	printf(" %d \"\" \"Headgate " HEADGATE_VERSION "\" \"Headgate\"\n.SH NAME\n", section);
	man_text("", program, " \\- ");
	man_text("", summary, "\n");
}

static void man_usage(const struct flags *f)
{
	struct str forms = str_of(f->args == NULL ? "" : f->args);
	const char *lead = "";

	while (forms.p != NULL) {
		struct str form = str_next(&forms, '\n');
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

		printf("%s.B ", lead);
		man_text("", f->program, "\n");
		strbuf_add_str(&text, form);
		if (text.len > 0) {
			man_text("", text.p, "\n");
		}
		printf(".RI [ FLAG ...]\n");
		lead = ".br\n";
	}
}

static void man_row(const struct flags_row *row)
{
	CLEANUP(strbuf_finish) struct strbuf value = STRBUF_INIT, more = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf def = STRBUF_INIT;

	flags_text_add_value(row, &value);
	printf(".TP\n");
	if (row->letter != '\0') {
		printf("\\fB\\-%c\\fR, ", row->letter);
	}
	man_text("\\fB\\-\\-", row->name, "\\fR");
	if (value.len > 0) {
		man_text("=\\fI", value.p, "\\fR");
	}
	man_text("\n", row->help, "");
	flags_text_add_bounds(row, " (", ")", &more);
	flags_text_add_default(row, &def);
	strbuf_add_ch(&more, '.');
	if (def.len > 0) {
		strbuf_printf(&more, " Default: %s", def.p);
	}
	man_text("", more.p, "\n");
}

static void man_rows(const struct flags *f)
{
	const struct flags_row *row;

	for (size_t i = 0; (row = flags_at(f, i)) != NULL; i++) {
		if (row->type == FLAGS_HEADING) {
			printf(".SS %s\n", row->name);
		} else if (!flags_has_no_effect(row)) {
			man_row(row);
		}
	}
}

static void man_ignored(const struct flags *f)
{
	const struct flags_row *row;
	const char *separator = "";

	printf(".SH COMPATIBILITY\nFlags of Volcano that are accepted without effect:\n");
	for (size_t i = 0; (row = flags_at(f, i)) != NULL; i++) {
		if (flags_has_no_effect(row)) {
			printf("%s\\fB\\-\\-", separator);
			man_text("", row->name, "\\fR");
			separator = ",\n";
		}
	}
	printf(".\n.SH \"FEATURE GATES\"\n");
	for (size_t i = 0;; i++) {
		const char *effect = NULL, *name = feature_gates_at(i, &effect);

		if (name == NULL) {
			return;
		}
		man_text(".TP\n\\fB", name, "\\fR\n");
		man_text("", effect == NULL ? "Accepted without effect" : effect, ".\n");
	}
}

static void print_man_daemon(const struct daemon *d)
{
	const struct flags *f = d->flags();

	man_title(f->program, 8, d->summary);
	printf(".SH SYNOPSIS\n");
	man_usage(f);
	man_text(".SH DESCRIPTION\n", f->doc, "\n.SH OPTIONS\n");
	man_rows(f);
	man_ignored(f);
	printf(".SH \"EXIT STATUS\"\n0 after SIGTERM, 2 when flags or configuration are wrong, "
	       "else "
	       "1.\n.SH \"SEE ALSO\"\n.BR headgatectl (1)\n");
}

static void print_man_ctl(void)
{
	const struct verb *verb;

	man_title("headgatectl", 1, "explain, simulate and operate Headgate's queues");
	printf(".SH SYNOPSIS\n.B headgatectl\n.I VERB\n.RI [ FLAG ...]\n.SH VERBS\n");
	for (size_t i = 0; (verb = ctl_verb_at(i)) != NULL; i++) {
		man_text(".SS ", verb->name, "\n");
		man_usage(&verb->flags);
		man_text(".PP\n", verb->flags.doc, "\n");
		man_rows(&verb->flags);
		if (verb->flags.notes != NULL) {
			man_text(".PP\n", verb->flags.notes, "\n");
		}
	}
	printf(".SH \"EXIT STATUS\"\n0 done, 1 failed, 2 wrong usage.\n.SH \"SEE ALSO\"\n"
	       ".BR headgate\\-scheduler (8),\n.BR headgate\\-webhook (8)\n");
}

static int print_man(const char *program)
{
	for (size_t i = 0; i < ARRAY_LEN(daemons); i++) {
		if (str_streq(program, daemons[i].flags()->program)) {
			print_man_daemon(&daemons[i]);
			return 0;
		}
	}
	if (!str_streq(program, "headgatectl")) {
		fprintf(stderr, "flags_table: no such program: %s\n", program);
		return 2;
	}
	print_man_ctl();
	return 0;
}

/* --- the chart ------------------------------------------------------------------------------ */

#define HOUR_NS (3600 * CLOCK_NS_PER_S)
#define DURATION_MAX_H INT64_C(876000) /* the chart's bound where a flag has none */

static void chart_names(const struct flags_choice *c)
{
	const char *separator = "names: [";

	for (; c->name != NULL; c++) {
		printf("%s\"%s\"", separator, c->name);
		separator = ", ";
	}
	putchar(']');
}

static void chart_bounds(const struct flags_row *row)
{
	if (row->type == FLAGS_DURATION) {
		printf("min: %" PRId64 "ms, max: %" PRId64 "h", row->min / CLOCK_NS_PER_MS,
		       row->max > 0 ? row->max / HOUR_NS : DURATION_MAX_H);
		return;
	}
	printf("min: %" PRId64, row->min);
	if (row->max > 0) {
		printf(", max: %" PRId64, row->max);
	}
}

static void chart_row(const struct flags_row *row)
{
	static const char *const types[FLAGS_VERSION + 1] = {
		[FLAGS_BOOL] = "bool",
		[FLAGS_INT] = "int",
		[FLAGS_DOUBLE] = "double",
		[FLAGS_DURATION] = "duration",
		[FLAGS_TEXT] = "text",
		[FLAGS_LIST] = "list",
		[FLAGS_CHOICE] = "choice",
		[FLAGS_SET] = "set",
		[FLAGS_CUSTOM] = "any",
		[FLAGS_IGNORED] = "any",
		[FLAGS_UNSUPPORTED] = "only",
		[FLAGS_IGNORED_BOOL] = "bool",
		[FLAGS_UNSUPPORTED_BOOL] = "only",
	};

	if (types[row->type] == NULL) {
		return;
	}
	printf("  %s: {type: %s", row->name, types[row->type]);
	if (row->choices != NULL) {
		printf(", ");
		chart_names(row->choices);
	} else if (row->type == FLAGS_INT || row->type == FLAGS_DOUBLE ||
		   row->type == FLAGS_DURATION || (row->type == FLAGS_TEXT && row->min > 0)) {
		printf(", ");
		chart_bounds(row);
	} else if (row->type == FLAGS_UNSUPPORTED || row->type == FLAGS_UNSUPPORTED_BOOL) {
		printf(", value: \"%s\"", row->def == NULL ? "" : row->def);
	}
	puts("}");
}

static void print_chart(void)
{
	const struct flags_row *row;

	printf("# Types and bounds of the daemons' flags, for the check of extraArgs. `make docs` "
	       "writes this file.\n");
	for (size_t i = 0; i < ARRAY_LEN(daemons); i++) {
		const struct flags *f = daemons[i].flags();

		printf("%s:\n", strchr(f->program, '-') + 1);
		for (size_t k = 0; (row = flags_at(f, k)) != NULL; k++) {
			chart_row(row);
		}
	}
}

int main(int argc, char **argv)
{
	if (argc == 2 && str_streq(argv[1], "chart")) {
		print_chart();
		return 0;
	}
	if (argc == 2 && str_streq(argv[1], "markdown")) {
		print_markdown();
		return 0;
	}
	if (argc == 3 && str_streq(argv[1], "man")) {
		return print_man(argv[2]);
	}
	fprintf(stderr, "usage: flags_table markdown | flags_table man PROGRAM | flags_table "
			"chart\n");
	return 2;
}
