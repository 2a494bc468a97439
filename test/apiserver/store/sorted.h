/* test/apiserver/store/sorted.h: objects ordered by key, in blocks of bounded size: O(log n)
 * look-up, cheap insertion in the middle at hundreds of thousands of entries. Holds one reference
 * per entry. Positions are valid until the next change. Owner: one thread. */
#ifndef TEST_APISERVER_STORE_SORTED_H
#define TEST_APISERVER_STORE_SORTED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct object;
struct sorted_block;

struct sorted {
	struct sorted_block **blocks;
	size_t n_blocks, cap_blocks;
	size_t count;
};

struct sorted_pos {
	size_t block, slot;
};

void sorted_init(struct sorted *s);
void sorted_finish(struct sorted *s);
struct object *sorted_find(const struct sorted *s, struct str key); /* borrowed; NULL: absent */
/* Adds o or replaces the entry of the same key. Takes a reference of its own. */
void sorted_put(struct sorted *s, struct object *o);
bool sorted_remove(struct sorted *s, struct str key);
/* First entry with a key >= key (> key with after). */
struct sorted_pos sorted_seek(const struct sorted *s, struct str key, bool after);
/* The entry at *pos, moving *pos behind it; NULL at the end. */
struct object *sorted_next(const struct sorted *s, struct sorted_pos *pos);

#endif
