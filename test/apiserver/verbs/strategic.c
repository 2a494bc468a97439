#include "apiserver/verbs/strategic.h"

#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/str.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"

struct merge_key {
	const char *parent; /* NULL: under any field */
	const char *field, *key;
};

/* From the patchMergeKey tags of k8s.io/api. Service ports merge by port, container ports by
 * containerPort. Tolerations and taints are atomic. */
static const struct merge_key merge_keys[] = {
	{ NULL, "containers", "name" },
	{ NULL, "initContainers", "name" },
	{ NULL, "ephemeralContainers", "name" },
	{ NULL, "volumes", "name" },
	{ NULL, "env", "name" },
	{ NULL, "volumeMounts", "mountPath" },
	{ NULL, "volumeDevices", "devicePath" },
	{ NULL, "imagePullSecrets", "name" },
	{ NULL, "secrets", "name" },
	{ NULL, "hostAliases", "ip" },
	{ NULL, "schedulingGates", "name" },
	{ NULL, "resourceClaims", "name" },
	{ NULL, "topologySpreadConstraints", "topologyKey" },
	{ NULL, "conditions", "type" },
	{ NULL, "ownerReferences", "uid" },
	{ NULL, "webhooks", "name" },
	{ NULL, "podIPs", "ip" },
	{ NULL, "addresses", "type" },
	{ NULL, "finalizers", "" },
	{ NULL, "podCIDRs", "" },
	{ "containers", "ports", "containerPort" },
	{ "initContainers", "ports", "containerPort" },
	{ "spec", "ports", "port" },
};

const char *strategic_merge_key(const char *parent, const char *field)
{
	for (size_t i = 0; i < ARRAY_LEN(merge_keys); i++) {
		if (str_streq(merge_keys[i].field, field) &&
		    (merge_keys[i].parent == NULL || str_streq(merge_keys[i].parent, parent))) {
			return merge_keys[i].key;
		}
	}
	return NULL;
}

static int merge_object(struct jdoc *doc, const struct jdoc *patch, const char *field,
			struct err *err);

static ssize_t find_item(const struct jdoc *list, const char *key, const struct jdoc *value)
{
	ssize_t i = 0;

	for (const struct jdoc *c = jdoc_first(list); c != NULL; c = jdoc_next(c), i++) {
		if (jdoc_equal(key[0] == '\0' ? c : jdoc_get(c, key), value)) {
			return i;
		}
	}
	return -1;
}

static bool has_directive(const struct jdoc *patch, const char *what)
{
	return jdoc_is_str(jdoc_get(patch, "$patch"), what);
}

static void strip_directives(struct jdoc *d)
{
	static const char *const exact[] = { "$patch", "$retainKeys" };
	const struct jdoc *c;

	for (size_t i = 0; i < ARRAY_LEN(exact); i++) {
		jdoc_remove(d, exact[i]);
	}
	c = jdoc_first(d);
	while (c != NULL) {
		const struct jdoc *next = jdoc_next(c);

		if (jdoc_kind(d) == JDOC_OBJECT && jdoc_key(c)[0] == '$') {
			CLEANUP(xmalloc_freep) char *key = xmalloc_dup(jdoc_key(c));

			jdoc_remove(d, key);
		}
		c = next;
	}
}

/* Null members of a patch mean removal; in something new they vanish. */
static int add_new(struct jdoc *parent_list, const struct jdoc *item, const char *field,
		   struct err *err)
{
	struct jdoc *fresh;

	if (jdoc_kind(item) != JDOC_OBJECT) {
		jdoc_append_take(parent_list, jdoc_copy(item));
		return 0;
	}
	fresh = jdoc_append_take(parent_list, jdoc_new_object());
	return merge_object(fresh, item, field, err);
}

