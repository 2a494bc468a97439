#include "collections/strmap.h"

#include <stdlib.h>

#include "base/xmalloc.h"
#include "collections/hash.h"

#define uthash_malloc(size) xmalloc(size)
#define uthash_fatal(msg) abort()
#define HASH_FUNCTION(key, len, hashv)                                                             \
	((hashv) = (unsigned)hash_of((struct str){ (const char *)(key), (len) }))
#include <uthash.h>

struct entry {
	UT_hash_handle hh;
	void *value;
	size_t len;
	char key[];
};

struct strmap {
	struct entry *head; /* uthash keeps the entries linked in insertion order */
	strmap_free_fn free_value;
};

static struct entry *find(const struct strmap *m, struct str key)
{
	const char *p = key.p == NULL ? "" : key.p;
	struct entry *e = NULL;

	HASH_FIND(hh, m->head, p, key.len, e);
	return e;
}

static void free_value(struct strmap *m, void *value)
{
	if (m->free_value != NULL) {
		m->free_value(value);
	}
}

static void *detach(struct strmap *m, struct entry *e)
{
	void *value = e->value;

	HASH_DEL(m->head, e);
	free(e);
	return value;
}

struct strmap *strmap_create(strmap_free_fn free_fn)
{
	struct strmap *m = xmalloc_zero(1, sizeof(*m));

	m->free_value = free_fn;
	return m;
}

void strmap_destroy(struct strmap *m)
{
	if (m == NULL) {
		return;
	}
	strmap_clear(m);
	free(m);
}

void strmap_destroyp(struct strmap **pm)
{
	strmap_destroy(*pm);
	*pm = NULL;
}

void *strmap_get(const struct strmap *m, struct str key)
{
	const struct entry *e = find(m, key);

	return e == NULL ? NULL : e->value;
}

const char *strmap_key(const struct strmap *m, struct str key)
{
	const struct entry *e = find(m, key);

	return e == NULL ? NULL : e->key;
}

bool strmap_has(const struct strmap *m, struct str key)
{
	return find(m, key) != NULL;
}

void strmap_set(struct strmap *m, struct str key, void *value)
{
	struct entry *e = find(m, key);
	void *old;

	if (e != NULL) {
		/* The entry keeps its place in the order. */
		old = e->value;
		e->value = value;
		if (old != value) {
			free_value(m, old);
		}
		return;
	}
	e = xmalloc(sizeof(*e) + key.len + 1);
	e->value = value;
	e->len = key.len;
	if (key.len > 0) {
		memcpy(e->key, key.p, key.len);
	}
	e->key[key.len] = '\0';
	HASH_ADD_KEYPTR(hh, m->head, e->key, e->len, e);
}

void *strmap_take(struct strmap *m, struct str key)
{
	struct entry *e = find(m, key);

	return e == NULL ? NULL : detach(m, e);
}

bool strmap_remove(struct strmap *m, struct str key)
{
	struct entry *e = find(m, key);

	if (e == NULL) {
		return false;
	}
	free_value(m, detach(m, e));
	return true;
}

size_t strmap_count(const struct strmap *m)
{
	return HASH_COUNT(m->head);
}

void strmap_each(const struct strmap *m, strmap_each_fn fn, void *ctx)
{
	for (const struct entry *e = m->head; e != NULL; e = e->hh.next) {
		if (!fn((struct str){ e->key, e->len }, e->value, ctx)) {
			return;
		}
	}
}

void strmap_clear(struct strmap *m)
{
	struct entry *e = m->head;
	struct entry *next;

	/* The whole table first: then entries need not be unlinked one by one. */
	HASH_CLEAR(hh, m->head);
	for (; e != NULL; e = next) {
		next = e->hh.next;
		free_value(m, e->value);
		free(e);
	}
}
