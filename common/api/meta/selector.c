#include "api/meta/selector.h"

#include <string.h>

#include "api/meta/validate.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "enc/decode.h"
#include "enc/json/jdoc.h"

static const struct field label_requirement_rows[] = {
	F_STR(struct api_label_requirement, key, "key"),
	F_STR(struct api_label_requirement, operator_, "operator"),
	F_STRS(struct api_label_requirement, values, "values"),
};
static const struct field_table label_requirement_fields =
	FIELD_TABLE(struct api_label_requirement, label_requirement_rows);

static const struct field selector_rows[] = {
	F_LIST(struct api_label_selector, match_expressions, "matchExpressions",
	       label_requirement_fields),
	F_MAP(struct api_label_selector, match_labels, "matchLabels"),
};
const struct field_table selector_fields = FIELD_TABLE(struct api_label_selector, selector_rows);

struct parser {
	struct str rest;
	struct arena *arena;
	struct err *err;
	struct selector_requirement *requirements;
	size_t n;
};

static void skip_blanks(struct parser *p)
{
	while (p->rest.len > 0 && strchr(" \t\r\n", p->rest.p[0]) != NULL) {
		p->rest = (struct str){ p->rest.p + 1, p->rest.len - 1 };
	}
}

static bool eat(struct parser *p, const char *token)
{
	skip_blanks(p);
	if (!str_has_prefix(p->rest, token)) {
		return false;
	}
	p->rest = (struct str){ p->rest.p + strlen(token), p->rest.len - strlen(token) };
	return true;
}

/* Up to a blank or a special character; may be empty. */
static struct str eat_word(struct parser *p)
{
	struct str word;

	skip_blanks(p);
	word = (struct str){ p->rest.p, 0 };
	while (word.len < p->rest.len && p->rest.p[word.len] != '\0' &&
	       strchr(" \t\r\n,()=!<>", p->rest.p[word.len]) == NULL) {
		word.len++;
	}
	p->rest = (struct str){ p->rest.p + word.len, p->rest.len - word.len };
	return word;
}

static int bad(struct parser *p, const char *what, struct str word)
{
	return err_set(p->err, ERR_INVALID, "selector: %s \"" STR_FMT "\"", what,
		       word.len > 100 ? 100 : (int)word.len, word.p);
}

static int add_requirement(struct parser *p, struct selector_requirement requirement)
{
	if (p->n == SELECTOR_MAX_REQUIREMENTS) {
		return err_set(p->err, ERR_INVALID, "selector: more than %d requirements",
			       SELECTOR_MAX_REQUIREMENTS);
	}
	p->requirements[p->n++] = requirement;
	return 0;
}

static int check_value(struct parser *p, struct str value)
{
	return validate_is_label_value(value) ? 0 : bad(p, "invalid value", value);
}

static struct field_strs one_value(struct parser *p, struct str value)
{
	const char **v = arena_alloc(p->arena, sizeof(*v));

	v[0] = arena_dup_n(p->arena, value.p, value.len);
	return (struct field_strs){ v, 1 };
}

/* Upper bound for the number of comma-separated items in the text, at most max. */
static size_t count_items(struct str text, size_t max)
{
	size_t n = 1;

	for (size_t i = 0; i < text.len && n < max; i++) {
		n += text.p[i] == ',';
	}
	return n;
}

static int start(struct parser *p)
{
	if (p->rest.p == NULL) {
		p->rest = STR_LIT(""); /* absent text selects everything, as an empty one */
	}
	if (p->rest.len > SELECTOR_MAX_BYTES) {
		return err_set(p->err, ERR_INVALID, "selector: more than %d bytes",
			       SELECTOR_MAX_BYTES);
	}
	p->requirements = arena_alloc(p->arena, count_items(p->rest, SELECTOR_MAX_REQUIREMENTS) *
							sizeof(*p->requirements));
	return 0;
}

/* After "in" or "notin": (a, b, c). */
static int parse_set(struct parser *p, struct field_strs *ret)
{
	size_t n = 0, room = count_items(p->rest, SELECTOR_MAX_VALUES);
	const char **v = arena_alloc(p->arena, room * sizeof(*v));
	int r;

	if (!eat(p, "(")) {
		return bad(p, "'(' expected before", p->rest);
	}
	do {
		struct str word = eat_word(p);

		r = check_value(p, word);
		if (r < 0) {
			return r;
		}
		if (n == SELECTOR_MAX_VALUES) {
			return err_set(p->err, ERR_INVALID, "selector: more than %d values",
				       SELECTOR_MAX_VALUES);
		}
		v[n++] = arena_dup_n(p->arena, word.p, word.len);
	} while (eat(p, ","));
	if (!eat(p, ")")) {
		return bad(p, "')' expected before", p->rest);
	}
	*ret = (struct field_strs){ v, n };
	return 0;
}

