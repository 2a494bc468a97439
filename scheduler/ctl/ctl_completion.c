/* headgatectl completion: scripts by which a shell completes verbs, flags and their known values.
 * They are generated from the flag tables of the verbs. */
#include <ctype.h>
#include <stdio.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "process/flags_text.h"
#include "scheduler/ctl/cli/verb.h"
#include "scheduler/ctl/ctl.h"

/* The kind of word that may follow a flag, or stand as an argument. */
enum hint {
	HINT_NONE, /* the flag takes no value */
	HINT_WORDS,
	HINT_FILES,
	HINT_UNKNOWN,
};

/* Appends the literal first words of the argument forms, without placeholders: "pod workload". */
static enum hint hint_arguments(const struct flags *f, struct strbuf *words)
{
	struct str forms = str_of(f->args);
	enum hint hint = HINT_NONE;

	while (forms.p != NULL) {
		struct str form = str_next(&forms, '\n'), first = str_next(&form, ' ');

		if (str_has_prefix(first, "FILE")) {
			return HINT_FILES;
		}
		while (first.p != NULL && first.len > 0) {
			struct str word = str_next(&first, '|');

			if (islower((unsigned char)word.p[0])) {
				strbuf_printf(words, "%s" STR_FMT, words->len > 0 ? " " : "",
					      STR_ARG(word));
				hint = HINT_WORDS;
			}
		}
	}
	return hint;
}

static enum hint hint_value(const struct flags_row *row, struct strbuf *words)
{
	CLEANUP(strbuf_finish) struct strbuf value = STRBUF_INIT;

	flags_text_add_value(row, &value);
	if (value.len == 0) {
		return HINT_NONE;
	}
	if (row->choices != NULL) {
		for (const struct flags_choice *c = row->choices; c->name != NULL; c++) {
			strbuf_printf(words, "%s%s", words->len > 0 ? " " : "", c->name);
		}
		return HINT_WORDS;
	}
	if (str_streq(value.p, "BOOL")) {
		strbuf_add_c(words, "true false");
		return HINT_WORDS;
	}
	return str_streq(value.p, "FILE") || str_streq(value.p, "DIR") ? HINT_FILES : HINT_UNKNOWN;
}

/* Row i of a verb that is a flag; NULL behind the last one. */
static const struct flags_row *flag_at(const struct verb *verb, size_t *i)
{
	const struct flags_row *row = flags_at(&verb->flags, (*i)++);

	while (row != NULL && row->type == FLAGS_HEADING) {
		row = flags_at(&verb->flags, (*i)++);
	}
	return row;
}

/* Puts a backslash before each of `special`; a single quote ends the quoted text and begins it
 * again around an escaped one. */
static void add_escaped(const char *text, const char *special, struct strbuf *out)
{
	for (; *text != '\0'; text++) {
		if (*text == '\'') {
			strbuf_add_c(out, "'\\'");
		} else if (strchr(special, *text) != NULL) {
			strbuf_add_ch(out, '\\');
		}
		strbuf_add_ch(out, *text);
	}
}

static void bash_value(const struct verb *verb, const struct flags_row *row, struct strbuf *out)
{
	CLEANUP(strbuf_finish) struct strbuf words = STRBUF_INIT;
	enum hint hint = hint_value(row, &words);

	if (hint == HINT_NONE) {
		return;
	}
	strbuf_printf(out, "\t\"%s --%s\"", verb->name, row->name);
	if (row->letter != '\0') {
		strbuf_printf(out, " | \"%s -%c\"", verb->name, row->letter);
	}
	if (hint == HINT_WORDS) {
		strbuf_printf(out, ") words=\"%s\" ;;\n", words.p);
	} else {
		strbuf_printf(out, ") %s ;;\n", hint == HINT_FILES ? "files=1" : "return");
	}
}

static void bash_words(const struct verb *verb, struct strbuf *out)
{
	CLEANUP(strbuf_finish) struct strbuf words = STRBUF_INIT;
	enum hint hint = hint_arguments(&verb->flags, &words);
	const struct flags_row *row;

	strbuf_printf(out, "\t\"%s \"*)\n\t\twords=\"%s", verb->name, words.len > 0 ? words.p : "");
	for (size_t i = 0; (row = flag_at(verb, &i)) != NULL;) {
		strbuf_printf(out, " --%s", row->name);
	}
	strbuf_printf(out, "\"\n%s\t\t;;\n", hint == HINT_FILES ? "\t\tfiles=1\n" : "");
}

