#include "schema/cel.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/xmalloc.h"

#define MAX_BOUND 8
#define MAX_KIDS 256

struct cel {
	struct arena *arena;
	struct cel_node *root;
	bool uses_old;
};

struct parser {
	struct arena *arena;
	const char *start, *p, *end;
	struct str bound[MAX_BOUND]; /* variables of enclosing macros */
	unsigned n_bound, depth;
	bool is_rule; /* of a schema: the variables are self and oldSelf */
	bool uses_old;
	struct err *err;
};

/* The grammar, by falling precedence of its operators; each line is a function.
 *   1. parse_primary: literal, [list], {map}, (expr), name, has(a.b), size(x)
 *   2. parse_member: .field, [index], .method(...), .macro(v, expr)
 *   3. parse_unary: !
 *   4. parse_product: *
 *   5. parse_relation: == != < <= > >= in
 *   6. parse_chain: &&, then ||
 *   7. parse_expr: c ? x : y
 * Loops build chains that lean to the left. Evaluation recurses into them, so their links are
 * limited as nesting is. */
static struct cel_node *parse_expr(struct parser *p);

static struct cel_node *fail(struct parser *p, const char *what)
{
	(void)err_set(p->err, ERR_INVALID, "offset %zu: %s", (size_t)(p->p - p->start), what);
	return NULL;
}

