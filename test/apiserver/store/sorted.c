#include "apiserver/store/sorted.h"

#include <stdlib.h>
#include <string.h>

#include "apiserver/store/object.h"
#include "base/xmalloc.h"
#include "collections/vec.h"

#define BLOCK_MAX 256

struct sorted_block {
	size_t n;
	struct object *v[BLOCK_MAX];
};

/* Bytewise order, as etcd has it. */
static int key_cmp(struct str a, struct str b)
{
	size_t n = a.len < b.len ? a.len : b.len;
	int r = n == 0 ? 0 : memcmp(a.p, b.p, n);

	return r != 0 ? r : (a.len > b.len) - (a.len < b.len);
}

void sorted_init(struct sorted *s)
{
	memset(s, 0, sizeof(*s));
}

void sorted_finish(struct sorted *s)
{
	for (size_t b = 0; b < s->n_blocks; b++) {
		for (size_t i = 0; i < s->blocks[b]->n; i++) {
			object_unref(s->blocks[b]->v[i]);
		}
		free(s->blocks[b]);
	}
	free(s->blocks);
	sorted_init(s);
}

struct sorted_pos sorted_seek(const struct sorted *s, struct str key, bool after)
{
	size_t lo = 0, hi = s->n_blocks;
	struct sorted_pos pos;

	while (lo < hi) { /* first block with a last key >= the wanted one */
		size_t mid = lo + (hi - lo) / 2;
		const struct sorted_block *b = s->blocks[mid];
		int r = key_cmp(b->v[b->n - 1]->key, key);

		if (r < 0 || (after && r == 0)) {
			lo = mid + 1;
		} else {
			hi = mid;
		}
	}
	pos.block = lo;
	pos.slot = 0;
	if (lo == s->n_blocks) {
		return pos;
	}
	hi = s->blocks[lo]->n;
	while (pos.slot < hi) {
		size_t mid = pos.slot + (hi - pos.slot) / 2;
		int r = key_cmp(s->blocks[lo]->v[mid]->key, key);

		if (r < 0 || (after && r == 0)) {
			pos.slot = mid + 1;
		} else {
			hi = mid;
		}
	}
	return pos;
}

struct object *sorted_next(const struct sorted *s, struct sorted_pos *pos)
{
	struct object *o;

	if (pos->block >= s->n_blocks) {
		return NULL;
	}
	o = s->blocks[pos->block]->v[pos->slot];
	pos->slot++;
	if (pos->slot == s->blocks[pos->block]->n) {
		pos->block++;
		pos->slot = 0;
	}
	return o;
}

struct object *sorted_find(const struct sorted *s, struct str key)
{
	struct sorted_pos pos = sorted_seek(s, key, false);
	struct object *o = sorted_next(s, &pos);

	return o != NULL && str_eq(o->key, key) ? o : NULL;
}

static void insert_block(struct sorted *s, size_t at, struct sorted_block *b)
{
	vec_grow((void **)&s->blocks, &s->cap_blocks, s->n_blocks + 1, sizeof(s->blocks[0]));
	memmove(s->blocks + at + 1, s->blocks + at, (s->n_blocks - at) * sizeof(s->blocks[0]));
	s->blocks[at] = b;
	s->n_blocks++;
}

/* Keys mostly arrive in order (generated names do not, but nothing is worse than half full). */
static void split(struct sorted *s, struct sorted_pos *pos)
{
	struct sorted_block *old = s->blocks[pos->block];
	struct sorted_block *new = xmalloc_zero(1, sizeof(*new));
	size_t keep = pos->slot == BLOCK_MAX ? BLOCK_MAX - 1 : BLOCK_MAX / 2;

	new->n = old->n - keep;
	memcpy(new->v, old->v + keep, new->n * sizeof(old->v[0]));
	old->n = keep;
	insert_block(s, pos->block + 1, new);
	if (pos->slot > keep) {
		pos->block++;
		pos->slot -= keep;
	}
}

void sorted_put(struct sorted *s, struct object *o)
{
	struct sorted_pos pos = sorted_seek(s, o->key, false);
	struct sorted_block *b;

	if (s->n_blocks == 0) {
		insert_block(s, 0, xmalloc_zero(1, sizeof(*b)));
	}
	if (pos.block == s->n_blocks) {
		pos.block--;
		pos.slot = s->blocks[pos.block]->n;
	}
	b = s->blocks[pos.block];
	if (pos.slot < b->n && str_eq(b->v[pos.slot]->key, o->key)) {
		object_ref(o);
		object_unref(b->v[pos.slot]);
		b->v[pos.slot] = o;
		return;
	}
	if (b->n == BLOCK_MAX) {
		split(s, &pos);
		b = s->blocks[pos.block];
	}
	memmove(b->v + pos.slot + 1, b->v + pos.slot, (b->n - pos.slot) * sizeof(b->v[0]));
	b->v[pos.slot] = object_ref(o);
	b->n++;
	s->count++;
}

bool sorted_remove(struct sorted *s, struct str key)
{
	struct sorted_pos pos = sorted_seek(s, key, false);
	struct sorted_block *b;

	if (pos.block >= s->n_blocks || !str_eq(s->blocks[pos.block]->v[pos.slot]->key, key)) {
		return false;
	}
	b = s->blocks[pos.block];
	object_unref(b->v[pos.slot]);
	b->n--;
	memmove(b->v + pos.slot, b->v + pos.slot + 1, (b->n - pos.slot) * sizeof(b->v[0]));
	s->count--;
	if (b->n == 0) {
		free(b);
		s->n_blocks--;
		memmove(s->blocks + pos.block, s->blocks + pos.block + 1,
			(s->n_blocks - pos.block) * sizeof(s->blocks[0]));
	}
	return true;
}
