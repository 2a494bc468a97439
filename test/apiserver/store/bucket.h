/* test/apiserver/store/bucket.h: the objects of one resource and the ring of its latest changes,
 * from which watches are served and past states (continue tokens, exact and stale lists) are
 * rebuilt. Owner: one thread. */
#ifndef TEST_APISERVER_STORE_BUCKET_H
#define TEST_APISERVER_STORE_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "apiserver/store/sorted.h"

struct object;

enum bucket_op { BUCKET_ADDED, BUCKET_MODIFIED, BUCKET_DELETED };

struct bucket_event {
	int64_t rv;
	enum bucket_op op;
	struct object *obj;  /* the new state; BUCKET_DELETED: the last one */
	struct object *prev; /* NULL for BUCKET_ADDED */
};

struct bucket {
	struct sorted objects;
	struct bucket_event *ring;
	size_t ring_max, ring_cap, ring_at, ring_n; /* oldest at ring_at */
	int64_t compacted; /* changes up to and including this version are forgotten */
};

void bucket_init(struct bucket *b, size_t ring_max);
void bucket_finish(struct bucket *b);
/* Stores o (adding or replacing) with its own version; references are taken. */
void bucket_put(struct bucket *b, struct object *o);
/* Removes the object of that key; rv is the version of the deletion. */
void bucket_remove(struct bucket *b, struct str key, int64_t rv);
/* Forgets changes up to rv: older watches and continue tokens answer 410. */
void bucket_compact(struct bucket *b, int64_t rv);
/* Event number i, 0 = oldest kept. */
const struct bucket_event *bucket_event(const struct bucket *b, size_t i);
/* Index of the first event with a version > rv. O(log n). */
size_t bucket_after(const struct bucket *b, int64_t rv);

/* Walks the state at version rv (rv < 0: now) in key order. */
struct bucket_walk {
	const struct bucket *bucket;
	struct sorted past; /* objects changed since, as they were at rv */
	struct sorted gone; /* keys changed since: the present entry does not count */
	struct sorted_pos now_at, past_at;
	struct object *now_next, *past_next;
};
/* Starts at the first key >= from (> from with after). False: rv is compacted. */
bool bucket_walk_init(struct bucket_walk *w, const struct bucket *b, int64_t rv, struct str from,
		      bool after);
struct object *bucket_walk_next(struct bucket_walk *w); /* borrowed; NULL: end */
void bucket_walk_finish(struct bucket_walk *w);
/* The object as it was at rv (rv < 0 or unknown: now); borrowed, NULL: absent. */
struct object *bucket_get_at(const struct bucket *b, struct str key, int64_t rv);

#endif
