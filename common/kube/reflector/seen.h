/* common/kube/reflector/seen.h: compact set of the keys a reflector has seen, each with its
 * resourceVersion and the number of the LIST that last showed it. Owner: one thread. Keys are
 * copied. About 24 bytes plus the key per entry, plus ~50 % slack; find, set and remove O(1). */
#ifndef COMMON_KUBE_REFLECTOR_SEEN_H
#define COMMON_KUBE_REFLECTOR_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct seen;

struct seen *seen_create(void);
void seen_destroy(struct seen *s);                                         /* NULL is fine */
bool seen_get(const struct seen *s, struct str key, int64_t *ret_version); /* false: unknown */
void seen_set(struct seen *s, struct str key, int64_t version, uint32_t list);
bool seen_remove(struct seen *s, struct str key);
size_t seen_count(const struct seen *s);
/* Removes every key that `list` did not show and then calls fn on each, in key order. */
void seen_sweep(struct seen *s, uint32_t list, void (*fn)(void *ctx, struct str key), void *ctx);

#endif
