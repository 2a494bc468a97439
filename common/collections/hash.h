/* common/collections/hash.h: the hash for tables with keys from outside: SipHash-1-3 with a random
 * key per process, so that colliding keys cannot be chosen. Its values differ from process to
 * process: no output and no order may depend on them (use str_hash for that). Any thread. */
#ifndef COMMON_COLLECTIONS_HASH_H
#define COMMON_COLLECTIONS_HASH_H

#include <stdint.h>

#include "base/str.h"

/* Sets the key; call it before other threads start and before the first table is made. Without it
 * the key is 0, which is for tests. */
void hash_seed(uint64_t k0, uint64_t k1);
uint64_t hash_of(struct str s);

#endif