static void skip_blanks(struct parser *p)
{
	while (p->p < p->end && isspace((unsigned char)*p->p)) {
		p->p++;
	}
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool eat(struct parser *p, const char *token)
{
	size_t n = strlen(token);

	skip_blanks(p);
	if ((size_t)(p->end - p->p) < n || memcmp(p->p, token, n) != 0) {
		return false;
	}
	/* "in" is not the beginning of "index". */
	if (is_word(token[n - 1]) && p->p + n < p->end && is_word(p->p[n])) {
		return false;
	}
	p->p += n;
	return true;
}

static struct cel_node *node(struct parser *p, enum cel_op op, unsigned n_kids)
{
	struct cel_node *n = arena_zero(p->arena, 1, sizeof(*n));

	n->op = op;
	n->n_kids = n_kids;
	n->kids = arena_zero(p->arena, n_kids > 0 ? n_kids : 1, sizeof(struct cel_node *));
	return n;
}

static struct cel_node *unary(struct parser *p, enum cel_op op, struct cel_node *a)
{
	struct cel_node *n;

	if (a == NULL) {
		return NULL;
	}
	n = node(p, op, 1);
	n->kids[0] = a;
	return n;
}

static struct cel_node *binary(struct parser *p, enum cel_op op, struct cel_node *a,
			       struct cel_node *b)
{
	struct cel_node *n;

	if (a == NULL || b == NULL) {
		return NULL;
	}
	n = node(p, op, 2);
	n->kids[0] = a;
	n->kids[1] = b;
	return n;
}

static struct str ident(struct parser *p)
{
	const char *from;

	skip_blanks(p);
	from = p->p;
	if (p->p < p->end && isdigit((unsigned char)*p->p)) {
		return (struct str){ from, 0 };
	}
	while (p->p < p->end && is_word(*p->p)) {
		p->p++;
	}
	return (struct str){ from, (size_t)(p->p - from) };
}

static char unescape(char c)
{
	switch (c) {
	case 'n':
		return '\n';
	case 't':
		return '\t';
	case 'r':
		return '\r';
	default:
		return c;
	}
}

static struct cel_node *parse_string(struct parser *p)
{
	char quote = *p->p++;
	char *out = arena_alloc(p->arena, (size_t)(p->end - p->p) + 1);
	size_t n = 0;
	struct cel_node *res;

	while (p->p < p->end && *p->p != quote) {
		if (*p->p == '\\') {
			p->p++;
			if (p->p == p->end || strchr("\\\"'ntr", *p->p) == NULL) {
				return fail(p, "escape outside the supported subset");
			}
			out[n++] = unescape(*p->p++);
			continue;
		}
		out[n++] = *p->p++;
	}
	if (p->p == p->end) {
		return fail(p, "string without end");
	}
	p->p++;
	res = node(p, CEL_LITERAL, 0);
	res->value = (struct cel_value){ .kind = CEL_KIND_STRING, .s = { out, n } };
	return res;
}

static struct cel_node *parse_number(struct parser *p)
{
	const char *from = p->p;
	struct cel_node *res;
	int64_t n;

	if (p->p < p->end && *p->p == '-') {
		p->p++;
	}
	while (p->p < p->end && isdigit((unsigned char)*p->p)) {
		p->p++;
	}
	if ((p->p < p->end && (is_word(*p->p) || *p->p == '.')) ||
	    !str_to_i64((struct str){ from, (size_t)(p->p - from) }, &n)) {
		return fail(p, "only decimal int64 literals are supported");
	}
	res = node(p, CEL_LITERAL, 0);
	res->value = (struct cel_value){ .kind = CEL_KIND_INT, .i = n };
	return res;
}

/* "[a, b]" or "{k: v}" after the opening bracket. */
static struct cel_node *parse_items(struct parser *p, bool is_map)
{
	struct cel_node *kids[MAX_KIDS] = { NULL };
	unsigned n = 0;
	struct cel_node *res;
	const char *close = is_map ? "}" : "]";

	while (!eat(p, close)) {
		if (n > 0 && !eat(p, ",")) {
			return fail(p, "expected , or the closing bracket");
		}
		/* CEL allows a comma behind the last item. */
		if (n > 0 && eat(p, close)) {
			break;
		}
		for (unsigned i = 0; i < (is_map ? 2u : 1u); i++) {
			if (n == MAX_KIDS || (i == 1 && !eat(p, ":"))) {
				return fail(p, "bad or too large list or map");
			}
			kids[n] = parse_expr(p);
			if (kids[n++] == NULL) {
				return NULL;
			}
		}
	}
	res = node(p, is_map ? CEL_MAP : CEL_LIST, n);
	memcpy(res->kids, kids, n * sizeof(struct cel_node *));
	return res;
}

static struct cel_node *parse_has(struct parser *p)
{
	struct cel_node *arg = parse_expr(p);

	if (arg == NULL) {
		return NULL;
	}
	if (arg->op != CEL_FIELD) {
		return fail(p, "has() takes a field selection");
	}
	return eat(p, ")") ? unary(p, CEL_HAS, arg) : fail(p, "expected )");
}

static bool is_variable(struct parser *p, struct str name)
{
	for (unsigned i = 0; i < p->n_bound; i++) {
		if (str_eq(p->bound[i], name)) {
			return true;
		}
	}
	if (p->is_rule) {
		p->uses_old |= str_eq_c(name, "oldSelf");
		return str_eq_c(name, "self") || str_eq_c(name, "oldSelf");
	}
	return str_eq_c(name, "object") || str_eq_c(name, "oldObject") || str_eq_c(name, "request");
}

static struct cel_node *literal(struct parser *p, struct cel_value value)
{
	struct cel_node *n = node(p, CEL_LITERAL, 0);

	n->value = value;
	return n;
}

static struct cel_node *parse_name(struct parser *p)
{
	struct str name = ident(p);
	struct cel_node *n;

	if (str_eq_c(name, "true") || str_eq_c(name, "false")) {
		return literal(p, (struct cel_value){ .kind = CEL_KIND_BOOL,
						      .b = str_eq_c(name, "true") });
	}
	if (str_eq_c(name, "null")) {
		return literal(p, (struct cel_value){ .kind = CEL_KIND_NULL });
	}
	if (eat(p, "(")) {
		if (str_eq_c(name, "has")) {
			return parse_has(p);
		}
		if (!str_eq_c(name, "size")) {
			return fail(p, "function outside the supported subset");
		}
		n = unary(p, CEL_SIZE, parse_expr(p));
		return n == NULL || eat(p, ")") ? n : fail(p, "expected )");
	}
	if (!is_variable(p, name)) {
		return fail(p, "undeclared reference");
	}
	n = node(p, CEL_VAR, 0);
	n->text = name;
	return n;
}

static struct cel_node *parse_primary(struct parser *p)
{
	struct cel_node *n;

	skip_blanks(p);
	if (p->p == p->end) {
		return fail(p, "unexpected end");
	}
	if (*p->p == '"' || *p->p == '\'') {
		return parse_string(p);
	}
	if (isdigit((unsigned char)*p->p) || *p->p == '-') {
		return parse_number(p);
	}
	if (eat(p, "(")) {
		n = parse_expr(p);
		return n == NULL || eat(p, ")") ? n : fail(p, "expected )");
	}
	if (eat(p, "[")) {
		return parse_items(p, false);
	}
	if (eat(p, "{")) {
		return parse_items(p, true);
	}
	return is_word(*p->p) ? parse_name(p) : fail(p, "unexpected character");
}

/* x.exists(v, e) and its like after the opening parenthesis. */
static struct cel_node *parse_macro(struct parser *p, enum cel_op op, struct cel_node *range)
{
	struct str var = ident(p);
	struct cel_node *n;

	if (var.len == 0 || p->n_bound == MAX_BOUND || !eat(p, ",")) {
		return fail(p, "expected a variable and ,");
	}
	/* The variable is known in the body alone; the range is parsed already. */
	p->bound[p->n_bound++] = var;
	n = binary(p, op, range, parse_expr(p));
	p->n_bound--;
	if (n == NULL) {
		return NULL;
	}
	n->text = var;
	return eat(p, ")") ? n : fail(p, "expected )");
}

static struct cel_node *parse_method(struct parser *p, struct str name, struct cel_node *on)
{
	static const struct {
		const char *name;
		enum cel_op op;
	} methods[] = { { "startsWith", CEL_STARTS },
			{ "endsWith", CEL_ENDS },
			{ "contains", CEL_CONTAINS } },
	  macros[] = { { "exists", CEL_EXISTS },
		       { "exists_one", CEL_EXISTS_ONE },
		       { "all", CEL_ALL },
		       { "filter", CEL_FILTER },
		       { "map", CEL_TRANSFORM } };
	struct cel_node *n;

	for (size_t i = 0; i < sizeof(macros) / sizeof(macros[0]); i++) {
		if (str_eq_c(name, macros[i].name)) {
			return parse_macro(p, macros[i].op, on);
		}
	}
	if (str_eq_c(name, "size") || str_eq_c(name, "sum")) {
		return eat(p, ")") ? unary(p, str_eq_c(name, "sum") ? CEL_SUM : CEL_SIZE, on)
				   : fail(p, "expected )");
	}
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		if (str_eq_c(name, methods[i].name)) {
			n = binary(p, methods[i].op, on, parse_expr(p));
			return n == NULL || eat(p, ")") ? n : fail(p, "expected )");
		}
	}
	return fail(p, "method outside the supported subset");
}

