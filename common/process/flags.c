#include "process/flags.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "process/flags_text.h"
#include "process/version.h"

const struct flags_row flags_help[] = {
	{ "help", .letter = 'h', .type = FLAGS_HELP, .help = "Print this text" },
	{ .type = FLAGS_END },
};

const struct flags_row flags_version[] = {
	{ "version", .type = FLAGS_VERSION, .help = "Print the version" },
	{ .type = FLAGS_END },
};

/* Flags of klog: a Deployment that was written for Volcano may give them. */
const struct flags_row flags_klog[] = {
	{ "add-dir-header", .type = FLAGS_IGNORED_BOOL },
	{ "alsologtostderr", .type = FLAGS_IGNORED_BOOL },
	{ "log-backtrace-at", .type = FLAGS_IGNORED },
	{ "log-dir", .type = FLAGS_IGNORED },
	{ "log-file", .type = FLAGS_IGNORED },
	{ "log-file-max-size", .type = FLAGS_IGNORED },
	{ "log-flush-frequency", .type = FLAGS_IGNORED },
	{ "logtostderr", .type = FLAGS_IGNORED_BOOL },
	{ "one-output", .type = FLAGS_IGNORED_BOOL },
	{ "skip-headers", .type = FLAGS_IGNORED_BOOL },
	{ "skip-log-headers", .type = FLAGS_IGNORED_BOOL },
	{ "stderrthreshold", .type = FLAGS_IGNORED },
	{ "vmodule", .type = FLAGS_IGNORED },
	{ .type = FLAGS_END },
};

struct parse {
	const struct flags *f;
	char **argv;
	int argc, next; /* index of the next word */
	char *options;
	struct flags_parsed *p;
	struct err *err;
};

const struct flags_row *flags_at(const struct flags *f, size_t i)
{
	for (const struct flags_row *const *table = f->tables; *table != NULL; table++) {
		for (const struct flags_row *row = *table; row->type != FLAGS_END; row++) {
			if (i-- == 0) {
				return row;
			}
		}
	}
	return NULL;
}

bool flags_has_no_effect(const struct flags_row *row)
{
	return row->type == FLAGS_IGNORED || row->type == FLAGS_IGNORED_BOOL ||
	       row->type == FLAGS_UNSUPPORTED || row->type == FLAGS_UNSUPPORTED_BOOL;
}

static bool is_value_optional(enum flags_type type)
{
	return type == FLAGS_BOOL || type == FLAGS_IGNORED_BOOL || type == FLAGS_UNSUPPORTED_BOOL ||
	       type == FLAGS_HELP || type == FLAGS_VERSION;
}

bool flags_parse_bool(struct str text, bool *ret)
{
	static const char *const yes[] = { "1", "t", "T", "true", "TRUE", "True" };
	static const char *const no[] = { "0", "f", "F", "false", "FALSE", "False" };

	for (size_t i = 0; i < ARRAY_LEN(yes); i++) {
		if (str_eq_c(text, yes[i]) || str_eq_c(text, no[i])) {
			*ret = str_eq_c(text, yes[i]);
			return true;
		}
	}
	return false;
}

static int refuse(struct err *err, const struct flags_row *row, const char *value, const char *why)
{
	return err_set(err, ERR_INVALID, "--%s: \"%s\" %s", row->name, value, why);
}

/* "is not a number (1 to 64)" */
static int refuse_bounds(struct err *err, const struct flags_row *row, const char *value,
			 const char *what)
{
	CLEANUP(strbuf_finish) struct strbuf bounds = STRBUF_INIT;

	strbuf_printf(&bounds, "is not %s", what);
	flags_text_add_bounds(row, " (", ")", &bounds);
	return refuse(err, row, value, bounds.p);
}

static bool is_within(const struct flags_row *row, int64_t n)
{
	return n >= row->min && (row->max == 0 || n <= row->max);
}

static const struct flags_choice *find_choice(const struct flags_row *row, struct str name)
{
	const struct flags_choice *c = row->choices;

	while (c->name != NULL &&
	       (name.len != strlen(c->name) || strncasecmp(name.p, c->name, name.len) != 0)) {
		c++;
	}
	return c->name == NULL ? NULL : c;
}