/* After a key: one of = == != > < with its value. */
static int parse_compare(struct parser *p, struct selector_requirement *requirement)
{
	struct str value;
	int64_t n;

	/* The longer operator first: "=" is its beginning. */
	if (eat(p, "==") || eat(p, "=")) {
		requirement->op = SELECTOR_IN;
	} else if (eat(p, "!=")) {
		requirement->op = SELECTOR_NOT_IN;
	} else if (eat(p, ">")) {
		requirement->op = SELECTOR_GT;
	} else if (eat(p, "<")) {
		requirement->op = SELECTOR_LT;
	} else {
		return bad(p, "operator expected before", p->rest);
	}
	value = eat_word(p);
	if ((requirement->op == SELECTOR_GT || requirement->op == SELECTOR_LT) &&
	    !str_to_i64(value, &n)) {
		return bad(p, "not an integer", value);
	}
	requirement->values = one_value(p, value);
	return check_value(p, value);
}

/* key, !key, key in (a, b), key notin (a, b), or key with an operator and a value. */
static int parse_requirement(struct parser *p)
{
	struct selector_requirement requirement = { .op = SELECTOR_EXISTS };
	bool negated = eat(p, "!");
	struct str key = eat_word(p), before, word;
	int r = 0;

	if (!validate_is_qualified_name(key)) {
		return bad(p, "invalid key", key);
	}
	requirement.key = arena_dup_n(p->arena, key.p, key.len);
	skip_blanks(p);
	if (negated) {
		requirement.op = SELECTOR_NOT_EXISTS;
	} else if (p->rest.len > 0 && p->rest.p[0] != ',') {
		before = p->rest;
		word = eat_word(p);
		if (str_eq_c(word, "in") || str_eq_c(word, "notin")) {
			requirement.op = word.len == 2 ? SELECTOR_IN : SELECTOR_NOT_IN;
			r = parse_set(p, &requirement.values);
		} else {
			p->rest = before;
			r = parse_compare(p, &requirement);
		}
	}
	return r < 0 ? r : add_requirement(p, requirement);
}

int selector_parse_labels(struct str text, struct arena *arena, struct selector *ret,
			  struct err *err)
{
	struct parser p = { .rest = text, .arena = arena, .err = err };
	int r = start(&p);

	if (r < 0) {
		return r;
	}
	skip_blanks(&p);
	while (p.rest.len > 0) {
		r = parse_requirement(&p);
		if (r < 0) {
			return r;
		}
		skip_blanks(&p);
		if (p.rest.len == 0) {
			break;
		}
		if (!eat(&p, ",")) {
			return bad(&p, "',' expected before", p.rest);
		}
		skip_blanks(&p);
		if (p.rest.len == 0) {
			return bad(&p, "nothing after", STR_LIT(","));
		}
	}
	*ret = (struct selector){ p.requirements, p.n, false };
	return 0;
}

/* One term of a field selector; a backslash escapes , = and itself. */
static int parse_field(struct parser *p)
{
	struct selector_requirement requirement = { .op = SELECTOR_IN };
	char *out = arena_alloc(p->arena, p->rest.len + 1), *value = NULL;
	size_t i = 0, n = 0;

	for (; i < p->rest.len && p->rest.p[i] != ','; i++) {
		char c = p->rest.p[i];
		char next = i + 1 < p->rest.len ? p->rest.p[i + 1] : '\0';

		if (c == '\\') {
			if (next == '\0' || strchr(",=\\", next) == NULL) {
				return bad(p, "bad escape in", p->rest);
			}
			out[n++] = next;
			i++;
		} else if (value == NULL && (c == '=' || (c == '!' && next == '='))) {
			requirement.op = c == '=' ? SELECTOR_IN : SELECTOR_NOT_IN;
			i += next == '=';
			out[n++] = '\0';
			value = out + n;
		} else {
			out[n++] = c;
		}
	}
	out[n] = '\0';
	if (value == NULL || out[0] == '\0') {
		return bad(p, "field=value expected, not", (struct str){ p->rest.p, i });
	}
	p->rest = (struct str){ p->rest.p + i, p->rest.len - i };
	requirement.key = out;
	requirement.values = one_value(p, str_of(value));
	return add_requirement(p, requirement);
}

int selector_parse_fields(struct str text, struct arena *arena, struct selector *ret,
			  struct err *err)
{
	struct parser p = { .rest = text, .arena = arena, .err = err };
	int r = start(&p);

	if (r < 0) {
		return r;
	}
	while (p.rest.len > 0) {
		if (p.rest.p[0] == ',') {
			p.rest = (struct str){ p.rest.p + 1, p.rest.len - 1 };
			continue;
		}
		r = parse_field(&p);
		if (r < 0) {
			return r;
		}
	}
	*ret = (struct selector){ p.requirements, p.n, false };
	return 0;
}

