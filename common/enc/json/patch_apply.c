#include "enc/json/patch_apply.h"

#include <stdint.h>
#include <string.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"

/* Where a pointer leads: the parent and the last token. The root itself has no parent. */
struct place {
	struct jdoc *parent;
	struct strbuf token;
	struct jdoc *node; /* NULL: not there */
	size_t index;      /* of the item when parent is an array; count for "-" */
};

static int unescape_token(struct str raw, struct strbuf *out)
{
	strbuf_reset(out);
	for (size_t i = 0; i < raw.len; i++) {
		char c = raw.p[i];

		if (c == '~') {
			if (++i == raw.len || (raw.p[i] != '0' && raw.p[i] != '1')) {
				return -ERR_INVALID;
			}
			c = raw.p[i] == '0' ? '~' : '/';
		}
		strbuf_add_ch(out, c);
	}
	return 0;
}

static int step_index(struct place *p, size_t *ret)
{
	struct str t = strbuf_str(&p->token);
	uint64_t n;

	if (str_eq_c(t, "-")) {
		*ret = jdoc_count(p->parent);
		return 0;
	}
	/* RFC 6901: no leading zeros. */
	if (!str_to_u64(t, &n) || (t.len > 1 && t.p[0] == '0') || n > SIZE_MAX) {
		return -ERR_INVALID;
	}
	*ret = (size_t)n;
	return 0;
}

/* Moves p from p->node to its child named by p->token. */
static int step(struct place *p, struct err *err)
{
	p->parent = p->node;
	switch (jdoc_kind(p->parent)) {
	case JDOC_OBJECT:
		p->node = jdoc_get_mut(p->parent, p->token.p);
		return 0;
	case JDOC_ARRAY:
		if (step_index(p, &p->index) < 0) {
			return err_set(err, ERR_INVALID, "\"%s\" is not an index", p->token.p);
		}
		p->node = jdoc_at_mut(p->parent, p->index);
		return 0;
	case JDOC_NULL:
	case JDOC_BOOL:
	case JDOC_NUMBER:
	case JDOC_STRING:
		break;
	}
	return err_set(err, ERR_INVALID, "nothing at \"%s\"", p->token.p);
}

static int find_place(struct jdoc *doc, const char *pointer, struct place *p, struct err *err)
{
	struct str rest = str_of(pointer);
	int r;

	*p = (struct place){ .node = doc, .token = STRBUF_INIT };
	if (rest.len == 0) {
		return 0;
	}
	if (rest.p[0] != '/') {
		return err_set(err, ERR_INVALID, "a pointer begins with \"/\"");
	}
	rest = (struct str){ rest.p + 1, rest.len - 1 };
	while (rest.p != NULL) {
		struct str raw = str_next(&rest, '/');

		if (p->node == NULL) {
			return err_set(err, ERR_INVALID, "nothing at \"%s\"", p->token.p);
		}
		if (unescape_token(raw, &p->token) < 0) {
			return err_set(err, ERR_INVALID, "bad escape in pointer");
		}
		r = step(p, err);
		if (r < 0) {
			return r;
		}
	}
	return 0;
}

/* Checked at each operation, not at the end: many small steps must not build a tree that is too
 * deep for recursion. */
static int check_depth(const char *pointer, const struct jdoc *value, struct err *err)
{
	unsigned depth = jdoc_depth(value);

	for (const char *c = pointer; *c != '\0' && depth <= JDOC_MAX_DEPTH; c++) {
		depth += *c == '/';
	}
	return depth <= JDOC_MAX_DEPTH ? 0 : err_set(err, ERR_INVALID, "nested too deeply");
}

