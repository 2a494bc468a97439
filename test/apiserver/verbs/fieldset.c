#include "apiserver/verbs/fieldset.h"

#include <stdlib.h>
#include <string.h>

#include "apiserver/verbs/strategic.h"
#include "base/attrs.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "schema/schema.h"

struct fieldset_type fieldset_type_root(bool is_custom, const struct jdoc *schema)
{
	return (struct fieldset_type){ is_custom, schema, "", "" };
}

static struct fieldset_type member_type(struct fieldset_type t, const char *name)
{
	return (struct fieldset_type){ t.is_custom, schema_member(t.schema, name), t.field, name };
}

static struct fieldset_type item_type(struct fieldset_type t)
{
	return (struct fieldset_type){ t.is_custom, jdoc_get(t.schema, "items"), t.parent,
				       t.field };
}

/* The keys of an associative list as an array of names (empty array: a set); NULL: atomic. */
static struct jdoc *list_keys(struct fieldset_type t)
{
	const struct jdoc *type = jdoc_get(t.schema, "x-kubernetes-list-type");
	const char *key;
	struct jdoc *keys;

	if (t.is_custom && jdoc_is_str(type, "map")) {
		return jdoc_copy(jdoc_get(t.schema, "x-kubernetes-list-map-keys"));
	}
	if (t.is_custom && jdoc_is_str(type, "set")) {
		return jdoc_new_array();
	}
	key = strategic_merge_key(t.parent, t.field);
	if (key == NULL || (t.is_custom && !str_streq(t.field, "finalizers") &&
			    !str_streq(t.field, "ownerReferences"))) {
		return NULL;
	}
	keys = jdoc_new_array();
	if (key[0] != '\0') {
		jdoc_append_take(keys, jdoc_new_str(key));
	}
	return keys;
}

/* The path element of an item: k:{...} or v:..., NULL when a key is missing. Caller frees. */
static char *item_name(const struct jdoc *item, const struct jdoc *keys)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *id = NULL;

	if (jdoc_first(keys) == NULL) {
		strbuf_add_c(&text, "v:");
		jdoc_format(item, &text);
		return strbuf_steal(&text, NULL);
	}
	id = jdoc_new_object();
	for (const struct jdoc *k = jdoc_first(keys); k != NULL; k = jdoc_next(k)) {
		const struct jdoc *v = jdoc_get(item, jdoc_str_or(k, ""));

		if (v == NULL) {
			return NULL;
		}
		jdoc_set_take(id, jdoc_str(k), jdoc_copy(v));
	}
	strbuf_add_c(&text, "k:");
	jdoc_format(id, &text);
	return strbuf_steal(&text, NULL);
}

static bool fits_id(const struct jdoc *item, const struct jdoc *id)
{
	for (const struct jdoc *k = jdoc_first(id); k != NULL; k = jdoc_next(k)) {
		if (!jdoc_equal(jdoc_get(item, jdoc_key(k)), k)) {
			return false;
		}
	}
	return true;
}

/* The index of the item that a k: or v: element names, -1: none. */
static long item_index(const struct jdoc *list, const char *element)
{
	CLEANUP(jdoc_destroyp) struct jdoc *id = NULL;
	long i = 0;

	if (jdoc_kind(list) != JDOC_ARRAY || jdoc_parse(str_of(element + 2), &id, NULL) < 0) {
		return -1;
	}
	for (const struct jdoc *c = jdoc_first(list); c != NULL; c = jdoc_next(c), i++) {
		if (element[0] == 'k' ? fits_id(c, id) : jdoc_equal(c, id)) {
			return i;
		}
	}
	return -1;
}

static const struct jdoc *child(const struct jdoc *doc, const char *element)
{
	long i;

	if (element[0] == 'f') {
		return jdoc_kind(doc) == JDOC_OBJECT ? jdoc_get(doc, element + 2) : NULL;
	}
	if (element[0] == '.') {
		return doc;
	}
	i = item_index(doc, element);
	return i < 0 ? NULL : jdoc_at(doc, (size_t)i);
}

static bool is_leaf(const struct jdoc *set)
{
	return jdoc_first(set) == NULL;
}

/* Applying {} says that the object exists, and nothing about its members. */
static bool is_empty_object(const struct jdoc *d)
{
	return jdoc_kind(d) == JDOC_OBJECT && jdoc_first(d) == NULL;
}

bool fieldset_is_empty(const struct jdoc *set)
{
	return is_leaf(set);
}