static int refuse_choice(struct err *err, const struct flags_row *row, const char *value)
{
	CLEANUP(strbuf_finish) struct strbuf known = STRBUF_INIT;

	for (const struct flags_choice *c = row->choices; c->name != NULL; c++) {
		strbuf_printf(&known, "%s%s", known.len > 0 ? ", " : "", c->name);
	}
	return err_set(err, ERR_INVALID, "--%s: \"%s\" is unknown; known values: %s", row->name,
		       value, known.p);
}

static int set_choice(const struct flags_row *row, const char *value, void *member, struct err *err)
{
	const struct flags_choice *c = find_choice(row, str_of(value));

	if (c == NULL) {
		return refuse_choice(err, row, value);
	}
	memcpy(member, &c->value, sizeof(c->value));
	return 0;
}

static int set_bits(const struct flags_row *row, const char *value, unsigned *bits, struct err *err)
{
	struct str rest = str_of(value);

	while (rest.p != NULL) {
		struct str one = str_trim(str_next(&rest, ','));
		bool on = one.len == 0 || one.p[0] != '-';
		const struct flags_choice *c;

		if (one.len == 0) {
			continue;
		}
		c = find_choice(row, on ? one : (struct str){ one.p + 1, one.len - 1 });
		if (c == NULL) {
			return refuse_choice(err, row, value);
		}
		*bits = on ? *bits | c->value : *bits & ~c->value;
	}
	return 0;
}

static int set_text(const struct flags_row *row, const char *value, const char **text,
		    struct err *err)
{
	if (strlen(value) < (size_t)row->min) {
		return refuse(err, row, value, "is empty");
	}
	*text = value[0] == '\0' && row->def == NULL ? NULL : value;
	return 0;
}

static int add_to_list(const struct flags_row *row, const char *value, struct flags_list *list,
		       struct err *err)
{
	if (value[0] == '\0') {
		return row->may_be_empty ? 0 : refuse(err, row, value, "is empty");
	}
	if (list->n == (row->max > 0 ? (size_t)row->max : FLAGS_LIST_MAX)) {
		return err_set(err, ERR_INVALID, "--%s: \"%s\": at most %zu may be given",
			       row->name, value, list->n);
	}
	list->v[list->n++] = value;
	return 0;
}

static int set_number(const struct flags_row *row, const char *value, void *member, struct err *err)
{
	int64_t n;
	double d;

	if (row->type == FLAGS_INT) {
		if (!str_to_i64(str_of(value), &n) || !is_within(row, n)) {
			return refuse_bounds(err, row, value, "a number");
		}
		*(int64_t *)member = n;
		return 0;
	}
	if (!str_to_double(str_of(value), &d) || d < (double)row->min) {
		return refuse_bounds(err, row, value, "a number");
	}
	*(double *)member = d;
	return 0;
}

static int set_time(const struct flags_row *row, const char *value, int64_t *member,
		    struct err *err)
{
	int64_t ns;

	if (row->type == FLAGS_TIME) {
		if (clock_parse_time(str_of(value), member) < 0) {
			return refuse(err, row, value, "is not a time like 2026-01-02T15:04:05Z");
		}
		return *member <= CLOCK_LATEST_NOW
			       ? 0
			       : refuse(err, row, value, "is later than 2200-01-01T00:00:00Z");
	}
	if (clock_parse_duration(str_of(value), &ns) < 0 || !is_within(row, ns)) {
		return refuse_bounds(err, row, value, "a duration such as 30s or 1h30m");
	}
	*member = ns;
	return 0;
}

static int set_bool(const struct flags_row *row, const char *value, bool *ret, struct err *err)
{
	return flags_parse_bool(str_of(value), ret)
		       ? 0
		       : refuse(err, row, value, "is neither true nor false");
}

