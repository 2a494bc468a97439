#include "schema/cel_eval.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/utf8.h"
#include "base/xmalloc.h"
#include "collections/vec.h"
#include "enc/json/jdoc.h"

struct binding {
	struct str name;
	struct cel_value value;
	const struct binding *outer;
};

struct eval {
	const struct cel_vars *vars;
	const struct binding *scope;
	struct VEC(struct jdoc *) temporaries;
	unsigned steps;
	struct err err; /* of the latest error value */
};

static struct cel_value eval(struct eval *e, const struct cel_node *n);

/* An error is a value: && and || may absorb it. */
static struct cel_value error(struct eval *e, const char *what, struct str about)
{
	(void)err_set(&e->err, ERR_INVALID, "%s" STR_FMT, what, STR_ARG(about));
	return (struct cel_value){ .kind = CEL_KIND_ERROR };
}

static struct cel_value boolean(bool b)
{
	return (struct cel_value){ .kind = CEL_KIND_BOOL, .b = b };
}

static struct cel_value of_doc(const struct jdoc *d)
{
	struct cel_value v = { .kind = CEL_KIND_NULL };

	switch (jdoc_kind(d)) {
	case JDOC_BOOL:
		return boolean(jdoc_bool(d, false));
	case JDOC_NUMBER:
		v.kind = CEL_KIND_INT;
		v.i = jdoc_int(d, INT64_MIN);
		/* No int64, or the least one, which a double holds exactly. */
		if (v.i == INT64_MIN) {
			v.kind = CEL_KIND_DOUBLE;
			v.d = jdoc_num(d, 0);
		}
		return v;
	case JDOC_STRING:
		v.kind = CEL_KIND_STRING;
		v.s = str_of(jdoc_str(d));
		return v;
	case JDOC_ARRAY:
	case JDOC_OBJECT:
		v.kind = jdoc_kind(d) == JDOC_ARRAY ? CEL_KIND_LIST : CEL_KIND_MAP;
		v.doc = d;
		return v;
	case JDOC_NULL:
	default:
		return v;
	}
}

static struct jdoc *to_doc(const struct cel_value *v)
{
	switch (v->kind) {
	case CEL_KIND_BOOL:
		return jdoc_new_bool(v->b);
	case CEL_KIND_INT:
		return jdoc_new_num((double)v->i);
	case CEL_KIND_DOUBLE:
		return jdoc_new_num(v->d);
	case CEL_KIND_STRING:
		return jdoc_new_str_n(v->s);
	case CEL_KIND_LIST:
	case CEL_KIND_MAP:
		return jdoc_copy(v->doc);
	case CEL_KIND_ERROR:
	case CEL_KIND_NULL:
	default:
		return jdoc_new_null();
	}
}

static bool equal(const struct cel_value *a, const struct cel_value *b)
{
	/* As in Kubernetes' CEL, numbers of different types may be equal. */
	if (a->kind == CEL_KIND_INT && b->kind == CEL_KIND_DOUBLE) {
		return (double)a->i == b->d;
	}
	if (a->kind == CEL_KIND_DOUBLE && b->kind == CEL_KIND_INT) {
		return a->d == (double)b->i;
	}
	if (a->kind != b->kind) {
		return false;
	}
	switch (a->kind) {
	case CEL_KIND_BOOL:
		return a->b == b->b;
	case CEL_KIND_INT:
		return a->i == b->i;
	case CEL_KIND_DOUBLE:
		return a->d == b->d;
	case CEL_KIND_STRING:
		return str_eq(a->s, b->s);
	case CEL_KIND_LIST:
	case CEL_KIND_MAP:
		return jdoc_equal(a->doc, b->doc);
	case CEL_KIND_ERROR:
	case CEL_KIND_NULL:
	default:
		return true;
	}
}

static struct cel_value eval_var(struct eval *e, const struct cel_node *n)
{
	for (const struct binding *b = e->scope; b != NULL; b = b->outer) {
		if (str_eq(b->name, n->text)) {
			return b->value;
		}
	}
	if (str_eq_c(n->text, "object") || str_eq_c(n->text, "self")) {
		return of_doc(e->vars->object);
	}
	return of_doc(str_eq_c(n->text, "request") ? e->vars->request : e->vars->old_object);
}