static struct cel_node *parse_member(struct parser *p)
{
	struct cel_node *n = parse_primary(p);
	unsigned links = 0;

	while (n != NULL) {
		if (++links > CEL_MAX_DEPTH) {
			return fail(p, "too deep");
		}
		if (eat(p, ".")) {
			struct str name = ident(p);

			if (name.len == 0) {
				return fail(p, "expected a field name");
			}
			if (eat(p, "(")) {
				n = parse_method(p, name, n);
			} else {
				n = unary(p, CEL_FIELD, n);
				n->text = name;
			}
		} else if (eat(p, "[")) {
			n = binary(p, CEL_INDEX, n, parse_expr(p));
			if (n != NULL && !eat(p, "]")) {
				return fail(p, "expected ]");
			}
		} else {
			break;
		}
	}
	return n;
}

static struct cel_node *parse_unary(struct parser *p)
{
	unsigned nots = 0;
	struct cel_node *n;

	for (;;) {
		skip_blanks(p);
		if (p->p + 1 < p->end && p->p[0] == '!' && p->p[1] == '=') {
			break;
		}
		if (!eat(p, "!")) {
			break;
		}
		nots++;
	}
	n = parse_member(p);
	/* An even number of negations changes nothing, but the value must be a bool: two of them
	 * stay. */
	return n != NULL && nots % 2 == 1 ? unary(p, CEL_NOT, n)
	       : n != NULL && nots > 0    ? unary(p, CEL_NOT, unary(p, CEL_NOT, n))
					  : n;
}

