#include "enc/json/jdoc.h"

#include <assert.h>
#include <cjson/cJSON.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/json_text.h"
#include "enc/json/scan.h"

#define EXACT_INT INT64_C(9007199254740992) /* 2^53 */
#define SMALL_OBJECT 16                     /* members; below, pairs are simply compared */

static pthread_once_t hooks_once = PTHREAD_ONCE_INIT;

/* Out of memory ends the process, so that NULL from the parser can only mean bad input. */
static void install_hooks(void)
{
	cJSON_Hooks hooks = { .malloc_fn = xmalloc, .free_fn = free };

	cJSON_InitHooks(&hooks);
}

/* A struct jdoc is a cJSON node under another name; the casts are here and nowhere else. */
static const cJSON *node(const struct jdoc *d)
{
	return (const cJSON *)(const void *)d;
}

static cJSON *node_mut(struct jdoc *d)
{
	return (cJSON *)(void *)d;
}

static struct jdoc *doc(cJSON *c)
{
	return (struct jdoc *)(void *)c;
}

static const struct jdoc *doc_const(const cJSON *c)
{
	return (const struct jdoc *)(const void *)c;
}

/* A root has no name, but cJSON leaves that of a member on it. */
static void drop_key(cJSON *c)
{
	free(c->string);
	c->string = NULL;
}

struct member {
	const cJSON *c;
	size_t i;
};

static int member_cmp(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	int c = strcmp(x->c->string, y->c->string);

	return c != 0 ? c : (x->i > y->i) - (x->i < y->i);
}

/* The first n members from c on, which are there, by name. Equal names become neighbours, the last
 * one of the text behind the others. */
static struct member *sorted_members(const cJSON *c, size_t n)
{
	struct member *m = xmalloc_zero(n, sizeof(*m));

	for (size_t i = 0; i < n; i++) {
		m[i] = (struct member){ c, i };
		c = c->next;
	}
	qsort(m, n, sizeof(*m), member_cmp);
	return m;
}

static void drop_duplicates_big(cJSON *obj, size_t n)
{
	struct member *m = sorted_members(obj->child, n);
	bool *drop = xmalloc_zero(n, sizeof(*drop));
	cJSON *next, *c = obj->child;

	for (size_t i = 0; i + 1 < n; i++) {
		drop[m[i].i] = strcmp(m[i].c->string, m[i + 1].c->string) == 0;
	}
	for (size_t i = 0; i < n; i++, c = next) {
		next = c->next;
		if (drop[i]) {
			cJSON_Delete(cJSON_DetachItemViaPointer(obj, c));
		}
	}
	free(drop);
	free(m);
}

/* cJSON keeps duplicate members and finds the first; the last one must win. */
static void drop_duplicates(cJSON *obj)
{
	size_t n = 0;
	cJSON *next;

	for (cJSON *c = obj->child; c != NULL; c = c->next) {
		n++;
	}
	if (n > SMALL_OBJECT) {
		drop_duplicates_big(obj, n);
		return;
	}
	for (cJSON *c = obj->child; c != NULL; c = next) {
		next = c->next;
		for (cJSON *later = next; later != NULL; later = later->next) {
			if (strcmp(c->string, later->string) == 0) {
				cJSON_Delete(cJSON_DetachItemViaPointer(obj, c));
				break;
			}
		}
	}
}

static void clean_tree(cJSON *c)
{
	if (cJSON_IsObject(c)) {
		drop_duplicates(c);
	}
	for (cJSON *child = c->child; child != NULL; child = child->next) {
		clean_tree(child);
	}
}

int jdoc_parse(struct str text, struct jdoc **ret, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf replaced = STRBUF_INIT;
	struct scan_error e = { 0 };
	const char *end, *p;
	size_t line, column;
	cJSON *c;

	if (text.p == NULL) {
		return err_set(err, ERR_INVALID, "invalid JSON: no text");
	}
	if (text.len > JDOC_MAX_BYTES) {
		return err_set(err, ERR_INVALID, "invalid JSON: more than %u bytes",
			       JDOC_MAX_BYTES);
	}
	/* cJSON is lenient (leading zeros, control characters, bad UTF-8): the scanner is not. */
	end = text.p + text.len;
	p = scan_value(text.p, end, JDOC_MAX_DEPTH, &e);
	if (p != NULL && scan_blank(p, end) != end) {
		e = (struct scan_error){ scan_blank(p, end), "unexpected text after the value" };
		p = NULL;
	}
	if (p == NULL) {
		scan_position(text.p, e.at, &line, &column);
		return err_set(err, ERR_INVALID, "invalid JSON at line %zu column %zu: %s", line,
			       column, e.what);
	}
	pthread_once(&hooks_once, install_hooks);
	text = json_text_for_cjson(text, &replaced);
	c = cJSON_ParseWithLength(text.p, text.len);
	if (c == NULL) {
		return err_set(err, ERR_INVALID, "invalid JSON");
	}
	clean_tree(c);
	*ret = doc(c);
	return 0;
}