/* The name may be a part of the expression's text, and jdoc_get wants it ended by NUL. */
static const struct jdoc *member(const struct cel_value *v, struct str name)
{
	CLEANUP(xmalloc_freep) char *key = xmalloc_dup_n(name.len == 0 ? "" : name.p, name.len);

	return v->kind == CEL_KIND_MAP ? jdoc_get(v->doc, key) : NULL;
}

static struct cel_value eval_field(struct eval *e, const struct cel_node *n)
{
	struct cel_value on = eval(e, n->kids[0]);
	const struct jdoc *m;

	if (on.kind == CEL_KIND_ERROR) {
		return on;
	}
	m = member(&on, n->text);
	return m == NULL ? error(e, "no such key: ", n->text) : of_doc(m);
}

/* Only the last selection may be absent: has(a.b.c) fails where a.b is missing. */
static struct cel_value eval_has(struct eval *e, const struct cel_node *n)
{
	struct cel_value on = eval(e, n->kids[0]->kids[0]);

	if (on.kind == CEL_KIND_ERROR) {
		return on;
	}
	if (on.kind != CEL_KIND_MAP) {
		return error(e, "no such overload: has() of ", n->kids[0]->text);
	}
	return boolean(member(&on, n->kids[0]->text) != NULL);
}

static struct cel_value eval_index(struct eval *e, const struct cel_node *n)
{
	struct cel_value on = eval(e, n->kids[0]);
	struct cel_value at = on.kind == CEL_KIND_ERROR ? on : eval(e, n->kids[1]);
	const struct jdoc *m = NULL;

	if (on.kind == CEL_KIND_ERROR || at.kind == CEL_KIND_ERROR) {
		return on.kind == CEL_KIND_ERROR ? on : at;
	}
	if (on.kind == CEL_KIND_MAP && at.kind == CEL_KIND_STRING) {
		m = member(&on, at.s);
	} else if (on.kind == CEL_KIND_LIST && at.kind == CEL_KIND_INT && at.i >= 0) {
		m = jdoc_at(on.doc, (size_t)at.i);
	}
	return m == NULL ? error(e, "no such key: ", at.s) : of_doc(m);
}

/* The other operand decides when one is an error: false && error is false. */
static struct cel_value eval_logic(struct eval *e, const struct cel_node *n)
{
	bool decides = n->op == CEL_OR;
	struct cel_value a = eval(e, n->kids[0]);
	struct cel_value b;

	if (a.kind == CEL_KIND_BOOL && a.b == decides) {
		return a;
	}
	b = eval(e, n->kids[1]);
	if (b.kind == CEL_KIND_BOOL && b.b == decides) {
		return b;
	}
	if (a.kind == CEL_KIND_ERROR || b.kind == CEL_KIND_ERROR) {
		return a.kind == CEL_KIND_ERROR ? a : b;
	}
	if (a.kind != CEL_KIND_BOOL || b.kind != CEL_KIND_BOOL) {
		return error(e, "no such overload: logic on values that are not bool", STR_LIT(""));
	}
	return boolean(!decides);
}

static bool order(const struct cel_value *a, const struct cel_value *b, int *ret)
{
	if (a->kind == CEL_KIND_STRING && b->kind == CEL_KIND_STRING) {
		size_t n = a->s.len < b->s.len ? a->s.len : b->s.len;
		int r = n == 0 ? 0 : memcmp(a->s.p, b->s.p, n);

		*ret = r != 0 ? r : (a->s.len > b->s.len) - (a->s.len < b->s.len);
		return true;
	}
	if ((a->kind == CEL_KIND_INT || a->kind == CEL_KIND_DOUBLE) &&
	    (b->kind == CEL_KIND_INT || b->kind == CEL_KIND_DOUBLE)) {
		double x = a->kind == CEL_KIND_INT ? (double)a->i : a->d;
		double y = b->kind == CEL_KIND_INT ? (double)b->i : b->d;

		if (a->kind == CEL_KIND_INT && b->kind == CEL_KIND_INT) {
			*ret = (a->i > b->i) - (a->i < b->i);
		} else {
			*ret = (x > y) - (x < y);
		}
		return true;
	}
	return false;
}

