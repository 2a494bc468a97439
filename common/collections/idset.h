/* common/collections/idset.h: sorted set of dense ids (those of slots.h), 64 of them in a word. It
 * takes 16 bytes for each word that has one: a quarter of a byte for an id where they are dense, 16
 * bytes where they are far apart.
 *   struct idset s = IDSET_INIT;
 *   idset_add(&s, 7);  idset_has(&s, 7)
 *   for (struct idset_cursor c = IDSET_FIRST; idset_next(&s, &c);) { c.id }
 *   idset_finish(&s);
 * Adding and removing cost O(log words) and the shift of the words behind. Owner: one thread. */
#ifndef COMMON_COLLECTIONS_IDSET_H
#define COMMON_COLLECTIONS_IDSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collections/vec.h"

struct idset_word {
	uint64_t bits; /* never 0 */
	uint32_t at;   /* bit i is the id 64 * at + i */
};

struct idset {
	struct VEC(struct idset_word) words; /* by at */
};
#define IDSET_INIT                                                                                 \
	{                                                                                          \
		VEC_INIT                                                                           \
	}

/* False: it was there already, or was not there. */
bool idset_add(struct idset *s, uint32_t id);
bool idset_remove(struct idset *s, uint32_t id);
bool idset_has(const struct idset *s, uint32_t id);
bool idset_equal(const struct idset *a, const struct idset *b);
size_t idset_count(const struct idset *s); /* O(words) */
void idset_finish(struct idset *s);

static inline bool idset_is_empty(const struct idset *s)
{
	return s->words.n == 0;
}

/* Goes through the ids in rising order. The set must not change meanwhile. */
struct idset_cursor {
	size_t word;   /* index of the next one */
	uint64_t left; /* of the bits of the one before */
	uint32_t id;
};
#define IDSET_FIRST                                                                                \
	{                                                                                          \
		0, 0, 0                                                                            \
	}

static inline bool idset_next(const struct idset *s, struct idset_cursor *c)
{
	if (c->left == 0) {
		if (c->word == s->words.n) {
			return false;
		}
		c->left = s->words.v[c->word++].bits;
	}
	c->id = 64 * s->words.v[c->word - 1].at + (uint32_t)__builtin_ctzll(c->left);
	c->left &= c->left - 1;
	return true;
}

#endif