static int put_at(struct jdoc **doc, const char *pointer, struct jdoc *value_take, struct err *err)
{
	struct jdoc *value CLEANUP(jdoc_destroyp) = value_take;
	struct place p;
	int r = check_depth(pointer, value, err);

	if (r < 0) {
		return r;
	}
	r = find_place(*doc, pointer, &p, err);
	if (r == 0 && p.parent == NULL) {
		jdoc_destroy(*doc);
		*doc = take_ptr(&value);
	} else if (r == 0 && jdoc_kind(p.parent) == JDOC_OBJECT) {
		jdoc_set_take(p.parent, p.token.p, take_ptr(&value));
	} else if (r == 0 && p.index > jdoc_count(p.parent)) {
		r = err_set(err, ERR_INVALID, "index %zu is out of bounds", p.index);
	} else if (r == 0) {
		jdoc_insert_take(p.parent, p.index, take_ptr(&value));
	}
	strbuf_finish(&p.token);
	return r;
}

/* The node must be there; detached from its parent into *ret when ret is given, else copied. */
static int take_at(struct jdoc *doc, const char *pointer, bool remove, struct jdoc **ret,
		   struct err *err)
{
	struct place p;
	int r = find_place(doc, pointer, &p, err);

	if (r == 0 && p.node == NULL) {
		r = err_set(err, ERR_INVALID, "nothing at \"%s\"", pointer);
	} else if (r == 0 && remove && p.parent == NULL) {
		r = err_set(err, ERR_INVALID, "the whole document cannot be removed");
	} else if (r == 0) {
		*ret = remove ? jdoc_detach(p.parent, p.node) : jdoc_copy(p.node);
	}
	strbuf_finish(&p.token);
	return r;
}

static int replace_at(struct jdoc **doc, const char *pointer, const struct jdoc *value,
		      struct err *err)
{
	struct place p;
	int r = check_depth(pointer, value, err);

	if (r < 0) {
		return r;
	}
	r = find_place(*doc, pointer, &p, err);
	if (r == 0 && p.node == NULL) {
		r = err_set(err, ERR_INVALID, "nothing at \"%s\"", pointer);
	} else if (r == 0 && p.parent == NULL) {
		jdoc_destroy(*doc);
		*doc = jdoc_copy(value);
	} else if (r == 0) {
		jdoc_replace_take(p.parent, p.node, jdoc_copy(value));
	}
	strbuf_finish(&p.token);
	return r;
}

static int test_at(struct jdoc *doc, const char *pointer, const struct jdoc *value, struct err *err)
{
	struct place p;
	int r = find_place(doc, pointer, &p, err);

	if (r == 0 && (p.node == NULL || !jdoc_equal(p.node, value))) {
		r = err_set(err, ERR_CONFLICT, "test failed at \"%s\"", pointer);
	}
	strbuf_finish(&p.token);
	return r;
}

/* Copying may double a document with each operation: what is copied in all is limited. */
static int count_copied(const struct jdoc *value, size_t *copied, struct err *err)
{
	struct strbuf text CLEANUP(strbuf_finish) = STRBUF_INIT;

	jdoc_format(value, &text);
	*copied += text.len;
	return *copied <= PATCH_APPLY_MAX_COPIED
		       ? 0
		       : err_set(err, ERR_INVALID, "more than %u bytes copied",
				 PATCH_APPLY_MAX_COPIED);
}

static int copy_op(struct jdoc **doc, const char *from, const char *pointer, size_t *copied,
		   struct err *err)
{
	struct jdoc *value CLEANUP(jdoc_destroyp) = NULL;
	int r = take_at(*doc, from, false, &value, err);

	if (r == 0) {
		r = count_copied(value, copied, err);
	}
	return r < 0 ? r : put_at(doc, pointer, take_ptr(&value), err);
}

static int move_op(struct jdoc **doc, const char *from, const char *pointer, struct err *err)
{
	struct jdoc *value CLEANUP(jdoc_destroyp) = NULL;
	size_t n = strlen(from);
	int r;

	if (strncmp(from, pointer, n) == 0 && pointer[n] == '/') {
		return err_set(err, ERR_INVALID, "a value cannot move into itself");
	}
	if (str_streq(from, pointer)) {
		/* Nothing moves, but the place must be there. */
		return take_at(*doc, from, false, &value, err);
	}
	r = take_at(*doc, from, true, &value, err);
	return r < 0 ? r : put_at(doc, pointer, take_ptr(&value), err);
}

