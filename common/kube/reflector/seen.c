#include "kube/reflector/seen.h"

#include <assert.h>
#include <stdlib.h>

#include "base/xmalloc.h"
#include "collections/hash.h"
#include "collections/vec.h"

/* Open addressing with linear probing; removal closes the gap, so there are no tombstones. */
struct entry {
	char *key; /* NULL: free; NUL-terminated (names hold no NUL) */
	int64_t version;
	uint32_t list;
	uint32_t hash;
};

struct seen {
	struct entry *v;
	size_t n, cap; /* cap: power of two */
};

#define CAP_MIN 16

struct seen *seen_create(void)
{
	struct seen *s = xmalloc_zero(1, sizeof(*s));

	s->cap = CAP_MIN;
	s->v = xmalloc_zero(s->cap, sizeof(s->v[0]));
	return s;
}

void seen_destroy(struct seen *s)
{
	if (s == NULL) {
		return;
	}
	for (size_t i = 0; i < s->cap; i++) {
		free(s->v[i].key);
	}
	free(s->v);
	free(s);
}

/* Slot of the key, or the free slot where it would go. */
static size_t slot_of(const struct seen *s, struct str key, uint32_t hash)
{
	size_t i = hash & (s->cap - 1);

	/* Ends, because a quarter of the slots is free. */
	while (s->v[i].key != NULL && (s->v[i].hash != hash || !str_eq_c(key, s->v[i].key))) {
		i = (i + 1) & (s->cap - 1);
	}
	return i;
}

bool seen_get(const struct seen *s, struct str key, int64_t *ret_version)
{
	const struct entry *e = &s->v[slot_of(s, key, (uint32_t)hash_of(key))];

	if (e->key == NULL) {
		return false;
	}
	*ret_version = e->version;
	return true;
}

static void grow(struct seen *s)
{
	struct entry *old = s->v;
	size_t old_cap = s->cap;

	s->cap *= 2;
	s->v = xmalloc_zero(s->cap, sizeof(s->v[0]));
	for (size_t i = 0; i < old_cap; i++) {
		if (old[i].key != NULL) {
			s->v[slot_of(s, str_of(old[i].key), old[i].hash)] = old[i];
		}
	}
	free(old);
}

void seen_set(struct seen *s, struct str key, int64_t version, uint32_t list)
{
	uint32_t hash = (uint32_t)hash_of(key);
	struct entry *e;

	if ((s->n + 1) * 4 > s->cap * 3) {
		grow(s);
	}
	e = &s->v[slot_of(s, key, hash)];
	if (e->key == NULL) {
		e->key = xmalloc_dup_n(key.p, key.len);
		e->hash = hash;
		s->n++;
	}
	e->version = version;
	e->list = list;
}

/* Frees slot i and moves later entries of its run back, so that probing never meets a gap. */
static char *take_slot(struct seen *s, size_t i)
{
	char *key = s->v[i].key;
	size_t mask = s->cap - 1;

	for (size_t j = (i + 1) & mask; s->v[j].key != NULL; j = (j + 1) & mask) {
		size_t home = s->v[j].hash & mask;

		if (((j - home) & mask) >= ((j - i) & mask)) {
			s->v[i] = s->v[j];
			i = j;
		}
	}
	s->v[i].key = NULL;
	s->n--;
	return key;
}

bool seen_remove(struct seen *s, struct str key)
{
	size_t i = slot_of(s, key, (uint32_t)hash_of(key));

	if (s->v[i].key == NULL) {
		return false;
	}
	free(take_slot(s, i));
	return true;
}

size_t seen_count(const struct seen *s)
{
	return s->n;
}

static int cmp_keys(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The removal of what a list has not shown:
 *   1. Keys are collected, not slots, because each removal moves entries.
 *   2. All are removed before fn runs: fn sees the set as it will be.
 *   3. fn gets them sorted, because nothing may depend on the order of a hash table. */
void seen_sweep(struct seen *s, uint32_t list, void (*fn)(void *ctx, struct str key), void *ctx)
{
	struct VEC(char *) gone = VEC_INIT;

	for (size_t i = 0; i < s->cap; i++) {
		if (s->v[i].key != NULL && s->v[i].list != list) {
			vec_push(&gone, s->v[i].key);
		}
	}
	for (size_t i = 0; i < gone.n; i++) {
		struct str key = str_of(gone.v[i]);

		take_slot(s, slot_of(s, key, (uint32_t)hash_of(key)));
	}
	if (gone.n > 0) {
		qsort(gone.v, gone.n, sizeof(gone.v[0]), cmp_keys);
	}
	for (size_t i = 0; i < gone.n; i++) {
		fn(ctx, str_of(gone.v[i]));
		free(gone.v[i]);
	}
	vec_finish(&gone);
}
