#include "base/sha1.h"

#define BLOCK 64

static uint32_t rotate(uint32_t x, unsigned n)
{
	return x << n | x >> (32 - n);
}

static void block(uint32_t h[5], const unsigned char *p)
{
	static const uint32_t k[] = { 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6 };
	uint32_t w[80], v[5];

	for (unsigned i = 0; i < 16; i++) {
		w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 |
		       (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
	}
	for (unsigned i = 16; i < 80; i++) {
		w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	}
	memcpy(v, h, sizeof(v));
	for (unsigned i = 0; i < 80; i++) {
		uint32_t f = i < 20   ? (v[1] & v[2]) | (~v[1] & v[3])
			     : i < 40 ? v[1] ^ v[2] ^ v[3]
			     : i < 60 ? (v[1] & v[2]) | (v[1] & v[3]) | (v[2] & v[3])
				      : v[1] ^ v[2] ^ v[3];
		uint32_t next = rotate(v[0], 5) + f + v[4] + k[i / 20] + w[i];

		v[4] = v[3];
		v[3] = v[2];
		v[2] = rotate(v[1], 30);
		v[1] = v[0];
		v[0] = next;
	}
	for (unsigned i = 0; i < 5; i++) {
		h[i] += v[i];
	}
}

void sha1_hex(struct str text, char out[SHA1_HEX_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	uint32_t h[5] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 };
	const unsigned char *p = (const unsigned char *)text.p;
	unsigned char last[2 * BLOCK] = { 0 };
	size_t whole = text.len / BLOCK * BLOCK, rest = text.len - whole;
	size_t tail = rest + 9 <= BLOCK ? BLOCK : 2 * BLOCK;
	uint64_t bits = (uint64_t)text.len * 8;

	for (size_t i = 0; i < whole; i += BLOCK) {
		block(h, p + i);
	}
	if (rest > 0) {
		memcpy(last, p + whole, rest);
	}
	last[rest] = 0x80;
	for (unsigned i = 0; i < 8; i++) {
		last[tail - 1 - i] = (unsigned char)(bits >> (8 * i));
	}
	for (size_t i = 0; i < tail; i += BLOCK) {
		block(h, last + i);
	}
	for (unsigned i = 0; i < 40; i++) {
		out[i] = digits[h[i / 8] >> (28 - 4 * (i % 8)) & 15];
	}
	out[40] = '\0';
}