void jdoc_destroy(struct jdoc *d)
{
	cJSON_Delete(node_mut(d));
}

void jdoc_destroyp(struct jdoc **pd)
{
	jdoc_destroy(*pd);
	*pd = NULL;
}

struct jdoc *jdoc_copy(const struct jdoc *d)
{
	cJSON *c;

	pthread_once(&hooks_once, install_hooks);
	c = cJSON_Duplicate(node(d), true);
	assert(c != NULL);
	drop_key(c);
	return doc(c);
}

static struct jdoc *made(cJSON *c)
{
	assert(c != NULL);
	return doc(c);
}

struct jdoc *jdoc_new_object(void)
{
	pthread_once(&hooks_once, install_hooks);
	return made(cJSON_CreateObject());
}

struct jdoc *jdoc_new_array(void)
{
	pthread_once(&hooks_once, install_hooks);
	return made(cJSON_CreateArray());
}

struct jdoc *jdoc_new_str(const char *text)
{
	return jdoc_new_str_n(str_of(text));
}

struct jdoc *jdoc_new_str_n(struct str text)
{
	struct jdoc *d = jdoc_new_null();
	cJSON *c = node_mut(d);

	c->type = cJSON_String;
	c->valuestring = xmalloc_dup_n(text.p, text.len);
	return d;
}

struct jdoc *jdoc_new_num(double n)
{
	pthread_once(&hooks_once, install_hooks);
	return made(cJSON_CreateNumber(n));
}

struct jdoc *jdoc_new_int(int64_t n)
{
	assert(n >= -EXACT_INT && n <= EXACT_INT);
	return jdoc_new_num((double)n);
}

struct jdoc *jdoc_new_bool(bool b)
{
	pthread_once(&hooks_once, install_hooks);
	return made(cJSON_CreateBool(b));
}

struct jdoc *jdoc_new_null(void)
{
	pthread_once(&hooks_once, install_hooks);
	return made(cJSON_CreateNull());
}

enum jdoc_kind jdoc_kind(const struct jdoc *d)
{
	switch (d == NULL ? cJSON_NULL : node(d)->type & 0xff) {
	case cJSON_False:
	case cJSON_True:
		return JDOC_BOOL;
	case cJSON_Number:
		return JDOC_NUMBER;
	case cJSON_String:
		return JDOC_STRING;
	case cJSON_Array:
		return JDOC_ARRAY;
	case cJSON_Object:
		return JDOC_OBJECT;
	default:
		return JDOC_NULL;
	}
}

const char *jdoc_str(const struct jdoc *d)
{
	return jdoc_kind(d) == JDOC_STRING ? node(d)->valuestring : NULL;
}

const char *jdoc_str_or(const struct jdoc *d, const char *def)
{
	const char *s = jdoc_str(d);

	return s == NULL ? def : s;
}

bool jdoc_is_str(const struct jdoc *d, const char *text)
{
	const char *s = jdoc_str(d);

	return s != NULL && strcmp(s, text) == 0;
}

double jdoc_num(const struct jdoc *d, double def)
{
	return jdoc_kind(d) == JDOC_NUMBER ? node(d)->valuedouble : def;
}

int64_t jdoc_int(const struct jdoc *d, int64_t def)
{
	/* 0.5 is no integer, so another kind gives the default as well. */
	double n = jdoc_num(d, 0.5);

	/* The bounds are exact as doubles: -2^63 and 2^63. */
	if (n != trunc(n) || n < -9223372036854775808.0 || n >= 9223372036854775808.0) {
		return def;
	}
	return (int64_t)n;
}

bool jdoc_bool(const struct jdoc *d, bool def)
{
	return jdoc_kind(d) == JDOC_BOOL ? (node(d)->type & 0xff) == cJSON_True : def;
}

size_t jdoc_count(const struct jdoc *d)
{
	size_t n = 0;

	for (const struct jdoc *c = jdoc_first(d); c != NULL; c = jdoc_next(c)) {
		n++;
	}
	return n;
}

unsigned jdoc_depth(const struct jdoc *d)
{
	unsigned deepest = 0, n;

	for (const struct jdoc *c = jdoc_first(d); c != NULL; c = jdoc_next(c)) {
		n = jdoc_depth(c);
		deepest = n > deepest ? n : deepest;
	}
	return jdoc_kind(d) == JDOC_ARRAY || jdoc_kind(d) == JDOC_OBJECT ? deepest + 1 : 0;
}