static void add_bash(struct strbuf *out)
{
	const struct verb *verb;

	strbuf_add_c(out, "# bash completion for headgatectl\n"
			  "_headgatectl()\n{\n"
			  "\tlocal cur=${COMP_WORDS[COMP_CWORD]} "
			  "prev=${COMP_WORDS[COMP_CWORD-1]} words= files=\n\n"
			  "\tCOMPREPLY=()\n"
			  "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
			  "\t\tCOMPREPLY=($(compgen -W \"");
	for (size_t v = 0; (verb = ctl_verb_at(v)) != NULL; v++) {
		strbuf_printf(out, "%s%s", v > 0 ? " " : "", verb->name);
	}
	strbuf_add_c(out, "\" -- \"$cur\"))\n\t\treturn\n\tfi\n"
			  "\t# bash makes three words of --flag=value.\n"
			  "\tif [ \"$cur\" = = ]; then\n\t\tcur=\n"
			  "\telif [ \"$prev\" = = ]; then\n"
			  "\t\tprev=${COMP_WORDS[COMP_CWORD-2]}\n\tfi\n"
			  "\tcase \"${COMP_WORDS[1]} $prev\" in\n");
	for (size_t v = 0; (verb = ctl_verb_at(v)) != NULL; v++) {
		const struct flags_row *row;

		for (size_t i = 0; (row = flag_at(verb, &i)) != NULL;) {
			bash_value(verb, row, out);
		}
		bash_words(verb, out);
	}
	strbuf_add_c(out, "\tesac\n"
			  "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
			  "\tif [ -n \"$files\" ] && [ \"${cur#-}\" = \"$cur\" ]; then\n"
			  "\t\tcompopt -o filenames 2>/dev/null\n"
			  "\t\tCOMPREPLY=($(compgen -f -- \"$cur\"))\n\tfi\n}\n"
			  "complete -F _headgatectl headgatectl\n");
}

static void zsh_flag(const struct flags_row *row, struct strbuf *out)
{
	CLEANUP(strbuf_finish) struct strbuf words = STRBUF_INIT, value = STRBUF_INIT;
	enum hint hint = hint_value(row, &words);
	bool repeats = row->type == FLAGS_LIST || row->type == FLAGS_CUSTOM;
	const char *sign = hint == HINT_NONE ? "" : "=", *plus = hint == HINT_NONE ? "" : "+";

	flags_text_add_value(row, &value);
	strbuf_add_c(out, "\t\t\t");
	if (row->letter == '\0') {
		strbuf_printf(out, "'%s--%s%s", repeats ? "*" : "", row->name, sign);
	} else if (repeats) {
		strbuf_printf(out, "'*'{-%c%s,--%s%s}'", row->letter, plus, row->name, sign);
	} else {
		strbuf_printf(out, "'(-%c --%s)'{-%c%s,--%s%s}'", row->letter, row->name,
			      row->letter, plus, row->name, sign);
	}
	strbuf_add_ch(out, '[');
	add_escaped(row->help, "[]:\\", out);
	strbuf_add_ch(out, ']');
	if (hint != HINT_NONE) {
		strbuf_add_ch(out, ':');
		add_escaped(value.p, ":\\", out);
		strbuf_add_ch(out, ':');
	}
	if (hint == HINT_WORDS) {
		strbuf_printf(out, "(%s)", words.p);
	}
	strbuf_printf(out, "%s' \\\n", hint == HINT_FILES ? "_files" : "");
}

