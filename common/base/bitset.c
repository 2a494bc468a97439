#include "base/bitset.h"

size_t bitset_count(const uint64_t *w, size_t bits)
{
	size_t full = bits / 64;
	size_t n = 0;

	for (size_t i = 0; i < full; i++) {
		n += (size_t)__builtin_popcountll(w[i]);
	}
	if (bits % 64 != 0) {
		n += (size_t)__builtin_popcountll(w[full] & (((uint64_t)1 << (bits % 64)) - 1));
	}
	return n;
}

size_t bitset_next(const uint64_t *w, size_t bits, size_t from)
{
	size_t i = from / 64;
	uint64_t word;

	if (from >= bits) {
		return bits;
	}
	word = w[i] & (~(uint64_t)0 << (from % 64));
	while (word == 0) {
		if (++i >= BITSET_WORDS(bits)) {
			return bits;
		}
		word = w[i];
	}
	from = i * 64 + (size_t)__builtin_ctzll(word);
	return from < bits ? from : bits;
}