static int merge_item(struct jdoc *list, const struct jdoc *item, const char *key,
		      const char *field, struct err *err)
{
	const struct jdoc *id = key[0] == '\0' ? item : jdoc_get(item, key);
	ssize_t at;

	if (id == NULL) {
		return err_set(err, ERR_INVALID, "map: %s does not contain declared merge key: %s",
			       field, key);
	}
	at = find_item(list, key, id);
	if (has_directive(item, "delete")) {
		if (at >= 0) {
			jdoc_remove_at(list, (size_t)at);
		}
		return 0;
	}
	if (at < 0) {
		return add_new(list, item, field, err);
	}
	return key[0] == '\0' ? 0 : merge_object(jdoc_at_mut(list, (size_t)at), item, field, err);
}

static bool list_is_replaced(const struct jdoc *patch)
{
	for (const struct jdoc *c = jdoc_first(patch); c != NULL; c = jdoc_next(c)) {
		if (has_directive(c, "replace")) {
			return true;
		}
	}
	return false;
}

static const struct jdoc *identity(const struct jdoc *item, const char *key)
{
	return key[0] == '\0' ? item : jdoc_get(item, key);
}

/* The order of a merged list: items that the patch names in its order, others in their old one. Of
 * the heads of both the old order decides when both were there, else the patch goes first. */
static struct jdoc *interleave(const struct jdoc *list, const struct jdoc *before,
			       const struct jdoc *patch, const char *key)
{
	struct jdoc *sorted = jdoc_new_array();
	const struct jdoc *p = jdoc_first(patch), *l = jdoc_first(list);

	while (p != NULL || l != NULL) {
		ssize_t at = p == NULL ? -1 : find_item(list, key, identity(p, key));
		ssize_t was_p = at < 0 ? -1 : find_item(before, key, identity(p, key));
		ssize_t was_l = l == NULL ? -1 : find_item(before, key, identity(l, key));

		if (p != NULL && at < 0) {
			p = jdoc_next(p); /* a directive, or removed */
		} else if (l != NULL && find_item(patch, key, identity(l, key)) >= 0) {
			l = jdoc_next(l); /* comes by the patch */
		} else if (p == NULL || (l != NULL && was_p >= 0 && was_l >= 0 && was_l < was_p)) {
			jdoc_append_take(sorted, jdoc_copy(l));
			l = jdoc_next(l);
		} else {
			jdoc_append_take(sorted, jdoc_copy(jdoc_at(list, (size_t)at)));
			p = jdoc_next(p);
		}
	}
	return sorted;
}

static int merge_list(struct jdoc *doc, const struct jdoc *patch, const char *key, struct err *err)
{
	const char *field = jdoc_key(patch);
	CLEANUP(jdoc_destroyp) struct jdoc *before = NULL;
	struct jdoc *list;

	if (list_is_replaced(patch)) {
		jdoc_set_take(doc, field, jdoc_new_array());
	}
	list = jdoc_ensure_array(doc, field);
	if (list == NULL) {
		return err_set(err, ERR_INVALID, "%s is not a list", field);
	}
	before = jdoc_copy(list);
	for (const struct jdoc *c = jdoc_first(patch); c != NULL; c = jdoc_next(c)) {
		int r = has_directive(c, "replace") ? 0 : merge_item(list, c, key, field, err);

		if (r < 0) {
			return r;
		}
	}
	jdoc_set_take(doc, field, interleave(list, before, patch, key));
	return 0;
}

/* $deleteFromPrimitiveList/x: [values] */
static void delete_primitives(struct jdoc *doc, const struct jdoc *directive)
{
	const char *field = strchr(jdoc_key(directive), '/');
	struct jdoc *list = field == NULL ? NULL : jdoc_get_mut(doc, field + 1);

	for (const struct jdoc *v = jdoc_first(directive); v != NULL; v = jdoc_next(v)) {
		ssize_t at = find_item(list, "", v);

		if (at >= 0) {
			jdoc_remove_at(list, (size_t)at);
		}
	}
}

