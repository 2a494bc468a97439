#include "collections/hash.h"

#include "base/attrs.h"
#include "lib/unit.h"

/* Of the bytes 0, 1, 2 ... with the key 00 01 ... 0f: made with an implementation of the definition
 * that gives the published values of SipHash-2-4. */
static void test_siphash_1_3(void **state)
{
	static const struct {
		const char *name;
		size_t len;
		uint64_t hash;
	} rows[] = {
		{ "nothing", 0, UINT64_C(0xabac0158050fc4dc) },
		{ "a byte", 1, UINT64_C(0xc9f49bf37d57ca93) },
		{ "less than a word", 7, UINT64_C(0xd3927d989bb11140) },
		{ "a word", 8, UINT64_C(0x369095118d299a8e) },
		{ "more than a word", 9, UINT64_C(0x25a48eb36c063de4) },
		{ "less than two words", 15, UINT64_C(0xd320d86d2a519956) },
		{ "two words", 16, UINT64_C(0xcc4fdd1a7d908b66) },
		{ "more than four words", 33, UINT64_C(0x4d54b9e57a8ff9bf) },
		{ "less than eight words", 63, UINT64_C(0x9d199062b7bbb3a8) },
	};
	char bytes[64];

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++) {
		bytes[i] = (char)i;
	}
	hash_seed(UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].name);
		assert_true(hash_of((struct str){ bytes, rows[i].len }) == rows[i].hash);
	}
	hash_seed(0, 0);
}

static void test_the_key_matters(void **state)
{
	uint64_t a = hash_of(STR_LIT("default")), b, c;

	(void)state;
	hash_seed(1, 0);
	b = hash_of(STR_LIT("default"));
	hash_seed(0, 1);
	c = hash_of(STR_LIT("default"));
	hash_seed(0, 0);
	assert_true(a != b && b != c && a != c);
	assert_true(a == hash_of(STR_LIT("default")));
	assert_true(hash_of(str_of(NULL)) == hash_of(STR_LIT("")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_siphash_1_3),
		cmocka_unit_test(test_the_key_matters),
	};

	return cmocka_run_group_tests_name("collections/hash", tests, NULL, NULL);
}