static struct cel_value eval_in(struct eval *e, const struct cel_value *a,
				const struct cel_value *b)
{
	if (b->kind == CEL_KIND_MAP && a->kind == CEL_KIND_STRING) {
		return boolean(member(b, a->s) != NULL);
	}
	if (b->kind != CEL_KIND_LIST) {
		return error(e, "no such overload: in", STR_LIT(""));
	}
	for (const struct jdoc *i = jdoc_first(b->doc); i != NULL; i = jdoc_next(i)) {
		struct cel_value v = of_doc(i);

		if (equal(a, &v)) {
			return boolean(true);
		}
	}
	return boolean(false);
}

static struct cel_value eval_compare(struct eval *e, const struct cel_node *n)
{
	struct cel_value a = eval(e, n->kids[0]);
	struct cel_value b = a.kind == CEL_KIND_ERROR ? a : eval(e, n->kids[1]);
	int r = 0;

	if (b.kind == CEL_KIND_ERROR) {
		return b;
	}
	if (n->op == CEL_EQ || n->op == CEL_NE) {
		return boolean(equal(&a, &b) == (n->op == CEL_EQ));
	}
	if (n->op == CEL_IN) {
		return eval_in(e, &a, &b);
	}
	if (!order(&a, &b, &r)) {
		return error(e, "no such overload: comparison", STR_LIT(""));
	}
	return boolean(n->op == CEL_LT   ? r < 0
		       : n->op == CEL_LE ? r <= 0
		       : n->op == CEL_GT ? r > 0
					 : r >= 0);
}

static struct cel_value eval_text(struct eval *e, const struct cel_node *n)
{
	struct cel_value a = eval(e, n->kids[0]);
	struct cel_value b = a.kind == CEL_KIND_ERROR ? a : eval(e, n->kids[1]);
	struct str s = a.s, t = b.s;

	if (b.kind == CEL_KIND_ERROR) {
		return b;
	}
	if (a.kind != CEL_KIND_STRING || b.kind != CEL_KIND_STRING) {
		return error(e, "no such overload: string function", STR_LIT(""));
	}
	if (t.len > s.len) {
		return boolean(false);
	}
	if (t.len == 0) {
		return boolean(true);
	}
	if (n->op == CEL_CONTAINS) {
		return boolean(memmem(s.p, s.len, t.p, t.len) != NULL);
	}
	return boolean(memcmp(n->op == CEL_STARTS ? s.p : s.p + s.len - t.len, t.p, t.len) == 0);
}

/* CEL counts code points. */
static struct cel_value eval_size(struct eval *e, const struct cel_node *n)
{
	struct cel_value v = eval(e, n->kids[0]);
	struct cel_value res = { .kind = CEL_KIND_INT };

	if (v.kind == CEL_KIND_ERROR) {
		return v;
	}
	if (v.kind == CEL_KIND_STRING) {
		res.i = (int64_t)utf8_count(v.s.p, v.s.p + v.s.len);
		return res;
	}
	if (v.kind != CEL_KIND_LIST && v.kind != CEL_KIND_MAP) {
		return error(e, "no such overload: size", STR_LIT(""));
	}
	res.i = (int64_t)jdoc_count(v.doc);
	return res;
}

/* The body for one element of the range of a macro. */
static struct cel_value eval_body(struct eval *e, const struct cel_node *n,
				  const struct cel_value *range, const struct jdoc *element)
{
	struct binding b = { .name = n->text, .value = of_doc(element), .outer = e->scope };
	struct cel_value v;

	if (range->kind == CEL_KIND_MAP) {
		b.value = (struct cel_value){ .kind = CEL_KIND_STRING,
					      .s = str_of(jdoc_key(element)) };
	}
	e->scope = &b;
	v = eval(e, n->kids[1]);
	e->scope = b.outer;
	return v;
}

