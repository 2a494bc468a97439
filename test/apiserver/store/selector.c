#include "apiserver/store/selector.h"

#include <ctype.h>
#include <stdlib.h>

#include "apiserver/store/object.h"
#include "apiserver/store/resource.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "collections/vec.h"
#include "enc/json/jdoc.h"

enum op { OP_IN, OP_NOT_IN, OP_EXISTS, OP_ABSENT, OP_GREATER, OP_LESS };

#define FIELD_NAME 100
#define FIELD_NAMESPACE 101

struct requirement {
	bool is_field;
	unsigned field;
	enum op op;
	struct str key;
	struct VEC(struct str) values;
};

struct selector {
	char *text; /* keys and values point into it */
	struct VEC(struct requirement) reqs;
};

void selector_destroy(struct selector *s)
{
	if (s == NULL) {
		return;
	}
	for (size_t i = 0; i < s->reqs.n; i++) {
		vec_finish(&s->reqs.v[i].values);
	}
	vec_finish(&s->reqs);
	free(s->text);
	free(s);
}

static bool is_key_char(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.' || c == '/';
}

static struct str word(struct str *in)
{
	struct str w;
	size_t n = 0;

	*in = str_trim(*in);
	while (n < in->len && is_key_char(in->p[n])) {
		n++;
	}
	w = (struct str){ in->p, n };
	in->p += n;
	in->len -= n;
	*in = str_trim(*in);
	return w;
}

static bool eat(struct str *in, const char *token)
{
	if (!str_has_prefix(*in, token)) {
		return false;
	}
	in->p += strlen(token);
	in->len -= strlen(token);
	return true;
}

static int parse_set(struct str *in, struct requirement *r, struct err *err)
{
	*in = str_trim(*in);
	if (!eat(in, "(")) {
		return err_set(err, ERR_INVALID,
			       "unable to parse requirement: found '" STR_FMT "', expected: '('",
			       STR_ARG(*in));
	}
	for (;;) {
		struct str value = word(in);

		vec_push(&r->values, value);
		if (eat(in, ")")) {
			return 0;
		}
		if (!eat(in, ",")) {
			return err_set(err, ERR_INVALID,
				       "unable to parse requirement: found '" STR_FMT
				       "', expected: ',' or ')'",
				       STR_ARG(*in));
		}
	}
}

static int parse_bound(struct str *in, struct requirement *r, struct err *err)
{
	struct str bound = word(in);
	int64_t n;

	vec_push(&r->values, bound);
	if (!str_to_i64(bound, &n)) {
		return err_set(err, ERR_INVALID,
			       "values[0][" STR_FMT "]: Invalid value: \"" STR_FMT
			       "\": for 'Gt', 'Lt' operators, the value must be an integer",
			       STR_ARG(r->key), STR_ARG(bound));
	}
	return 0;
}

static int parse_label(struct str *in, struct requirement *r, struct err *err)
{
	*in = str_trim(*in);
	if (eat(in, "!")) {
		r->key = word(in);
		r->op = OP_ABSENT;
		return r->key.len > 0 ? 0 : err_set(err, ERR_INVALID, "expected: identifier");
	}
	r->key = word(in);
	if (r->key.len == 0) {
		return err_set(err, ERR_INVALID,
			       "found '" STR_FMT "', expected: !, identifier, or 'end of string'",
			       STR_ARG(*in));
	}
	r->op = OP_EXISTS;
	if (eat(in, "!=")) {
		r->op = OP_NOT_IN;
		vec_push(&r->values, word(in));
	} else if (eat(in, "==") || eat(in, "=")) {
		r->op = OP_IN;
		vec_push(&r->values, word(in));
	} else if (eat(in, ">") || eat(in, "<")) {
		r->op = in->p[-1] == '>' ? OP_GREATER : OP_LESS;
		return parse_bound(in, r, err);
	} else if (str_has_prefix(*in, "in") && in->len > 2 && !is_key_char(in->p[2])) {
		eat(in, "in");
		r->op = OP_IN;
		return parse_set(in, r, err);
	} else if (str_has_prefix(*in, "notin") && in->len > 5 && !is_key_char(in->p[5])) {
		eat(in, "notin");
		r->op = OP_NOT_IN;
		return parse_set(in, r, err);
	}
	return 0;
}

static int field_index(struct str path, const struct resource *res, unsigned *ret)
{
	if (str_eq_c(path, "metadata.name")) {
		*ret = FIELD_NAME;
		return 0;
	}
	if (str_eq_c(path, "metadata.namespace")) {
		*ret = FIELD_NAMESPACE;
		return 0;
	}
	for (unsigned i = 0; res->fields[i] != NULL; i++) {
		if (str_eq_c(path, res->fields[i])) {
			*ret = i;
			return 0;
		}
	}
	return -ERR_NOT_FOUND;
}

static int refuse_field(struct str key, const struct resource *res, struct err *err)
{
	if (res->fields[0] == NULL && !res->is_custom) {
		return err_set(err, ERR_INVALID,
			       "\"" STR_FMT "\" is not a known field selector: only "
			       "\"metadata.name\", \"metadata.namespace\"",
			       STR_ARG(key));
	}
	return err_set(err, ERR_INVALID, "field label not supported: " STR_FMT, STR_ARG(key));
}

static int parse_field(struct str part, const struct resource *res, struct requirement *r,
		       struct err *err)
{
	size_t n = 0;
	struct str value;

