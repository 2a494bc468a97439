/* common/enc/json/jdoc.h: a JSON document as a tree (the only user of cJSON).
 * A struct jdoc is one node; the root owns all below it. Owner: one thread; a tree that is no
 * longer changed may be read by many. Object keys are compared case-sensitively. Strings are
 * NUL-terminated UTF-8, in which UTF8_NUL (base/utf8.h) stands for the escape \u0000.
 * Limits: JDOC_MAX_DEPTH levels and JDOC_MAX_BYTES of text (-ERR_INVALID beyond). Integers beyond
 * 2^53 lose precision, but for the greatest int64; they stay integers in the text. */
#ifndef COMMON_ENC_JSON_JDOC_H
#define COMMON_ENC_JSON_JDOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/str.h"

#define JDOC_MAX_DEPTH 200
#define JDOC_MAX_BYTES (64u << 20)

struct err;
struct jdoc;
struct strbuf;

enum jdoc_kind { JDOC_NULL, JDOC_BOOL, JDOC_NUMBER, JDOC_STRING, JDOC_ARRAY, JDOC_OBJECT };

/* Errors name line and column. Trailing bytes other than blanks are an error; duplicate keys: the
 * last wins. */
int jdoc_parse(struct str text, struct jdoc **ret, struct err *err);
void jdoc_destroy(struct jdoc *d); /* a root, NULL is fine */
void jdoc_destroyp(struct jdoc **pd);
struct jdoc *jdoc_copy(const struct jdoc *d);               /* deep, a new root */
void jdoc_format(const struct jdoc *d, struct strbuf *out); /* compact */
bool jdoc_equal(const struct jdoc *a,
		const struct jdoc *b); /* member order does not matter; NULL equals NULL */

/* Constructors of new roots; never NULL. */
struct jdoc *jdoc_new_object(void);
struct jdoc *jdoc_new_array(void);
struct jdoc *jdoc_new_str(const char *text);
struct jdoc *jdoc_new_str_n(struct str text);
struct jdoc *jdoc_new_num(double n);
struct jdoc *jdoc_new_int(int64_t n); /* |n| <= 2^53, else asserts */
struct jdoc *jdoc_new_bool(bool b);
struct jdoc *jdoc_new_null(void);

/* Reading. All accept d == NULL and the wrong kind: they return NULL / the default. */
enum jdoc_kind jdoc_kind(const struct jdoc *d); /* NULL reads as JDOC_NULL */
const char *jdoc_str(const struct jdoc *d);     /* NULL unless a string */
const char *jdoc_str_or(const struct jdoc *d, const char *def);
bool jdoc_is_str(const struct jdoc *d, const char *text);
double jdoc_num(const struct jdoc *d, double def);
int64_t jdoc_int(const struct jdoc *d, int64_t def); /* def unless integral and in range */
bool jdoc_bool(const struct jdoc *d, bool def);
size_t jdoc_count(const struct jdoc *d);    /* members or items; O(n) */
unsigned jdoc_depth(const struct jdoc *d);  /* levels of arrays and objects; a scalar: 0 */
const char *jdoc_key(const struct jdoc *d); /* of a member; NULL else */
const struct jdoc *jdoc_get(const struct jdoc *d, const char *key);
const struct jdoc *jdoc_at(const struct jdoc *d, size_t i); /* O(n) */
/* Dotted path of member names ("metadata.name"); a name that contains dots needs jdoc_get. */
const struct jdoc *jdoc_path(const struct jdoc *d, const char *path);
const char *jdoc_path_str(const struct jdoc *d, const char *path); /* NULL: absent or no string */
/* Iteration over members or items: for (c = jdoc_first(d); c; c = jdoc_next(c)). */
const struct jdoc *jdoc_first(const struct jdoc *d);
const struct jdoc *jdoc_next(const struct jdoc *c);

/* Changing. `_take` arguments pass ownership; the return is the node now in the tree. */
struct jdoc *jdoc_get_mut(struct jdoc *d, const char *key);
struct jdoc *jdoc_at_mut(struct jdoc *d, size_t i);
struct jdoc *jdoc_set_take(struct jdoc *obj, const char *key,
			   struct jdoc *value); /* adds or replaces */
/* Like jdoc_set_take for a key known to be new: O(1), does not search. */
struct jdoc *jdoc_add_take(struct jdoc *obj, const char *key, struct jdoc *value);
struct jdoc *jdoc_set_str(struct jdoc *obj, const char *key, const char *text);
struct jdoc *jdoc_set_int(struct jdoc *obj, const char *key, int64_t n);
struct jdoc *jdoc_set_bool(struct jdoc *obj, const char *key, bool b);
struct jdoc *jdoc_append_take(struct jdoc *arr, struct jdoc *item);
struct jdoc *jdoc_insert_take(struct jdoc *arr, size_t i, struct jdoc *item); /* i <= count */
struct jdoc *jdoc_replace_take(struct jdoc *parent, struct jdoc *child, struct jdoc *value);
bool jdoc_remove(struct jdoc *obj, const char *key); /* false: absent */
bool jdoc_remove_at(struct jdoc *arr, size_t i);
struct jdoc *jdoc_detach(struct jdoc *parent, struct jdoc *child); /* a new root */
/* Object member `key`, made as an empty object when absent or null; NULL if it is of another kind.
 */
struct jdoc *jdoc_ensure_object(struct jdoc *obj, const char *key);
struct jdoc *jdoc_ensure_array(struct jdoc *obj, const char *key);

#endif
