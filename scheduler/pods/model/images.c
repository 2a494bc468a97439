#include "scheduler/pods/model/images.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "scheduler/pods/values/pod_class.h"

void images_begin(struct cluster *c)
{
	c->image_by_name = strmap_create(NULL);
}

static void free_image(struct image *i)
{
	free(i->name);
	free(i);
}

void images_finish(struct cluster *c)
{
	for (size_t i = 0; i < c->images.n; i++) {
		if (c->images.v[i] != NULL) {
			free_image(c->images.v[i]);
		}
	}
	slots_finish(&c->images);
	strmap_destroy(c->image_by_name);
}

struct image *images_find(const struct cluster *c, struct str name)
{
	return strmap_get(c->image_by_name, name);
}

struct image *images_add(struct cluster *c, struct str name)
{
	struct image *i = xmalloc_zero(1, sizeof(*i));

	i->name = xmalloc_dup_n(name.p, name.len);
	i->id = slots_add(&c->images, i);
	strmap_set(c->image_by_name, name, i);
	return i;
}

static struct image *get(struct cluster *c, struct str name)
{
	struct image *i = images_find(c, name);

	return i != NULL ? i : images_add(c, name);
}

static void prune(struct cluster *c, struct image *i)
{
	if (i->nodes > 0) {
		return;
	}
	/* The next node may have pulled another image under this name. */
	i->bytes = 0;
	if (i->uses == 0) {
		(void)strmap_remove(c->image_by_name, str_of(i->name));
		slots_remove(&c->images, i->id);
		free_image(i);
	}
}

/* --- nodes -------------------------------------------------------------------------------------
 */

static int by_id(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Sorts the ids and drops repeated ones: an image may be listed twice under one name. */
static size_t sort_ids(uint32_t *v, size_t n)
{
	size_t kept = 0;

	if (n > 1) {
		qsort(v, n, sizeof(*v), by_id);
	}
	for (size_t i = 0; i < n; i++) {
		if (kept == 0 || v[kept - 1] != v[i]) {
			v[kept++] = v[i];
		}
	}
	return kept;
}

static bool has_ids(const struct node *n, const uint32_t *ids, size_t count)
{
	for (size_t i = 0; i < count && count == n->images.n; i++) {
		if (n->images.v[i] != ids[i]) {
			return false;
		}
	}
	return count == n->images.n;
}

void images_put(struct node *n, struct image *i)
{
	i->nodes++;
	vec_push(&n->images, i->id);
}

/* 1. Find or make the record of each name.
 * 2. Count the node at all of them before it is taken off those that it had: what stays on it is
 *    not removed in between. */
void images_set_node(struct cluster *c, struct node *n, const struct images_entry *v, size_t count)
{
	size_t named = count < IMAGES_NODE_MAX ? count : IMAGES_NODE_MAX, nids = 0;
	CLEANUP(xmalloc_freep) uint32_t *ids = xmalloc_zero(named + 1, sizeof(*ids));
	__typeof__(n->images) old = n->images;

	for (size_t i = 0; i < named; i++) {
		struct str name = str_of(v[i].name);
		int64_t bytes = v[i].bytes < IMAGES_BYTES_MAX ? v[i].bytes : IMAGES_BYTES_MAX;
		struct image *at;

		if (name.len == 0 || name.len > IMAGES_NAME_MAX) {
			continue;
		}
		at = get(c, name);
		at->bytes = bytes > at->bytes ? bytes : at->bytes;
		ids[nids++] = at->id;
	}
	nids = sort_ids(ids, nids);
	if (has_ids(n, ids, nids)) {
		return;
	}
	memset(&n->images, 0, sizeof(n->images));
	vec_reserve(&n->images, nids);
	for (size_t i = 0; i < nids; i++) {
		images_put(n, c->images.v[ids[i]]);
	}
	for (size_t i = 0; i < old.n; i++) {
		c->images.v[old.v[i]]->nodes--;
		prune(c, c->images.v[old.v[i]]);
	}
	vec_finish(&old);
}

bool images_is_on(const struct node *n, uint32_t id)
{
	size_t low = 0, high = n->images.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (n->images.v[mid] < id) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	return low < n->images.n && n->images.v[low] == id;
}

/* --- classes -----------------------------------------------------------------------------------
 */

void images_enter_class(struct cluster *c, struct pod_class *k)
{
	for (size_t i = 0; i < k->nimages; i++) {
		struct image *at = get(c, str_of(k->images[i].name));

		at->uses++;
		k->images[i].name = at->name;
		k->images[i].id = at->id;
	}
}

void images_leave_class(struct cluster *c, const struct pod_class *k)
{
	for (size_t i = 0; i < k->nimages; i++) {
		struct image *at = c->images.v[k->images[i].id];

		at->uses--;
		prune(c, at);
	}
}