static bool is_identity(struct fieldset_type t, const char *name)
{
	static const char *const meta[] = { "name",
					    "namespace",
					    "uid",
					    "resourceVersion",
					    "generation",
					    "creationTimestamp",
					    "deletionTimestamp",
					    "deletionGracePeriodSeconds",
					    "managedFields",
					    "selfLink",
					    "generateName" };

	if (t.field[0] == '\0') {
		return str_streq(name, "apiVersion") || str_streq(name, "kind");
	}
	for (size_t i = 0;
	     str_streq(t.field, "metadata") && t.parent[0] == '\0' && i < ARRAY_LEN(meta); i++) {
		if (str_streq(name, meta[i])) {
			return true;
		}
	}
	return false;
}

/* Paths of new, or (old given) only those that differ from old. NULL: nothing. */
static struct jdoc *collect(const struct jdoc *old, const struct jdoc *new, bool diff,
			    struct fieldset_type t);

static void collect_items(struct jdoc *set, const struct jdoc *old, const struct jdoc *new,
			  bool diff, struct fieldset_type t)
{
	CLEANUP(jdoc_destroyp) struct jdoc *keys = list_keys(t);

	for (const struct jdoc *c = jdoc_first(new); c != NULL; c = jdoc_next(c)) {
		CLEANUP(xmalloc_freep) char *name = item_name(c, keys);
		const struct jdoc *before = name == NULL ? NULL : child(old, name);
		struct jdoc *sub;

		if (name == NULL) {
			continue;
		}
		sub = collect(before, c, diff, item_type(t));
		if (sub == NULL) {
			continue;
		}
		if (name[0] == 'k' && before == NULL) {
			jdoc_set_take(sub, ".", jdoc_new_object());
		}
		jdoc_set_take(set, name, sub);
	}
}

static void collect_members(struct jdoc *set, const struct jdoc *old, const struct jdoc *new,
			    bool diff, struct fieldset_type t)
{
	for (const struct jdoc *m = jdoc_first(new); m != NULL; m = jdoc_next(m)) {
		CLEANUP(xmalloc_freep) char *name = xmalloc_printf("f:%s", jdoc_key(m));
		struct jdoc *sub;

		if (is_identity(t, jdoc_key(m))) {
			continue;
		}
		sub = collect(child(old, name), m, diff, member_type(t, jdoc_key(m)));
		if (sub != NULL) {
			jdoc_set_take(set, name, sub);
		}
	}
}

static struct jdoc *collect(const struct jdoc *old, const struct jdoc *new, bool diff,
			    struct fieldset_type t)
{
	struct jdoc *set;
	CLEANUP(jdoc_destroyp) struct jdoc *keys = NULL;

	if (diff && jdoc_equal(old, new)) {
		return NULL;
	}
	set = jdoc_new_object();
	if (jdoc_kind(new) == JDOC_OBJECT && jdoc_first(new) != NULL) {
		collect_members(set, old, new, diff, t);
	} else if (jdoc_kind(new) == JDOC_ARRAY && jdoc_first(new) != NULL) {
		keys = list_keys(t);
		if (keys != NULL) {
			collect_items(set, old, new, diff, t);
		} else {
			return set;
		}
	} else {
		return set;
	}
	if (is_leaf(set)) {
		jdoc_destroy(set);
		return NULL;
	}
	return set;
}

struct jdoc *fieldset_of(const struct jdoc *doc, struct fieldset_type type)
{
	struct jdoc *set = collect(NULL, doc, false, type);

	return set != NULL ? set : jdoc_new_object();
}

struct jdoc *fieldset_changed(const struct jdoc *old, const struct jdoc *new,
			      struct fieldset_type type)
{
	struct jdoc *set = collect(old, new, true, type);

	return set != NULL ? set : jdoc_new_object();
}

void fieldset_subtract(struct jdoc *set, const struct jdoc *other)
{
	for (const struct jdoc *o = jdoc_first(other); o != NULL; o = jdoc_next(o)) {
		struct jdoc *mine = jdoc_get_mut(set, jdoc_key(o));

		if (mine == NULL) {
			continue;
		}
		if (is_leaf(o) || is_leaf(mine)) {
			if (is_leaf(o) && is_leaf(mine)) {
				jdoc_remove(set, jdoc_key(o));
			}
			continue; /* an empty object's own path is not that of its members */
		}
		fieldset_subtract(mine, o);
		if (is_leaf(mine)) {
			jdoc_remove(set, jdoc_key(o));
		}
	}
}

void fieldset_add(struct jdoc *set, const struct jdoc *other)
{
	for (const struct jdoc *o = jdoc_first(other); o != NULL; o = jdoc_next(o)) {
		struct jdoc *mine = jdoc_get_mut(set, jdoc_key(o));

		if (mine == NULL || is_leaf(mine)) {
			jdoc_set_take(set, jdoc_key(o), jdoc_copy(o));
		} else if (!is_leaf(o)) {
			fieldset_add(mine, o);
		}
	}
}

