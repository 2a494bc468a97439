#include "collections/hash.h"

static uint64_t key[2];

void hash_seed(uint64_t k0, uint64_t k1)
{
	key[0] = k0;
	key[1] = k1;
}

/* SipHash-1-3: a to d are v0 to v3 of its definition, mix is its round. */
struct state {
	uint64_t a, b, c, d;
};

static inline uint64_t rotate(uint64_t x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

static inline void mix(struct state *s)
{
	s->a += s->b;
	s->b = rotate(s->b, 13) ^ s->a;
	s->a = rotate(s->a, 32);
	s->c += s->d;
	s->d = rotate(s->d, 16) ^ s->c;
	s->a += s->d;
	s->d = rotate(s->d, 21) ^ s->a;
	s->c += s->b;
	s->b = rotate(s->b, 17) ^ s->c;
	s->c = rotate(s->c, 32);
}

static inline void add(struct state *s, uint64_t word)
{
	s->d ^= word;
	mix(s);
	s->a ^= word;
}

/* The words of the message are little-endian, as in the definition: the value is the same on every
 * machine. */
static inline uint64_t word_at(const char *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return word;
}

uint64_t hash_of(struct str text)
{
	struct state s = { key[0] ^ UINT64_C(0x736f6d6570736575),
			   key[1] ^ UINT64_C(0x646f72616e646f6d),
			   key[0] ^ UINT64_C(0x6c7967656e657261),
			   key[1] ^ UINT64_C(0x7465646279746573) };
	uint64_t last = (uint64_t)text.len << 56;
	size_t i = 0;

	for (; text.len - i >= sizeof(uint64_t); i += sizeof(uint64_t)) {
		add(&s, word_at(text.p + i));
	}
	for (unsigned shift = 0; i < text.len; i++, shift += 8) {
		last |= (uint64_t)(unsigned char)text.p[i] << shift;
	}
	add(&s, last);
	s.c ^= 0xff;
	mix(&s);
	mix(&s);
	mix(&s);
	return s.a ^ s.b ^ s.c ^ s.d;
}
