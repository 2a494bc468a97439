/* common/collections/slots.h: pointers by dense id. The id of a removed element is used again, the
 * most recently freed one first.
 *   struct SLOTS(struct pod) pods = SLOTS_INIT;
 *   pod->id = slots_add(&pods, pod);  pods.v[id] is NULL for a free id, id < pods.n
 *   slots_remove(&pods, pod->id);
 *   slots_finish(&pods);
 * Owner: one thread. The elements are the caller's. */
#ifndef COMMON_COLLECTIONS_SLOTS_H
#define COMMON_COLLECTIONS_SLOTS_H

#include <stdint.h>

#include "collections/vec.h"

#define SLOTS(type)                                                                                \
	{                                                                                          \
		type **v;                                                                          \
		size_t n;                                                                          \
		size_t cap;                                                                        \
		struct VEC(uint32_t) free; /* ids, the next one last */                            \
	}
#define SLOTS_INIT                                                                                 \
	{                                                                                          \
		NULL, 0, 0, VEC_INIT                                                               \
	}

/* The id that the element got. */
#define slots_add(slots, element)                                                                  \
	({                                                                                         \
		uint32_t slots_id_;                                                                \
                                                                                                   \
		if ((slots)->free.n > 0) {                                                         \
			slots_id_ = vec_pop(&(slots)->free);                                       \
		} else {                                                                           \
			assert((slots)->n < UINT32_MAX);                                           \
			slots_id_ = (uint32_t)(slots)->n;                                          \
			vec_push((slots), NULL);                                                   \
		}                                                                                  \
		(slots)->v[slots_id_] = (element);                                                 \
		slots_id_;                                                                         \
	})
#define slots_remove(slots, id)                                                                    \
	do {                                                                                       \
		assert((slots)->v[(id)] != NULL);                                                  \
		(slots)->v[(id)] = NULL;                                                           \
		vec_push(&(slots)->free, (id));                                                    \
	} while (0)
#define slots_count(slots) ((slots)->n - (slots)->free.n)
#define slots_finish(slots)                                                                        \
	do {                                                                                       \
		vec_finish(&(slots)->free);                                                        \
		vec_finish(slots);                                                                 \
	} while (0)

#endif