static void add_zsh(struct strbuf *out)
{
	const struct verb *verb;

	strbuf_add_c(out, "#compdef headgatectl\n"
			  "_headgatectl()\n{\n\tlocal -a verbs=(\n");
	for (size_t v = 0; (verb = ctl_verb_at(v)) != NULL; v++) {
		strbuf_printf(out, "\t\t'%s:", verb->name);
		add_escaped(verb->help, ":\\", out);
		strbuf_add_c(out, "'\n");
	}
	strbuf_add_c(out, "\t)\n\tif (( CURRENT == 2 )); then\n\t\t_describe verb verbs\n"
			  "\t\treturn\n\tfi\n\tshift words\n\t(( CURRENT-- ))\n"
			  "\tcase $words[1] in\n");
	for (size_t v = 0; (verb = ctl_verb_at(v)) != NULL; v++) {
		CLEANUP(strbuf_finish) struct strbuf words = STRBUF_INIT;
		enum hint hint = hint_arguments(&verb->flags, &words);
		const struct flags_row *row;

		strbuf_printf(out, "\t%s)\n\t\t_arguments -s \\\n", verb->name);
		for (size_t i = 0; (row = flag_at(verb, &i)) != NULL;) {
			zsh_flag(row, out);
		}
		if (hint == HINT_FILES) {
			strbuf_add_c(out, "\t\t\t'*:file:_files'\n\t\t;;\n");
		} else {
			strbuf_printf(out, "\t\t\t'*:argument:(%s)'\n\t\t;;\n",
				      words.len > 0 ? words.p : "");
		}
	}
	/* The script works both sourced and as a file of $fpath. */
	strbuf_add_c(out, "\tesac\n}\n"
			  "if [ \"$funcstack[1]\" = _headgatectl ]; then\n"
			  "\t_headgatectl \"$@\"\nelse\n"
			  "\tcompdef _headgatectl headgatectl\nfi\n");
}

static void fish_flag(const struct verb *verb, const struct flags_row *row, struct strbuf *out)
{
	CLEANUP(strbuf_finish) struct strbuf words = STRBUF_INIT;
	enum hint hint = hint_value(row, &words);

	strbuf_printf(out, "complete -c headgatectl -n '__fish_seen_subcommand_from %s' -l %s",
		      verb->name, row->name);
	if (row->letter != '\0') {
		strbuf_printf(out, " -s %c", row->letter);
	}
	if (hint == HINT_WORDS) {
		strbuf_printf(out, " -x -a '%s'", words.p);
	} else if (hint != HINT_NONE) {
		strbuf_add_c(out, hint == HINT_FILES ? " -r -F" : " -x");
	}
	strbuf_add_c(out, " -d '");
	add_escaped(row->help, "\\", out);
	strbuf_add_c(out, "'\n");
}

static void add_fish(struct strbuf *out)
{
	const struct verb *verb;

	strbuf_add_c(out, "# fish completion for headgatectl\ncomplete -c headgatectl -f\n");
	for (size_t v = 0; (verb = ctl_verb_at(v)) != NULL; v++) {
		CLEANUP(strbuf_finish) struct strbuf words = STRBUF_INIT;
		enum hint hint = hint_arguments(&verb->flags, &words);
		const struct flags_row *row;

		strbuf_printf(out, "complete -c headgatectl -n __fish_use_subcommand -a %s -d '",
			      verb->name);
		add_escaped(verb->help, "\\", out);
		strbuf_add_c(out, "'\n");
		if (hint != HINT_NONE) {
			strbuf_printf(out,
				      "complete -c headgatectl -n '__fish_seen_subcommand_from "
				      "%s' ",
				      verb->name);
			strbuf_printf(out, hint == HINT_FILES ? "-F%s\n" : "-a '%s'\n",
				      words.len > 0 ? words.p : "");
		}
		for (size_t i = 0; (row = flag_at(verb, &i)) != NULL;) {
			fish_flag(verb, row, out);
		}
	}
}

static int run_verb(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*add)(struct strbuf *out);
	} shells[] = { { "bash", add_bash }, { "zsh", add_zsh }, { "fish", add_fish } };
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct flags_parsed parsed;
	char unused;
	int code;

	if (!verb_parse(&ctl_completion_verb.flags, argc, argv, &unused, &parsed, &code)) {
		return code;
	}
	for (size_t i = 0; i < ARRAY_LEN(shells) && parsed.nargs == 1; i++) {
		if (str_streq(argv[1], shells[i].name)) {
			shells[i].add(&text);
			fwrite(text.p, 1, text.len, stdout);
			return VERB_OK;
		}
	}
	fprintf(stderr, "headgatectl: expected: completion bash|zsh|fish\n");
	return VERB_USAGE;
}

static const struct flags_row *const tables[] = { flags_help, NULL };

const struct verb ctl_completion_verb = {
	VERB("completion"),
	.help = "print a shell completion script",
	.flags.args = "bash|zsh|fish",
	.flags.doc = "Print a script by which a shell completes verbs, flags and their values: "
		     "source <(headgatectl completion bash).",
	.flags.notes = "For zsh, save it as _headgatectl in a folder of $fpath; for fish, as "
		       "~/.config/fish/completions/headgatectl.fish.",
	.flags.tables = tables,
	.run = run_verb,
};