struct jdoc *fieldset_disputed(const struct jdoc *set, const struct jdoc *other,
			       const struct jdoc *a, const struct jdoc *b)
{
	struct jdoc *res = jdoc_new_object();

	for (const struct jdoc *s = jdoc_first(set); s != NULL; s = jdoc_next(s)) {
		const char *name = jdoc_key(s);
		const struct jdoc *o = jdoc_get(other, name);
		struct jdoc *sub;

		if (o == NULL || name[0] == '.') {
			continue;
		}
		if (is_leaf(s) || is_leaf(o)) {
			const struct jdoc *x = child(a, name), *y = child(b, name);
			/* Owning an empty object is not owning its members. */
			bool vague = jdoc_kind(x) == JDOC_OBJECT && jdoc_kind(y) == JDOC_OBJECT &&
				     (is_leaf(s) != is_leaf(o) || is_empty_object(x) ||
				      is_empty_object(y));

			if (!vague && !jdoc_equal(x, y)) {
				jdoc_set_take(res, name, jdoc_copy(is_leaf(s) ? s : o));
			}
			continue;
		}
		sub = fieldset_disputed(s, o, child(a, name), child(b, name));
		if (is_leaf(sub)) {
			jdoc_destroy(sub);
		} else {
			jdoc_set_take(res, name, sub);
		}
	}
	return res;
}

/* The child in `to`, made when absent: an object or array as in `from`, or the whole item. */
static struct jdoc *make_child(struct jdoc *to, const char *element, const struct jdoc *from)
{
	struct jdoc *c;
	long i;

	if (element[0] == 'f') {
		c = jdoc_get_mut(to, element + 2);
		if (c == NULL || jdoc_kind(c) != jdoc_kind(from)) {
			c = jdoc_set_take(to, element + 2,
					  jdoc_kind(from) == JDOC_ARRAY ? jdoc_new_array()
									: jdoc_new_object());
		}
		return c;
	}
	i = item_index(to, element);
	return i >= 0 ? jdoc_at_mut(to, (size_t)i) : jdoc_append_take(to, jdoc_copy(from));
}

void fieldset_copy(const struct jdoc *set, const struct jdoc *from, struct jdoc *to)
{
	for (const struct jdoc *s = jdoc_first(set); s != NULL; s = jdoc_next(s)) {
		const char *name = jdoc_key(s);
		const struct jdoc *value = child(from, name);

		if (name[0] == '.' || value == NULL) {
			continue;
		}
		if (!is_leaf(s)) {
			fieldset_copy(s, value, make_child(to, name, value));
		} else if (name[0] == 'f') {
			if (!is_empty_object(value) ||
			    jdoc_kind(jdoc_get(to, name + 2)) != JDOC_OBJECT) {
				jdoc_set_take(to, name + 2, jdoc_copy(value));
			}
		} else if (item_index(to, name) < 0) {
			jdoc_append_take(to, jdoc_copy(value));
		}
	}
}

static void remove_child(struct jdoc *doc, const char *element)
{
	long i;

	if (element[0] == 'f') {
		jdoc_remove(doc, element + 2);
		return;
	}
	i = item_index(doc, element);
	if (i >= 0) {
		jdoc_remove_at(doc, (size_t)i);
	}
}

void fieldset_remove(const struct jdoc *set, struct jdoc *doc)
{
	for (const struct jdoc *s = jdoc_first(set); s != NULL; s = jdoc_next(s)) {
		const char *name = jdoc_key(s);
		const struct jdoc *have = child(doc, name);

		if (have == NULL || name[0] == '.') {
			continue;
		}
		if (is_leaf(s) && jdoc_kind(have) == JDOC_OBJECT && jdoc_first(have) != NULL) {
			continue; /* an object that was applied empty and has members of others */
		}
		/* an item that was owned as such goes as a whole */
		if (is_leaf(s) || jdoc_get(s, ".") != NULL) {
			remove_child(doc, name);
			continue;
		}
		fieldset_remove(s, name[0] == 'f'
					   ? jdoc_get_mut(doc, name + 2)
					   : jdoc_at_mut(doc, (size_t)item_index(doc, name)));
		if (jdoc_first(child(doc, name)) == NULL) {
			remove_child(doc, name);
		}
	}
}

void fieldset_paths(const struct jdoc *set, const char *prefix, struct jdoc *out)
{
	for (const struct jdoc *s = jdoc_first(set); s != NULL; s = jdoc_next(s)) {
		const char *name = jdoc_key(s);
		CLEANUP(xmalloc_freep)
		char *path = name[0] == 'f' ? xmalloc_printf("%s.%s", prefix, name + 2)
					    : xmalloc_printf("%s[%s]", prefix, name + 2);

		if (name[0] == '.') {
			continue;
		}
		if (is_leaf(s)) {
			jdoc_append_take(out, jdoc_new_str(path));
		} else {
			fieldset_paths(s, path, out);
		}
	}
}
