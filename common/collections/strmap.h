/* common/collections/strmap.h: string to pointer map (the only user of uthash).
 * Owner: one thread. Keys are copied; values are borrowed unless a destructor is given.
 * Iteration (strmap_each) goes in insertion order, so that it is deterministic; core code still
 * iterates sorted arrays instead. The callback must not change the map. */
#ifndef COMMON_COLLECTIONS_STRMAP_H
#define COMMON_COLLECTIONS_STRMAP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct strmap;
typedef void (*strmap_free_fn)(void *value);
typedef bool (*strmap_each_fn)(struct str key, void *value, void *ctx); /* false stops */

struct strmap *strmap_create(strmap_free_fn free_value);  /* NULL: values are borrowed */
void strmap_destroy(struct strmap *m);                    /* NULL is fine */
void strmap_destroyp(struct strmap **pm);                 /* for CLEANUP */
void *strmap_get(const struct strmap *m, struct str key); /* NULL: absent */
/* The map's own copy of the key, good until it is removed; NULL: absent. */
const char *strmap_key(const struct strmap *m, struct str key);
bool strmap_has(const struct strmap *m, struct str key);
void strmap_set(struct strmap *m, struct str key, void *value); /* replaces, old value freed */
void *strmap_take(struct strmap *m, struct str key); /* removes without freeing; NULL: absent */
bool strmap_remove(struct strmap *m, struct str key);
size_t strmap_count(const struct strmap *m);
void strmap_each(const struct strmap *m, strmap_each_fn fn, void *ctx);
void strmap_clear(struct strmap *m);

#endif