static bool relation(struct parser *p, enum cel_op *ret)
{
	static const struct {
		const char *token;
		enum cel_op op;
	} ops[] = { { "==", CEL_EQ }, { "!=", CEL_NE }, { "<=", CEL_LE }, { ">=", CEL_GE },
		    { "<", CEL_LT },  { ">", CEL_GT },  { "in", CEL_IN } };

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (eat(p, ops[i].token)) {
			*ret = ops[i].op;
			return true;
		}
	}
	return false;
}

static struct cel_node *parse_product(struct parser *p)
{
	struct cel_node *n = parse_unary(p);
	unsigned links = 0;

	while (n != NULL && eat(p, "*")) {
		if (++links > CEL_MAX_DEPTH) {
			return fail(p, "too deep");
		}
		n = binary(p, CEL_MULTIPLY, n, parse_unary(p));
	}
	return n;
}

static struct cel_node *parse_relation(struct parser *p)
{
	struct cel_node *n = parse_product(p);
	enum cel_op op;
	unsigned links = 0;

	while (n != NULL && relation(p, &op)) {
		if (++links > CEL_MAX_DEPTH) {
			return fail(p, "too deep");
		}
		n = binary(p, op, n, parse_product(p));
	}
	return n;
}

static struct cel_node *parse_chain(struct parser *p, bool is_or)
{
	struct cel_node *n = is_or ? parse_chain(p, false) : parse_relation(p);
	unsigned links = 0;

	while (n != NULL && eat(p, is_or ? "||" : "&&")) {
		if (++links > CEL_MAX_DEPTH) {
			return fail(p, "too deep");
		}
		n = binary(p, is_or ? CEL_OR : CEL_AND, n,
			   is_or ? parse_chain(p, false) : parse_relation(p));
	}
	return n;
}

static struct cel_node *parse_expr(struct parser *p)
{
	struct cel_node *n, *res;

	if (++p->depth > CEL_MAX_DEPTH) {
		return fail(p, "too deep");
	}
	n = parse_chain(p, true);
	if (n != NULL && eat(p, "?")) {
		res = node(p, CEL_COND, 3);
		res->kids[0] = n;
		res->kids[1] = parse_expr(p);
		if (res->kids[1] == NULL) {
			return NULL;
		}
		if (!eat(p, ":")) {
			return fail(p, "expected :");
		}
		res->kids[2] = parse_expr(p);
		n = res->kids[2] == NULL ? NULL : res;
	}
	p->depth--;
	return n;
}

static int compile(struct str text, bool is_rule, struct cel **ret, struct err *err)
{
	struct err local = ERR_INIT;
	struct parser p = { .err = err != NULL ? err : &local, .is_rule = is_rule };
	struct cel *c;

	if (text.len > CEL_MAX_BYTES) {
		return err_set(err, ERR_INVALID, "expression longer than %d bytes", CEL_MAX_BYTES);
	}
	c = xmalloc_zero(1, sizeof(*c));
	c->arena = arena_create(0);
	p.arena = c->arena;
	/* A copy, because nodes point to their names in it. */
	p.start = p.p = arena_dup_n(c->arena, text.len == 0 ? "" : text.p, text.len);
	p.end = p.p + text.len;
	c->root = parse_expr(&p);
	skip_blanks(&p);
	if (c->root != NULL && p.p < p.end) {
		c->root = fail(&p, "unexpected text behind the expression");
	}
	if (c->root == NULL) {
		cel_destroy(c);
		return -ERR_INVALID;
	}
	c->uses_old = p.uses_old;
	*ret = c;
	return 0;
}

int cel_compile(struct str text, struct cel **ret, struct err *err)
{
	return compile(text, false, ret, err);
}

int cel_compile_rule(struct str text, struct cel **ret, struct err *err)
{
	return compile(text, true, ret, err);
}

bool cel_uses_old(const struct cel *c)
{
	return c->uses_old;
}

void cel_destroy(struct cel *c)
{
	if (c == NULL) {
		return;
	}
	arena_destroy(c->arena);
	free(c);
}

const struct cel_node *cel_root(const struct cel *c)
{
	return c->root;
}