const char *jdoc_key(const struct jdoc *d)
{
	return d == NULL ? NULL : node(d)->string;
}

static cJSON *find_member(const struct jdoc *d, const char *key)
{
	if (jdoc_kind(d) != JDOC_OBJECT || key == NULL) {
		return NULL;
	}
	for (cJSON *c = node(d)->child; c != NULL; c = c->next) {
		if (c->string[0] == key[0] && strcmp(c->string, key) == 0) {
			return c;
		}
	}
	return NULL;
}

/* The same for the first len bytes of a path, which are not 0. */
static cJSON *find_part(const struct jdoc *d, const char *path, size_t len)
{
	if (jdoc_kind(d) != JDOC_OBJECT) {
		return NULL;
	}
	for (cJSON *c = node(d)->child; c != NULL; c = c->next) {
		if (c->string[0] == path[0] && strncmp(c->string, path, len) == 0 &&
		    c->string[len] == '\0') {
			return c;
		}
	}
	return NULL;
}

const struct jdoc *jdoc_get(const struct jdoc *d, const char *key)
{
	return doc_const(find_member(d, key));
}

const struct jdoc *jdoc_at(const struct jdoc *d, size_t i)
{
	const struct jdoc *c = jdoc_kind(d) == JDOC_ARRAY ? jdoc_first(d) : NULL;

	while (c != NULL && i > 0) {
		c = jdoc_next(c);
		i--;
	}
	return c;
}

const struct jdoc *jdoc_path(const struct jdoc *d, const char *path)
{
	while (path != NULL && d != NULL) {
		const char *end = strchrnul(path, '.');

		d = doc_const(*end == '\0' ? find_member(d, path)
					   : find_part(d, path, (size_t)(end - path)));
		path = *end == '\0' ? NULL : end + 1;
	}
	return d;
}

const char *jdoc_path_str(const struct jdoc *d, const char *path)
{
	return jdoc_str(jdoc_path(d, path));
}

const struct jdoc *jdoc_first(const struct jdoc *d)
{
	return d == NULL ? NULL : doc_const(node(d)->child);
}

const struct jdoc *jdoc_next(const struct jdoc *c)
{
	return doc_const(node(c)->next);
}

struct jdoc *jdoc_get_mut(struct jdoc *d, const char *key)
{
	return doc(find_member(d, key));
}

struct jdoc *jdoc_at_mut(struct jdoc *d, size_t i)
{
	cJSON *c = jdoc_kind(d) == JDOC_ARRAY ? node_mut(d)->child : NULL;

	while (c != NULL && i > 0) {
		c = c->next;
		i--;
	}
	return doc(c);
}

struct jdoc *jdoc_set_take(struct jdoc *obj, const char *key, struct jdoc *value)
{
	struct jdoc *old = jdoc_get_mut(obj, key);

	assert(jdoc_kind(obj) == JDOC_OBJECT && value != NULL);
	if (old != NULL) {
		return jdoc_replace_take(obj, old, value);
	}
	return jdoc_add_take(obj, key, value);
}

struct jdoc *jdoc_add_take(struct jdoc *obj, const char *key, struct jdoc *value)
{
	assert(jdoc_kind(obj) == JDOC_OBJECT && value != NULL);
	cJSON_AddItemToObject(node_mut(obj), key, node_mut(value));
	return value;
}

struct jdoc *jdoc_set_str(struct jdoc *obj, const char *key, const char *text)
{
	return jdoc_set_take(obj, key, jdoc_new_str(text));
}

struct jdoc *jdoc_set_int(struct jdoc *obj, const char *key, int64_t n)
{
	return jdoc_set_take(obj, key, jdoc_new_int(n));
}

struct jdoc *jdoc_set_bool(struct jdoc *obj, const char *key, bool b)
{
	return jdoc_set_take(obj, key, jdoc_new_bool(b));
}

struct jdoc *jdoc_append_take(struct jdoc *arr, struct jdoc *item)
{
	assert(jdoc_kind(arr) == JDOC_ARRAY && item != NULL);
	cJSON_AddItemToArray(node_mut(arr), node_mut(item));
	return item;
}

/* Links the item in by hand: cJSON_InsertItemInArray loses the item in the version of Debian 12.
 * The first item's prev is the last item; the last item's next is NULL. */
struct jdoc *jdoc_insert_take(struct jdoc *arr, size_t i, struct jdoc *item)
{
	cJSON *a = node_mut(arr), *c = node_mut(item), *at = node_mut(jdoc_at_mut(arr, i));

