/* common/enc/sorted.h: sorting of keyed items while decoding. Any thread. */
#ifndef COMMON_ENC_SORTED_H
#define COMMON_ENC_SORTED_H

#include <stddef.h>

struct arena;

/* Sorts n items of size bytes, which begin with a const char * key, by key, bytewise. Of equal keys
 * the last one stays; the result is the number of items left. O(n) when they are in order. */
size_t sorted_by_key(void *items, size_t n, size_t size, struct arena *scratch);

#endif
