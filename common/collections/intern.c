#include "collections/intern.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "collections/hash.h"
#include "collections/vec.h"

#define SLOTS_MIN 64u
#define SLACK_BYTES (1u << 20) /* not worth a sweep */

struct text {
	uint32_t id;
	bool marked, kept;
	char bytes[];
};

struct name {
	struct text *text; /* NULL: the id is free */
	size_t len;
	uint32_t hash;
};

/* Open addressing with linear probing; a slot holds id + 1, 0 is free. The slots are rebuilt by
 * rehash(), which leaves swept names out. */
struct intern {
	struct VEC(struct name) names;
	struct VEC(uint32_t) gaps; /* free ids; the last one is used next */
	uint32_t *slots;
	uint32_t nslots; /* power of two, more than 4/3 of the names */
	uint32_t max;
	size_t bytes, bytes_swept; /* of all names now, and after the last sweep */
};

struct intern *intern_create(void)
{
	return intern_create_max(INTERN_MAX);
}

struct intern *intern_create_max(uint32_t max)
{
	struct intern *t = xmalloc_zero(1, sizeof(*t));

	assert(max >= 1 && max <= INTERN_MAX);
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
	for (size_t id = 0; id < t->names.n; id++) {
		free(t->names.v[id].text);
	}
	vec_finish(&t->names);
	vec_finish(&t->gaps);
	free(t->slots);
	free(t);
}

static bool is_name(const struct name *n, struct str name, uint32_t hash)
{
	return n->hash == hash && str_eq((struct str){ n->text->bytes, n->len }, name);
}

/* The slot of name, or the free slot where it would be added. */
static uint32_t probe(const struct intern *t, struct str name, uint32_t hash)
{
	uint32_t i = hash & (t->nslots - 1);

	while (t->slots[i] != 0 && !is_name(&t->names.v[t->slots[i] - 1], name, hash)) {
		i = (i + 1) & (t->nslots - 1);
	}
	return i;
}

/* Rebuilds the slots with room for one more name. The size starts at the least one, so that the
 * table shrinks after a sweep. */
static void rehash(struct intern *t)
{
	free(t->slots);
	t->nslots = SLOTS_MIN;
	while (intern_live(t) + 1 > t->nslots / 4 * 3) {
		t->nslots *= 2;
	}
	t->slots = xmalloc_zero(t->nslots, sizeof(t->slots[0]));
	for (size_t id = 0; id < t->names.n; id++) {
		uint32_t i = t->names.v[id].hash & (t->nslots - 1);

		if (t->names.v[id].text == NULL) {
			continue;
		}
		while (t->slots[i] != 0) {
			i = (i + 1) & (t->nslots - 1);
		}
		t->slots[i] = (uint32_t)id + 1;
	}
}

static size_t bytes_of(size_t len)
{
	return sizeof(struct name) + sizeof(struct text) + len + 1;
}

static uint32_t new_id(struct intern *t)
{
	if (t->gaps.n > 0) {
		return vec_pop(&t->gaps);
	}
	vec_push(&t->names, (struct name){ .text = NULL });
	return (uint32_t)t->names.n - 1;
}

uint32_t intern_id(struct intern *t, struct str name)
{
	uint32_t hash = (uint32_t)hash_of(name);
	uint32_t i = probe(t, name, hash), id;
	struct text *text;

	if (t->slots[i] != 0) {
		return t->slots[i] - 1;
	}
	if (intern_live(t) >= t->max) {
		return INTERN_NONE;
	}
	if (intern_live(t) + 1 > t->nslots / 4 * 3) {
		rehash(t);
		i = probe(t, name, hash);
	}
	id = new_id(t);
	text = xmalloc(sizeof(*text) + name.len + 1);
	text->id = id;
	text->marked = text->kept = false;
	if (name.len > 0) {
		memcpy(text->bytes, name.p, name.len);
	}
	text->bytes[name.len] = '\0';
	t->names.v[id] = (struct name){ .text = text, .len = name.len, .hash = hash };
	t->slots[i] = id + 1;
	t->bytes += bytes_of(name.len);
	return id;
}

uint32_t intern_find(const struct intern *t, struct str name)
{
	uint32_t slot = t->slots[probe(t, name, (uint32_t)hash_of(name))];

	return slot == 0 ? INTERN_NONE : slot - 1;
}

const char *intern_name(const struct intern *t, uint32_t id)
{
	assert(id < t->names.n && t->names.v[id].text != NULL);
	return t->names.v[id].text->bytes;
}

struct str intern_str(const struct intern *t, uint32_t id)
{
	const struct name *n;

	assert(id < t->names.n);
	n = &t->names.v[id];
	return n->text == NULL ? (struct str){ NULL, 0 } : (struct str){ n->text->bytes, n->len };
}

uint32_t intern_count(const struct intern *t)
{
	return (uint32_t)t->names.n;
}

uint32_t intern_live(const struct intern *t)
{
	return (uint32_t)(t->names.n - t->gaps.n);
}

bool intern_wants_sweep(const struct intern *t)
{
	return t->bytes > 2 * t->bytes_swept + SLACK_BYTES;
}

void intern_mark(struct intern *t, uint32_t id)
{
	if (id != INTERN_NONE) {
		assert(id < t->names.n && t->names.v[id].text != NULL);
		t->names.v[id].text->marked = true;
	}
}

void intern_mark_name(struct intern *t, const char *name)
{
	struct text *text;

	if (name == NULL) {
		return;
	}
	/* The name is that of a struct text, so its id need not be searched for. */
	text = (struct text *)((uintptr_t)name - offsetof(struct text, bytes));
	assert(text->id < t->names.n && t->names.v[text->id].text == text);
	text->marked = true;
}

void intern_keep(struct intern *t, uint32_t id)
{
	assert(id < t->names.n && t->names.v[id].text != NULL);
	t->names.v[id].text->kept = true;
}

void intern_sweep(struct intern *t)
{
	vec_clear(&t->gaps);
	t->bytes = 0;
	/* From the greatest id down: new_id takes the last gap, the least id, and the ids stay
	 * dense. */
	for (size_t id = t->names.n; id-- > 0;) {
		struct name *n = &t->names.v[id];

		if (n->text != NULL && (n->text->marked || n->text->kept)) {
			n->text->marked = false;
			t->bytes += bytes_of(n->len);
			continue;
		}
		free(n->text);
		*n = (struct name){ .text = NULL };
		vec_push(&t->gaps, (uint32_t)id);
	}
	t->bytes_swept = t->bytes;
	rehash(t);
}