static int apply_op(struct jdoc **doc, const struct jdoc *op, size_t *copied, struct err *err)
{
	const char *name = jdoc_path_str(op, "op"), *pointer = jdoc_path_str(op, "path");
	const char *from = jdoc_path_str(op, "from");
	const struct jdoc *value = jdoc_get(op, "value");
	struct jdoc *gone CLEANUP(jdoc_destroyp) = NULL;
	bool needs_value;

	if (name == NULL || pointer == NULL) {
		return err_set(err, ERR_INVALID, "\"op\" or \"path\" is missing");
	}
	needs_value =
		str_streq(name, "add") || str_streq(name, "replace") || str_streq(name, "test");
	/* A value of null is there; a missing one is an error (RFC 6902, 4). */
	if (needs_value && value == NULL) {
		return err_set(err, ERR_INVALID, "\"value\" is missing");
	}
	if (str_streq(name, "add")) {
		return put_at(doc, pointer, jdoc_copy(value), err);
	}
	if (str_streq(name, "replace")) {
		return replace_at(doc, pointer, value, err);
	}
	if (str_streq(name, "test")) {
		return test_at(*doc, pointer, value, err);
	}
	if (str_streq(name, "remove")) {
		return take_at(*doc, pointer, true, &gone, err);
	}
	if ((str_streq(name, "move") || str_streq(name, "copy")) && from == NULL) {
		return err_set(err, ERR_INVALID, "\"from\" is missing");
	}
	if (str_streq(name, "move")) {
		return move_op(doc, from, pointer, err);
	}
	if (str_streq(name, "copy")) {
		return copy_op(doc, from, pointer, copied, err);
	}
	return err_set(err, ERR_INVALID, "unknown operation \"%s\"", name);
}

int patch_apply_json(struct jdoc **doc, const struct jdoc *patch, struct err *err)
{
	struct jdoc *work CLEANUP(jdoc_destroyp) = NULL;
	struct err inner = ERR_INIT;
	size_t i = 0, copied = 0;
	int r = 0;

	if (jdoc_kind(patch) != JDOC_ARRAY) {
		return err_set(err, ERR_INVALID, "a JSON Patch is an array");
	}
	if (jdoc_count(patch) > PATCH_APPLY_MAX_OPS) {
		return err_set(err, ERR_INVALID, "more than %d operations", PATCH_APPLY_MAX_OPS);
	}
	/* On a copy: a patch that fails half-way leaves nothing behind. */
	work = jdoc_copy(*doc);
	for (const struct jdoc *op = jdoc_first(patch); op != NULL; op = jdoc_next(op)) {
		r = apply_op(&work, op, &copied, &inner);
		if (r < 0) {
			return err_set(err, inner.code, "operation %zu: %s", i, inner.text);
		}
		i++;
	}
	jdoc_destroy(*doc);
	*doc = take_ptr(&work);
	return 0;
}

static void merge_object(struct jdoc *obj, const struct jdoc *patch)
{
	for (const struct jdoc *c = jdoc_first(patch); c != NULL; c = jdoc_next(c)) {
		const char *key = jdoc_key(c);
		struct jdoc *old;

		if (jdoc_kind(c) == JDOC_NULL) {
			jdoc_remove(obj, key);
		} else if (jdoc_kind(c) != JDOC_OBJECT) {
			jdoc_set_take(obj, key, jdoc_copy(c));
		} else {
			/* Merged even into nothing, so that nulls inside are dropped. */
			old = jdoc_get_mut(obj, key);
			if (jdoc_kind(old) != JDOC_OBJECT) {
				old = jdoc_set_take(obj, key, jdoc_new_object());
			}
			merge_object(old, c);
		}
	}
}

void patch_apply_merge(struct jdoc **doc, const struct jdoc *patch)
{
	bool is_object = jdoc_kind(patch) == JDOC_OBJECT;

	if (!is_object || jdoc_kind(*doc) != JDOC_OBJECT) {
		jdoc_destroy(*doc);
		*doc = is_object ? jdoc_new_object() : jdoc_copy(patch);
	}
	if (is_object) {
		merge_object(*doc, patch);
	}
}