/* A deciding element wins over an error before it. */
static struct cel_value eval_macro(struct eval *e, const struct cel_node *n)
{
	bool decides = n->op == CEL_EXISTS;
	struct cel_value range = eval(e, n->kids[0]);
	struct cel_value res = boolean(!decides);

	if (range.kind == CEL_KIND_ERROR) {
		return range;
	}
	if (range.kind != CEL_KIND_LIST && range.kind != CEL_KIND_MAP) {
		return error(e, "no such overload: macro over a scalar", STR_LIT(""));
	}
	for (const struct jdoc *i = jdoc_first(range.doc); i != NULL; i = jdoc_next(i)) {
		struct cel_value v = eval_body(e, n, &range, i);

		if (v.kind == CEL_KIND_BOOL && v.b == decides) {
			return v;
		}
		if (v.kind != CEL_KIND_BOOL) {
			res = v.kind == CEL_KIND_ERROR
				      ? v
				      : error(e, "macro body is not bool", STR_LIT(""));
		}
	}
	return res;
}

static struct cel_value integer(int64_t i)
{
	return (struct cel_value){ .kind = CEL_KIND_INT, .i = i };
}

static struct cel_value eval_product(struct eval *e, const struct cel_node *n)
{
	struct cel_value a = eval(e, n->kids[0]);
	struct cel_value b = a.kind == CEL_KIND_ERROR ? a : eval(e, n->kids[1]);
	int64_t product;

	if (b.kind == CEL_KIND_ERROR) {
		return b;
	}
	if (a.kind != CEL_KIND_INT || b.kind != CEL_KIND_INT) {
		return error(e, "no such overload: product", STR_LIT(""));
	}
	if (__builtin_mul_overflow(a.i, b.i, &product)) {
		return error(e, "integer overflow", STR_LIT(""));
	}
	return integer(product);
}

static struct cel_value eval_sum(struct eval *e, const struct cel_node *n)
{
	struct cel_value list = eval(e, n->kids[0]);
	int64_t sum = 0;

	if (list.kind == CEL_KIND_ERROR) {
		return list;
	}
	if (list.kind != CEL_KIND_LIST) {
		return error(e, "no such overload: sum", STR_LIT(""));
	}
	for (const struct jdoc *i = jdoc_first(list.doc); i != NULL; i = jdoc_next(i)) {
		struct cel_value v = of_doc(i);

		if (v.kind != CEL_KIND_INT) {
			return error(e, "no such overload: sum", STR_LIT(""));
		}
		if (__builtin_add_overflow(sum, v.i, &sum)) {
			return error(e, "integer overflow", STR_LIT(""));
		}
	}
	return integer(sum);
}

/* exists_one, filter and map: every element counts, and so does every error. */
static struct cel_value eval_collect(struct eval *e, const struct cel_node *n)
{
	struct cel_value range = eval(e, n->kids[0]);
	struct jdoc *list = jdoc_new_array();

	/* Values borrow from the list until the whole expression is evaluated. */
	vec_push(&e->temporaries, list);
	if (range.kind == CEL_KIND_ERROR) {
		return range;
	}
	if (range.kind != CEL_KIND_LIST && (range.kind != CEL_KIND_MAP || n->op == CEL_FILTER)) {
		return error(e, "no such overload: macro", STR_LIT(""));
	}
	for (const struct jdoc *i = jdoc_first(range.doc); i != NULL; i = jdoc_next(i)) {
		struct cel_value v = eval_body(e, n, &range, i);

		if (v.kind == CEL_KIND_ERROR) {
			return v;
		}
		if (n->op != CEL_TRANSFORM && v.kind != CEL_KIND_BOOL) {
			return error(e, "macro body is not bool", STR_LIT(""));
		}
		if (n->op == CEL_TRANSFORM) {
			jdoc_append_take(list, to_doc(&v));
		} else if (v.b) {
			jdoc_append_take(list, jdoc_copy(i));
		}
	}
	return n->op == CEL_EXISTS_ONE ? boolean(jdoc_count(list) == 1) : of_doc(list);
}