	if (at == NULL) {
		return jdoc_append_take(arr, item);
	}
	drop_key(c);
	c->next = at;
	c->prev = at->prev;
	at->prev = c;
	if (at == a->child) {
		a->child = c;
	} else {
		c->prev->next = c;
	}
	return item;
}

struct jdoc *jdoc_replace_take(struct jdoc *parent, struct jdoc *child, struct jdoc *value)
{
	cJSON *v = node_mut(value);

	assert(value != NULL && value != child);
	drop_key(v);
	if (node(child)->string != NULL) {
		v->string = xmalloc_dup(node(child)->string);
	}
	cJSON_ReplaceItemViaPointer(node_mut(parent), node_mut(child), v);
	return value;
}

bool jdoc_remove(struct jdoc *obj, const char *key)
{
	struct jdoc *c = jdoc_get_mut(obj, key);

	if (c == NULL) {
		return false;
	}
	jdoc_destroy(jdoc_detach(obj, c));
	return true;
}

bool jdoc_remove_at(struct jdoc *arr, size_t i)
{
	struct jdoc *c = jdoc_at_mut(arr, i);

	if (c == NULL) {
		return false;
	}
	jdoc_destroy(jdoc_detach(arr, c));
	return true;
}

struct jdoc *jdoc_detach(struct jdoc *parent, struct jdoc *child)
{
	cJSON *c = cJSON_DetachItemViaPointer(node_mut(parent), node_mut(child));

	assert(c != NULL);
	drop_key(c);
	return doc(c);
}

static struct jdoc *ensure(struct jdoc *obj, const char *key, enum jdoc_kind kind)
{
	struct jdoc *c = jdoc_get_mut(obj, key);

	if (jdoc_kind(c) == JDOC_NULL) {
		return jdoc_set_take(obj, key,
				     kind == JDOC_OBJECT ? jdoc_new_object() : jdoc_new_array());
	}
	return jdoc_kind(c) == kind ? c : NULL;
}

struct jdoc *jdoc_ensure_object(struct jdoc *obj, const char *key)
{
	return ensure(obj, key, JDOC_OBJECT);
}

struct jdoc *jdoc_ensure_array(struct jdoc *obj, const char *key)
{
	return ensure(obj, key, JDOC_ARRAY);
}

/* So many members, from x and from y on, in any order. */
static bool members_equal(const struct jdoc *x, const struct jdoc *y, size_t n)
{
	struct member *a = sorted_members(node(x), n), *b = sorted_members(node(y), n);
	bool equal = true;

	for (size_t i = 0; i < n && equal; i++) {
		equal = strcmp(a[i].c->string, b[i].c->string) == 0 &&
			jdoc_equal(doc_const(a[i].c), doc_const(b[i].c));
	}
	free(a);
	free(b);
	return equal;
}

static bool objects_equal(const struct jdoc *a, const struct jdoc *b)
{
	const struct jdoc *x = jdoc_first(a), *y = jdoc_first(b);
	size_t left = jdoc_count(a);

	if (left != jdoc_count(b)) {
		return false;
	}
	/* The order is mostly the same: neighbours are compared before anything is sorted. */
	for (; x != NULL && strcmp(jdoc_key(x), jdoc_key(y)) == 0; left--) {
		if (!jdoc_equal(x, y)) {
			return false;
		}
		x = jdoc_next(x);
		y = jdoc_next(y);
	}
	return left == 0 || members_equal(x, y, left);
}

static bool arrays_equal(const struct jdoc *a, const struct jdoc *b)
{
	const struct jdoc *x = jdoc_first(a), *y = jdoc_first(b);

	while (x != NULL && y != NULL) {
		if (!jdoc_equal(x, y)) {
			return false;
		}
		x = jdoc_next(x);
		y = jdoc_next(y);
	}
	return x == NULL && y == NULL;
}

bool jdoc_equal(const struct jdoc *a, const struct jdoc *b)
{
	if (a == b) {
		return true;
	}
	if (a == NULL || b == NULL || jdoc_kind(a) != jdoc_kind(b)) {
		return false;
	}
	switch (jdoc_kind(a)) {
	case JDOC_NULL:
		return true;
	case JDOC_BOOL:
		return jdoc_bool(a, false) == jdoc_bool(b, false);
	case JDOC_NUMBER:
		return jdoc_num(a, 0) == jdoc_num(b, 0);
	case JDOC_STRING:
		return strcmp(jdoc_str(a), jdoc_str(b)) == 0;
	case JDOC_ARRAY:
		return arrays_equal(a, b);
	case JDOC_OBJECT:
		return objects_equal(a, b);
	}
	return false;
}
