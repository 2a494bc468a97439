#include "enc/digest.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/strbuf.h"

static void known_digests(void **state)
{
	static const struct {
		const char *text, *digest;
	} cases[] = {
		{ "", "da39a3ee5e6b4b0d3255bfef95601890afd80709" },
		{ "abc", "a9993e364706816aba3e25717850c26c9cd0d89d" },
		{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		  "84983e441c3bd26ebaae4aa1f95129e5e54670f1" },
		{ "The quick brown fox jumps over the lazy dog",
		  "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12" },
	};
	char out[DIGEST_SHA1_HEX_SIZE];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		unit_row_number(i);
		digest_sha1_hex(str_of(cases[i].text), out);
		assert_string_equal(out, cases[i].digest);
	}
}

static void a_million_bytes(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf b = STRBUF_INIT;
	char out[DIGEST_SHA1_HEX_SIZE];

	(void)state;
	for (unsigned i = 0; i < 1000000; i++) {
		strbuf_add_ch(&b, 'a');
	}
	digest_sha1_hex(strbuf_str(&b), out);
	assert_string_equal(out, "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
}

/* Where the length no longer fits behind the text: 55 and 56 bytes, 63 and 64. */
static void every_length_of_a_block(void **state)
{
	static const struct {
		size_t n;
		const char *digest;
	} cases[] = {
		{ 55, "c1c8bbdc22796e28c0e15163d20899b65621d65a" },
		{ 56, "c2db330f6083854c99d4b5bfb6e8f29f201be699" },
		{ 63, "03f09f5b158a7a8cdad920bddc29b81c18a551f5" },
		{ 64, "0098ba824b5c16427bd7a1122a5a442a25ec644d" },
	};
	char text[64], out[DIGEST_SHA1_HEX_SIZE];

	(void)state;
	memset(text, 'a', sizeof(text));
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		unit_row_number(i);
		digest_sha1_hex((struct str){ text, cases[i].n }, out);
		assert_string_equal(out, cases[i].digest);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_digests),
		cmocka_unit_test(a_million_bytes),
		cmocka_unit_test(every_length_of_a_block),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
