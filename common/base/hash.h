/* common/base/hash.h: the hash of tables whose keys come from outside: SipHash-1-3 with a key of
 * the process, so that nobody can choose keys that meet in one slot. Differs from process to
 * process: nothing that is written, sent or ordered may depend on it (str_hash is for that). Any
 * thread. */
#ifndef COMMON_BASE_HASH_H
#define COMMON_BASE_HASH_H

#include <stdint.h>

#include "base/str.h"

/* Sets the key: before other threads and before the first table. Without it the key is 0, which is
 * for tests. */
void hash_seed(uint64_t k0, uint64_t k1);
uint64_t hash_of(struct str s);

#endif
