/* scheduler/base/predecessors.h: the rule by which evictions come to an end. An evicted object goes
 * after the one that it was evicted for, and after all that go before that one; nothing evicts one
 * of its predecessors. So evictions make no circle, of any length. Both wings use it, with records
 * of their own, which end by their own rules. Pure; any thread. */
#ifndef SCHEDULER_BASE_PREDECESSORS_H
#define SCHEDULER_BASE_PREDECESSORS_H

#include <stddef.h>
#include <stdint.h>

#include "collections/vec.h"

struct predecessors VEC(uint32_t); /* ids; freed by the caller (vec_finish) */

/* Appends those that id was evicted for, in any order, also more than once. */
typedef void (*predecessors_fn)(const void *ctx, uint32_t id, struct predecessors *out);

/* Appends all predecessors of id, each once and the nearest first; id as well if it is one of its
 * own, which may be where records are made in other ways. All ids are below nids. Without any O(1),
 * else O(nids / 64 + records). */
void predecessors_collect(predecessors_fn direct, const void *ctx, uint32_t id, size_t nids,
			  struct predecessors *out);

#endif