	r->is_field = true;
	r->op = OP_IN;
	while (n < part.len && part.p[n] != '=' && part.p[n] != '!') {
		n++;
	}
	r->key = (struct str){ part.p, n };
	value = (struct str){ part.p + n, part.len - n };
	if (eat(&value, "!=")) {
		r->op = OP_NOT_IN;
	} else if (!eat(&value, "==") && !eat(&value, "=")) {
		return err_set(err, ERR_INVALID,
			       "invalid selector: '" STR_FMT "'; can't understand '" STR_FMT "'",
			       STR_ARG(part), STR_ARG(part));
	}
	vec_push(&r->values, value);
	if (field_index(r->key, res, &r->field) < 0) {
		return refuse_field(r->key, res, err);
	}
	return 0;
}

static int parse_labels(struct selector *s, struct str in, struct err *err)
{
	while (str_trim(in).len > 0) {
		struct requirement r = { 0 };
		int ret = parse_label(&in, &r, err);

		vec_push(&s->reqs, r);
		in = str_trim(in);
		if (ret == 0 && in.len > 0 && !eat(&in, ",")) {
			ret = err_set(err, ERR_INVALID,
				      "found '" STR_FMT "', expected: ',' or 'end of string'",
				      STR_ARG(in));
		}
		if (ret == 0 && s->reqs.n > SELECTOR_MAX) {
			ret = err_set(err, ERR_INVALID, "more than %d requirements", SELECTOR_MAX);
		}
		if (ret < 0) {
			return ret;
		}
	}
	return 0;
}

int selector_parse(struct str labels, struct str fields, const struct resource *res,
		   struct selector **ret, struct err *err)
{
	struct selector *s = xmalloc_zero(1, sizeof(*s));
	struct str rest;
	int r;

	s->text = xmalloc_printf(STR_FMT "%c" STR_FMT, STR_ARG(labels), '\n', STR_ARG(fields));
	rest = (struct str){ s->text + labels.len + 1, fields.len };
	r = parse_labels(s, (struct str){ s->text, labels.len }, err);
	while (r == 0 && fields.len > 0 && rest.p != NULL) {
		struct requirement req = { 0 };
		struct str part = str_next(&rest, ',');

		if (part.len == 0) {
			continue;
		}
		r = parse_field(part, res, &req, err);
		vec_push(&s->reqs, req);
		if (r == 0 && s->reqs.n > SELECTOR_MAX) {
			r = err_set(err, ERR_INVALID, "more than %d requirements", SELECTOR_MAX);
		}
	}
	if (r < 0) {
		selector_destroy(s);
		return r;
	}
	*ret = s;
	return 0;
}

static bool in_values(const struct requirement *r, const char *value)
{
	for (size_t i = 0; i < r->values.n; i++) {
		if (str_eq_c(r->values.v[i], value)) {
			return true;
		}
	}
	return false;
}

static bool is_beyond(const struct requirement *r, const char *value)
{
	int64_t bound, n;

	if (value == NULL || !str_to_i64(r->values.v[0], &bound) ||
	    !str_to_i64(str_of(value), &n)) {
		return false;
	}
	return r->op == OP_GREATER ? n > bound : n < bound;
}

static bool matches_one(const struct requirement *r, const struct object *o)
{
	const char *value;

	if (!r->is_field) {
		value = object_label(o, r->key);
	} else if (r->field == FIELD_NAME) {
		value = o->name.p;
	} else if (r->field == FIELD_NAMESPACE) {
		value = o->ns.p;
	} else {
		value = object_field(o, r->field);
	}
	switch (r->op) {
	case OP_IN:
		return value != NULL && in_values(r, value);
	case OP_NOT_IN:
		return value == NULL || !in_values(r, value);
	case OP_EXISTS:
		return value != NULL;
	case OP_GREATER:
	case OP_LESS:
		return is_beyond(r, value);
	case OP_ABSENT:
	default:
		return value == NULL;
	}
}

bool selector_matches(const struct selector *s, const struct object *o)
{
	for (size_t i = 0; s != NULL && i < s->reqs.n; i++) {
		if (!matches_one(&s->reqs.v[i], o)) {
			return false;
		}
	}
	return true;
}

static bool list_has(const struct jdoc *values, const char *text)
{
	for (const struct jdoc *v = jdoc_first(values); v != NULL; v = jdoc_next(v)) {
		if (jdoc_is_str(v, text)) {
			return true;
		}
	}
	return false;
}

static bool expression_matches(const struct jdoc *e, const struct jdoc *labels)
{
	const char *op = jdoc_str_or(jdoc_get(e, "operator"), "");
	const char *have = jdoc_str(jdoc_get(labels, jdoc_str_or(jdoc_get(e, "key"), "")));
	const struct jdoc *values = jdoc_get(e, "values");

	if (str_streq(op, "In")) {
		return have != NULL && list_has(values, have);
	}
	if (str_streq(op, "NotIn")) {
		return have == NULL || !list_has(values, have);
	}
	if (str_streq(op, "Exists")) {
		return have != NULL;
	}
	return str_streq(op, "DoesNotExist") && have == NULL;
}

bool selector_label_object_matches(const struct jdoc *selector, const struct jdoc *labels)
{
	const struct jdoc *wanted = jdoc_get(selector, "matchLabels");
	const struct jdoc *expressions = jdoc_get(selector, "matchExpressions");

	for (const struct jdoc *w = jdoc_first(wanted); w != NULL; w = jdoc_next(w)) {
		if (!jdoc_is_str(jdoc_get(labels, jdoc_key(w)), jdoc_str_or(w, ""))) {
			return false;
		}
	}
	for (const struct jdoc *e = jdoc_first(expressions); e != NULL; e = jdoc_next(e)) {
		if (!expression_matches(e, labels)) {
			return false;
		}
	}
	return true;
}