/* An ignored flag has no member, but its value must still be of its type. */
static int check_ignored(const struct flags_row *row, const char *value, struct err *err)
{
	bool on = false, is_bool = row->type != FLAGS_UNSUPPORTED;

	if (is_bool && set_bool(row, value, &on, err) < 0) {
		return -ERR_INVALID;
	}
	if (row->type != FLAGS_IGNORED_BOOL &&
	    (on || (!is_bool && !str_streq(value, row->def == NULL ? "" : row->def)))) {
		return refuse(err, row, value, "is not supported");
	}
	return 0;
}

static int set_custom(const struct flags_row *row, const char *value, void *member, struct err *err)
{
	int r = row->set(member, value, err);

	if (r < 0) {
		(void)err_wrap(err, "--%s: \"%s\"", row->name, value);
	}
	return r;
}

static int set_value(const struct parse *s, const struct flags_row *row, const char *value)
{
	void *member = s->options + row->offset;

	switch (row->type) {
	case FLAGS_BOOL:
		return set_bool(row, value, member, s->err);
	case FLAGS_INT:
	case FLAGS_DOUBLE:
		return set_number(row, value, member, s->err);
	case FLAGS_DURATION:
	case FLAGS_TIME:
		return set_time(row, value, member, s->err);
	case FLAGS_TEXT:
		return set_text(row, value, member, s->err);
	case FLAGS_LIST:
		return add_to_list(row, value, member, s->err);
	case FLAGS_CHOICE:
		return set_choice(row, value, member, s->err);
	case FLAGS_SET:
		return set_bits(row, value, member, s->err);
	case FLAGS_CUSTOM:
		return set_custom(row, value, member, s->err);
	case FLAGS_IGNORED_BOOL:
	case FLAGS_UNSUPPORTED:
	case FLAGS_UNSUPPORTED_BOOL:
		return check_ignored(row, value, s->err);
	case FLAGS_IGNORED:
	case FLAGS_HELP:
	case FLAGS_VERSION:
	case FLAGS_HEADING:
	case FLAGS_END:
		break;
	}
	return 0;
}

static bool is_given(const struct flags_parsed *p, size_t i)
{
	return (p->given[i / 64] >> i % 64 & 1) != 0;
}

bool flags_is_given(const struct flags *f, const struct flags_parsed *p, const char *name)
{
	const struct flags_row *row;

	for (size_t i = 0; (row = flags_at(f, i)) != NULL; i++) {
		if (row->type != FLAGS_HEADING && str_streq(row->name, name)) {
			return is_given(p, i);
		}
	}
	return false;
}

/* Lists and sets given on the command line replace the default, as in Go programs. So their
 * defaults are set last, and only if the flag was not given. */
static int set_defaults(const struct parse *s, bool last)
{
	const struct flags_row *row;
	int r = 0;

	for (size_t i = 0; r == 0 && (row = flags_at(s->f, i)) != NULL; i++) {
		bool collects = row->type == FLAGS_LIST || row->type == FLAGS_SET;

		assert(i < FLAGS_ROWS_MAX);
		/* Defaults are texts that pass the same checks as values of the command line. */
		if (row->def != NULL && collects == last && !(last && is_given(s->p, i))) {
			r = set_value(s, row, row->def);
		}
	}
	return r;
}

/* The flag libraries of Kubernetes take '_' for '-'. */
static bool is_name(const struct flags_row *row, struct str word)
{
	if (row->type == FLAGS_HEADING || strlen(row->name) != word.len) {
		return false;
	}
	for (size_t i = 0; i < word.len; i++) {
		if (row->name[i] != (word.p[i] == '_' ? '-' : word.p[i])) {
			return false;
		}
	}
	return true;
}

/* Applies one flag. 1: --help or --version was printed. */
static int take(struct parse *s, const struct flags_row *row, size_t i, const char *value)
{
	bool on = true;

	if ((row->type == FLAGS_HELP || row->type == FLAGS_VERSION) &&
	    set_bool(row, value, &on, s->err) < 0) {
		return -ERR_INVALID;
	}
	if (row->type == FLAGS_HELP && on) {
		flags_text_print_help(s->f, stdout);
		return 1;
	}
	if (row->type == FLAGS_VERSION && on) {
		printf("%s " HEADGATE_VERSION "\n", s->f->program);
		return 1;
	}
	if (flags_has_no_effect(row) && !is_given(s->p, i) && s->p->ignored.n < FLAGS_LIST_MAX) {
		s->p->ignored.v[s->p->ignored.n++] = row->name;
	}
	s->p->given[i / 64] |= UINT64_C(1) << i % 64;
	return set_value(s, row, value);
}