static int expression_op(const char *name, enum selector_op *ret)
{
	static const struct {
		const char *name;
		enum selector_op op;
	} ops[] = {
		{ "In", SELECTOR_IN },
		{ "NotIn", SELECTOR_NOT_IN },
		{ "Exists", SELECTOR_EXISTS },
		{ "DoesNotExist", SELECTOR_NOT_EXISTS },
	};

	for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
		if (str_streq(name, ops[i].name)) {
			*ret = ops[i].op;
			return 0;
		}
	}
	return -ERR_INVALID;
}

static int add_expression(struct parser *p, const struct api_label_requirement *e)
{
	struct selector_requirement requirement = { .key = e->key, .values = e->values };
	bool wants_values;

	if (expression_op(e->operator_, &requirement.op) < 0) {
		return bad(p, "unknown operator", str_of(e->operator_ == NULL ? "" : e->operator_));
	}
	if (!validate_is_qualified_name(str_of(e->key))) {
		return bad(p, "invalid key", str_of(e->key == NULL ? "" : e->key));
	}
	wants_values = requirement.op == SELECTOR_IN || requirement.op == SELECTOR_NOT_IN;
	if (wants_values != (e->values.n > 0)) {
		return bad(p, wants_values ? "values needed for" : "no values allowed for",
			   str_of(e->key));
	}
	if (e->values.n > SELECTOR_MAX_VALUES) {
		return err_set(p->err, ERR_INVALID, "selector: more than %d values",
			       SELECTOR_MAX_VALUES);
	}
	return add_requirement(p, requirement);
}

int selector_from_struct(const struct api_label_selector *ls, struct arena *arena,
			 struct selector *ret, struct err *err)
{
	struct parser p = { .arena = arena, .err = err };
	size_t room;
	int r = 0;

	if (ls == NULL) {
		/* Kubernetes' rule: no selector selects nothing, an empty one selects
		 * everything. */
		*ret = (struct selector){ .matches_none = true };
		return 0;
	}
	room = ls->match_labels.n + ls->match_expressions.n;
	room = room > SELECTOR_MAX_REQUIREMENTS ? SELECTOR_MAX_REQUIREMENTS : room;
	p.requirements = arena_alloc(arena, room * sizeof(*p.requirements));
	for (size_t i = 0; i < ls->match_labels.n && r == 0; i++) {
		const struct field_pair *l = &ls->match_labels.v[i];

		if (!validate_is_qualified_name(str_of(l->key))) {
			return bad(&p, "invalid key", str_of(l->key));
		}
		r = check_value(&p, str_of(l->value));
		if (r == 0) {
			r = add_requirement(
				&p, (struct selector_requirement){
					    l->key, SELECTOR_IN, one_value(&p, str_of(l->value)) });
		}
	}
	for (size_t i = 0; i < ls->match_expressions.n && r == 0; i++) {
		r = add_expression(&p, &ls->match_expressions.v[i]);
	}
	if (r == 0) {
		*ret = (struct selector){ p.requirements, p.n, false };
	}
	return r;
}

static bool has_value(const struct field_strs *values, const char *value)
{
	for (size_t i = 0; i < values->n; i++) {
		if (strcmp(values->v[i], value) == 0) {
			return true;
		}
	}
	return false;
}

static bool compares(const struct selector_requirement *requirement, const char *value)
{
	int64_t is, bound;

	if (value == NULL || requirement->values.n != 1 || !str_to_i64(str_of(value), &is) ||
	    !str_to_i64(str_of(requirement->values.v[0]), &bound)) {
		return false;
	}
	return requirement->op == SELECTOR_GT ? is > bound : is < bound;
}

/* As in Kubernetes, NotIn and != hold for an object without the label; > and < do not. */
static bool holds(const struct selector_requirement *requirement, const char *value)
{
	switch (requirement->op) {
	case SELECTOR_IN:
		return value != NULL && has_value(&requirement->values, value);
	case SELECTOR_NOT_IN:
		return value == NULL || !has_value(&requirement->values, value);
	case SELECTOR_EXISTS:
		return value != NULL;
	case SELECTOR_NOT_EXISTS:
		return value == NULL;
	case SELECTOR_GT:
	case SELECTOR_LT:
		return compares(requirement, value);
	}
	return false;
}

static const char *get_label(const void *ctx, const char *key)
{
	return field_map_get(ctx, key);
}

int selector_from_json(const struct jdoc *d, struct arena *arena, struct selector *ret,
		       struct err *err)
{
	struct api_label_selector *ls = arena_zero(arena, 1, sizeof(*ls));
	int r = decode_jdoc(&selector_fields, d, ls, arena, err);

	return r < 0 ? r : selector_from_struct(ls, arena, ret, err);
}

bool selector_match(const struct selector *s, const struct field_map *labels)
{
	return selector_match_with(s, get_label, labels);
}

bool selector_match_with(const struct selector *s, selector_get_fn get, const void *ctx)
{
	if (s->matches_none) {
		return false;
	}
	for (size_t i = 0; i < s->n; i++) {
		if (!holds(&s->requirements[i], get(ctx, s->requirements[i].key))) {
			return false;
		}
	}
	return true;
}