/* $setElementOrder/x: the items named come first, in that order. */
static void set_order(struct jdoc *doc, const struct jdoc *directive, const char *parent)
{
	const char *slash = strchr(jdoc_key(directive), '/');
	const char *field = slash == NULL ? "" : slash + 1;
	const char *key = strategic_merge_key(parent, field);
	struct jdoc *list = jdoc_get_mut(doc, field);
	struct jdoc *sorted;

	if (key == NULL || jdoc_kind(list) != JDOC_ARRAY) {
		return;
	}
	sorted = jdoc_new_array();
	for (const struct jdoc *w = jdoc_first(directive); w != NULL; w = jdoc_next(w)) {
		ssize_t at = find_item(list, key, key[0] == '\0' ? w : jdoc_get(w, key));

		if (at >= 0) {
			jdoc_append_take(sorted, jdoc_detach(list, jdoc_at_mut(list, (size_t)at)));
		}
	}
	while (jdoc_first(list) != NULL) {
		jdoc_append_take(sorted, jdoc_detach(list, jdoc_at_mut(list, 0)));
	}
	jdoc_set_take(doc, field, sorted);
}

static void retain_keys(struct jdoc *doc, const struct jdoc *keys)
{
	const struct jdoc *c = jdoc_first(doc);

	while (c != NULL) {
		const struct jdoc *next = jdoc_next(c);
		CLEANUP(jdoc_destroyp) struct jdoc *name = jdoc_new_str(jdoc_key(c));

		if (find_item(keys, "", name) < 0) {
			jdoc_remove(doc, jdoc_str(name));
		}
		c = next;
	}
}

static int merge_member(struct jdoc *doc, const struct jdoc *p, const char *parent, struct err *err)
{
	const char *field = jdoc_key(p);
	const char *merge_key = strategic_merge_key(parent, field);
	struct jdoc *child;

	if (jdoc_kind(p) == JDOC_NULL) {
		jdoc_remove(doc, field);
		return 0;
	}
	if (jdoc_kind(p) == JDOC_ARRAY && merge_key != NULL) {
		return merge_list(doc, p, merge_key, err);
	}
	if (jdoc_kind(p) != JDOC_OBJECT) {
		jdoc_set_take(doc, field, jdoc_copy(p));
		return 0;
	}
	if (has_directive(p, "delete")) {
		jdoc_remove(doc, field);
		return 0;
	}
	if (jdoc_kind(jdoc_get(doc, field)) != JDOC_OBJECT) {
		jdoc_set_take(doc, field, jdoc_new_object());
	}
	child = jdoc_get_mut(doc, field);
	return merge_object(child, p, field, err);
}

static int merge_object(struct jdoc *doc, const struct jdoc *patch, const char *field,
			struct err *err)
{
	if (jdoc_kind(patch) != JDOC_OBJECT) {
		return err_set(err, ERR_INVALID, "%s: expected an object", field);
	}
	if (has_directive(patch, "replace")) {
		while (jdoc_first(doc) != NULL) {
			CLEANUP(xmalloc_freep) char *key = xmalloc_dup(jdoc_key(jdoc_first(doc)));

			jdoc_remove(doc, key);
		}
	}
	if (jdoc_get(patch, "$retainKeys") != NULL) {
		retain_keys(doc, jdoc_get(patch, "$retainKeys"));
	}
	for (const struct jdoc *p = jdoc_first(patch); p != NULL; p = jdoc_next(p)) {
		int r = 0;

		if (str_has_prefix(str_of(jdoc_key(p)), "$deleteFromPrimitiveList/")) {
			delete_primitives(doc, p);
		} else if (jdoc_key(p)[0] != '$') {
			r = merge_member(doc, p, field, err);
		}
		if (r < 0) {
			return r;
		}
	}
	for (const struct jdoc *p = jdoc_first(patch); p != NULL; p = jdoc_next(p)) {
		if (str_has_prefix(str_of(jdoc_key(p)), "$setElementOrder/")) {
			set_order(doc, p, field);
		}
	}
	return 0;
}

int strategic_apply(struct jdoc **doc, const struct jdoc *patch, struct err *err)
{
	int r = merge_object(*doc, patch, "", err);

	if (r == 0) {
		strip_directives(*doc);
	}
	return r;
}
