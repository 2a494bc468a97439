#include "webhook/certs/cert_rules.h"

#include "base/attrs.h"
#include "lib/unit.h"

#define GOOD (CERT_CA_GOOD | CERT_LEAF_GOOD)
#define ALL_FACTS 256u

static void test_rows(void **state)
{
	static const struct {
		unsigned facts;
		enum cert_action action;
	} rows[] = {
		{ 0, CERT_MAKE_ALL },
		{ CERT_LEAF_GOOD, CERT_MAKE_ALL },
		{ CERT_HAS_NEXT | CERT_NEXT_SPREAD, CERT_MAKE_ALL },
		{ CERT_CA_GOOD, CERT_MAKE_LEAF },
		{ CERT_CA_GOOD | CERT_HAS_NEXT | CERT_NEXT_SPREAD, CERT_MAKE_LEAF },
		{ GOOD, CERT_WAIT },
		{ GOOD | CERT_NEXT_SPREAD, CERT_WAIT },
		{ GOOD | CERT_LEAF_DUE, CERT_MAKE_LEAF },
		{ GOOD | CERT_CA_DUE, CERT_MAKE_NEXT },
		{ GOOD | CERT_CA_DUE | CERT_LEAF_DUE, CERT_MAKE_LEAF },
		{ GOOD | CERT_CA_DUE | CERT_HAS_NEXT, CERT_WAIT },
		{ GOOD | CERT_CA_DUE | CERT_HAS_NEXT | CERT_LEAF_DUE, CERT_MAKE_LEAF },
		{ GOOD | CERT_CA_DUE | CERT_HAS_NEXT | CERT_NEXT_SPREAD, CERT_PROMOTE },
		{ GOOD | CERT_HAS_OLD, CERT_WAIT },
		{ GOOD | CERT_HAS_OLD | CERT_CA_DUE, CERT_WAIT },
		{ GOOD | CERT_HAS_OLD | CERT_OLD_DONE, CERT_DROP_OLD },
		{ GOOD | CERT_HAS_OLD | CERT_OLD_DONE | CERT_CA_DUE, CERT_DROP_OLD },
		{ GOOD | CERT_OLD_DONE, CERT_WAIT },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(cert_rules_next(rows[i].facts), rows[i].action);
	}
}

/* Plans that would be unsafe never occur, over all combinations of facts. */
static void test_safety(void **state)
{
	(void)state;
	for (unsigned facts = 0; facts < ALL_FACTS; facts++) {
		enum cert_action a = cert_rules_next(facts);

		assert_non_null(cert_rules_name(a));
		if (a == CERT_PROMOTE) {
			assert_true((facts & CERT_NEXT_SPREAD) != 0);
		}
		if (a == CERT_DROP_OLD) {
			assert_true((facts & CERT_OLD_DONE) != 0);
		}
		if ((facts & GOOD) != GOOD) {
			assert_true(a == CERT_MAKE_ALL || a == CERT_MAKE_LEAF);
		} else {
			assert_int_not_equal(a, CERT_MAKE_ALL);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_safety),
	};

	return cmocka_run_group_tests_name("webhook/certs/cert_rules", tests, NULL, NULL);
}
