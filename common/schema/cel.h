/* common/schema/cel.h: the subset of the Common Expression Language that admission match
 * conditions and the rules of our own schemas need; anything outside is refused when it is
 * compiled, never when it is evaluated. Supported: variables object, oldObject, request, or in
 * rules self and oldSelf; literals null, true, false, integers, 'strings', "strings", [lists],
 * {"maps": 1}; field selection a.b and indexing a["b"], a[0]; has(a.b);
 * == != < <= > >= in && || ! and c ? x : y; size(x) and x.size(); startsWith, endsWith, contains;
 * products of integers and x.sum() of a list of them; macros exists(x, e), exists_one, all, filter
 * and map over lists and maps (keys). Errors (a missing field, mixed types) are absorbed by && and
 * || as in CEL. No other arithmetic, no matches(), no optionals, no authorizer. Limits:
 * CEL_MAX_BYTES of text, CEL_MAX_DEPTH levels of nesting, CEL_MAX_STEPS evaluation steps. Owner:
 * one thread. */
#ifndef COMMON_SCHEMA_CEL_H
#define COMMON_SCHEMA_CEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

#define CEL_MAX_BYTES 16384
#define CEL_MAX_DEPTH 64
#define CEL_MAX_STEPS 1000000

struct arena;
struct cel;
struct err;
struct jdoc;

enum cel_op {
	CEL_LITERAL,
	CEL_VAR,
	CEL_FIELD, /* kids[0].text */
	CEL_INDEX,
	CEL_HAS, /* kids[0] is a CEL_FIELD */
	CEL_NOT,
	CEL_AND,
	CEL_OR,
	CEL_EQ,
	CEL_NE,
	CEL_LT,
	CEL_LE,
	CEL_GT,
	CEL_GE,
	CEL_IN,
	CEL_COND,
	CEL_LIST,
	CEL_MAP, /* kids: key, value, key, value */
	CEL_SIZE,
	CEL_STARTS,
	CEL_ENDS,
	CEL_CONTAINS,
	CEL_MULTIPLY,
	CEL_SUM,
	CEL_EXISTS, /* kids: range, body; text: the variable */
	CEL_EXISTS_ONE,
	CEL_ALL,
	CEL_FILTER,
	CEL_TRANSFORM, /* map() */
	CEL_OP_COUNT_
};

enum cel_kind {
	CEL_KIND_ERROR,
	CEL_KIND_NULL,
	CEL_KIND_BOOL,
	CEL_KIND_INT,
	CEL_KIND_DOUBLE,
	CEL_KIND_STRING,
	CEL_KIND_LIST,
	CEL_KIND_MAP,
};

struct cel_value {
	enum cel_kind kind;
	bool b;
	int64_t i;
	double d;
	struct str s;
	const struct jdoc *doc; /* lists and maps */
};

/* An expression tree, in an arena of its own. */
struct cel_node {
	enum cel_op op;
	struct str text;        /* names */
	struct cel_value value; /* literals */
	struct cel_node **kids;
	unsigned n_kids;
};

struct cel_vars { /* of a rule: object is self, old_object is oldSelf */
	const struct jdoc *object, *old_object, *request; /* NULL reads as null */
};

/* -ERR_INVALID with position and reason. */
int cel_compile(struct str text, struct cel **ret, struct err *err);
int cel_compile_rule(struct str text, struct cel **ret, struct err *err); /* of a schema */
bool cel_uses_old(const struct cel *c); /* a rule about changes: it names oldSelf */
void cel_destroy(struct cel *c);        /* NULL is fine */
const struct cel_node *cel_root(const struct cel *c);

#endif
