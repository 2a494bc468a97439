#include "base/intern.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include "base/xmalloc.h"

#define SLOTS_MIN 64u

struct name {
	struct str text;
	uint32_t hash;
};

/* Open addressing with linear probing; a slot holds id + 1, 0 is free. Nothing is ever removed. */
struct intern {
	struct arena *arena;
	struct VEC(struct name) names;
	uint32_t *slots;
	uint32_t nslots; /* power of two, more than 4/3 of the names */
	uint32_t max;
};

struct intern *intern_create(void)
{
	return intern_create_max(INTERN_MAX);
}

struct intern *intern_create_max(uint32_t max)
{
	struct intern *t = xmalloc_zero(1, sizeof(*t));

	assert(max >= 1 && max <= INTERN_MAX);
	t->arena = arena_create(0);
	t->nslots = SLOTS_MIN;
	t->slots = xmalloc_zero(t->nslots, sizeof(t->slots[0]));
	t->max = max;
	return t;
}

void intern_destroy(struct intern *t)
{
	if (t == NULL) {
		return;
	}
	arena_destroy(t->arena);
	vec_finish(&t->names);
	free(t->slots);
	free(t);
}

/* The slot where name is, or the free one where it belongs. */
static uint32_t probe(const struct intern *t, struct str name, uint32_t hash)
{
	uint32_t i = hash & (t->nslots - 1);

	while (t->slots[i] != 0) {
		const struct name *n = &t->names.v[t->slots[i] - 1];

		if (n->hash == hash && str_eq(n->text, name)) {
			break;
		}
		i = (i + 1) & (t->nslots - 1);
	}
	return i;
}

static void enlarge(struct intern *t)
{
	free(t->slots);
	t->nslots *= 2;
	t->slots = xmalloc_zero(t->nslots, sizeof(t->slots[0]));
	for (size_t id = 0; id < t->names.n; id++) {
		uint32_t i = t->names.v[id].hash & (t->nslots - 1);

		while (t->slots[i] != 0) {
			i = (i + 1) & (t->nslots - 1);
		}
		t->slots[i] = (uint32_t)id + 1;
	}
}

uint32_t intern_id(struct intern *t, struct str name)
{
	uint32_t hash = (uint32_t)hash_of(name);
	uint32_t i = probe(t, name, hash);
	struct name added = { .hash = hash };

	if (t->slots[i] != 0) {
		return t->slots[i] - 1;
	}
	if (t->names.n >= t->max) {
		return INTERN_NONE;
	}
	if (t->names.n + 1 > t->nslots / 4 * 3) {
		enlarge(t);
		i = probe(t, name, hash);
	}
	added.text = (struct str){ arena_dup_n(t->arena, name.p, name.len), name.len };
	vec_push(&t->names, added);
	t->slots[i] = (uint32_t)t->names.n;
	return (uint32_t)t->names.n - 1;
}

uint32_t intern_find(const struct intern *t, struct str name)
{
	uint32_t slot = t->slots[probe(t, name, (uint32_t)hash_of(name))];

	return slot == 0 ? INTERN_NONE : slot - 1;
}

const char *intern_name(const struct intern *t, uint32_t id)
{
	return intern_str(t, id).p;
}

struct str intern_str(const struct intern *t, uint32_t id)
{
	assert(id < t->names.n);
	return t->names.v[id].text;
}

uint32_t intern_count(const struct intern *t)
{
	return (uint32_t)t->names.n;
}