static struct cel_value eval_items(struct eval *e, const struct cel_node *n)
{
	bool is_map = n->op == CEL_MAP;
	struct jdoc *d = is_map ? jdoc_new_object() : jdoc_new_array();

	vec_push(&e->temporaries, d);
	for (unsigned i = 0; i < n->n_kids; i++) {
		struct cel_value v = eval(e, n->kids[i]);
		CLEANUP(xmalloc_freep) char *key = NULL;

		if (v.kind == CEL_KIND_ERROR) {
			return v;
		}
		if (!is_map) {
			jdoc_append_take(d, to_doc(&v));
			continue;
		}
		if (v.kind != CEL_KIND_STRING) {
			return error(e, "map keys must be strings", STR_LIT(""));
		}
		key = xmalloc_dup_n(v.s.p, v.s.len);
		v = eval(e, n->kids[++i]);
		if (v.kind == CEL_KIND_ERROR) {
			return v;
		}
		jdoc_set_take(d, key, to_doc(&v));
	}
	return of_doc(d);
}

static struct cel_value eval_bool_op(struct eval *e, const struct cel_node *n)
{
	struct cel_value v = eval(e, n->kids[0]);

	if (v.kind == CEL_KIND_ERROR) {
		return v;
	}
	if (v.kind != CEL_KIND_BOOL) {
		return error(e, "no such overload: condition is not bool", STR_LIT(""));
	}
	return n->op == CEL_NOT ? boolean(!v.b) : eval(e, n->kids[v.b ? 1 : 2]);
}

static struct cel_value eval(struct eval *e, const struct cel_node *n)
{
	/* The count stays above the limit: all that is evaluated from here on fails, also where
	 * logic absorbs this error. */
	if (++e->steps > CEL_MAX_STEPS) {
		return error(e, "cost limit exceeded", STR_LIT(""));
	}
	switch (n->op) {
	case CEL_LITERAL:
		return n->value;
	case CEL_VAR:
		return eval_var(e, n);
	case CEL_FIELD:
		return eval_field(e, n);
	case CEL_INDEX:
		return eval_index(e, n);
	case CEL_HAS:
		return eval_has(e, n);
	case CEL_NOT:
	case CEL_COND:
		return eval_bool_op(e, n);
	case CEL_AND:
	case CEL_OR:
		return eval_logic(e, n);
	case CEL_EQ:
	case CEL_NE:
	case CEL_LT:
	case CEL_LE:
	case CEL_GT:
	case CEL_GE:
	case CEL_IN:
		return eval_compare(e, n);
	case CEL_LIST:
	case CEL_MAP:
		return eval_items(e, n);
	case CEL_SIZE:
		return eval_size(e, n);
	case CEL_STARTS:
	case CEL_ENDS:
	case CEL_CONTAINS:
		return eval_text(e, n);
	case CEL_MULTIPLY:
		return eval_product(e, n);
	case CEL_SUM:
		return eval_sum(e, n);
	case CEL_EXISTS:
	case CEL_ALL:
		return eval_macro(e, n);
	case CEL_EXISTS_ONE:
	case CEL_FILTER:
	case CEL_TRANSFORM:
		return eval_collect(e, n);
	case CEL_OP_COUNT_:
	default:
		return error(e, "unknown operation", STR_LIT(""));
	}
}

int cel_eval_bool(const struct cel *c, const struct cel_vars *vars, bool *ret, struct err *err)
{
	struct eval e = { .vars = vars };
	struct cel_value v = eval(&e, cel_root(c));

	for (size_t i = 0; i < e.temporaries.n; i++) {
		jdoc_destroy(e.temporaries.v[i]);
	}
	vec_finish(&e.temporaries);
	if (v.kind == CEL_KIND_ERROR) {
		return err_set(err, ERR_INVALID, "%s", e.err.text);
	}
	if (v.kind != CEL_KIND_BOOL) {
		return err_set(err, ERR_INVALID, "the expression does not give a bool");
	}
	*ret = v.b;
	return 0;
}