static int take_next_word(struct parse *s, const struct flags_row *row, size_t i)
{
	if (is_value_optional(row->type)) {
		return take(s, row, i, "true");
	}
	if (s->next == s->argc) {
		return err_set(s->err, ERR_INVALID, "--%s needs a value", row->name);
	}
	return take(s, row, i, s->argv[s->next++]);
}

/* --name, --name=value, --name value */
static int parse_long(struct parse *s, const char *word)
{
	const char *value = strchr(word, '=');
	struct str name =
		value == NULL ? str_of(word) : (struct str){ word, (size_t)(value - word) };
	const struct flags_row *row;

	for (size_t i = 0; (row = flags_at(s->f, i)) != NULL; i++) {
		if (is_name(row, name)) {
			return value != NULL ? take(s, row, i, value + 1)
					     : take_next_word(s, row, i);
		}
	}
	return err_set(s->err, ERR_INVALID, "unknown flag --" STR_FMT "; --help lists them",
		       STR_ARG(name));
}

static const struct flags_row *find_letter(const struct flags *f, char letter, size_t *ret_i)
{
	const struct flags_row *row;
	size_t i = 0;

	while ((row = flags_at(f, i)) != NULL && row->letter != letter) {
		i++;
	}
	*ret_i = i;
	return row;
}

/* -n value, -nvalue, -n=value; letters of booleans may stand together. */
static int parse_letters(struct parse *s, const char *word)
{
	int r = 0;

	while (r == 0 && *word != '\0') {
		size_t i;
		const struct flags_row *row = find_letter(s->f, *word, &i);

		if (row == NULL) {
			return err_set(s->err, ERR_INVALID, "unknown flag -%c; --help lists them",
				       *word);
		}
		word++;
		if (*word == '=') {
			return take(s, row, i, word + 1);
		}
		if (!is_value_optional(row->type) && *word != '\0') {
			return take(s, row, i, word);
		}
		r = take_next_word(s, row, i);
	}
	return r;
}

/* Moves the positional argument just read in front of the flags. */
static int take_argument(struct parse *s)
{
	int to = 1 + (int)s->p->nargs;
	char *word = s->argv[s->next - 1];

	if (s->f->args == NULL) {
		return err_set(s->err, ERR_INVALID, "unexpected argument \"%s\"", word);
	}
	memmove(&s->argv[to + 1], &s->argv[to], (size_t)(s->next - 1 - to) * sizeof(s->argv[0]));
	s->argv[to] = word;
	s->p->nargs++;
	return 0;
}

/* The order of values:
 *   1. Defaults, except those of flags that collect values.
 *   2. The words, in their order: of a flag that is given twice, the last value counts.
 *   3. Defaults of collecting flags that were not given. */
int flags_parse(const struct flags *f, int argc, char **argv, void *options,
		struct flags_parsed *ret, struct err *err)
{
	struct flags_parsed p = { .nargs = 0 };
	struct parse s = { f, argv, argc, 1, options, &p, err };
	bool only_arguments = false;
	int r = set_defaults(&s, false);

	assert(r == 0); /* the table is wrong */
	while (r == 0 && s.next < argc) {
		char *word = argv[s.next++];

		if (only_arguments || word[0] != '-' || word[1] == '\0') {
			r = take_argument(&s);
		} else if (word[1] != '-') {
			r = parse_letters(&s, word + 1);
		} else if (word[2] != '\0') {
			r = parse_long(&s, word + 2);
		} else {
			only_arguments = true;
		}
	}
	if (r == 0) {
		r = set_defaults(&s, true);
		*ret = p;
	}
	return r;
}
