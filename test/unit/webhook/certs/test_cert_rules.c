#include "webhook/certs/cert_rules.h"

#include "base/attrs.h"
#include "lib/unit.h"

#define GOOD (CERT_CA_GOOD | CERT_LEAF_GOOD)
#define ALL_FACTS 256u

static void test_rows(void **state)
{
	static const struct {
		const char *name;
		unsigned facts;
		enum cert_action action;
	} rows[] = {
		{ "nothing is there", 0, CERT_MAKE_ALL },
		{ "a leaf without its CA", CERT_LEAF_GOOD, CERT_MAKE_ALL },
		{ "a next CA without a CA", CERT_HAS_NEXT | CERT_NEXT_SPREAD, CERT_MAKE_ALL },
		{ "a CA without a leaf", CERT_CA_GOOD, CERT_MAKE_LEAF },
		{ "a CA and its next one without a leaf",
		  CERT_CA_GOOD | CERT_HAS_NEXT | CERT_NEXT_SPREAD, CERT_MAKE_LEAF },
		{ "both are good", GOOD, CERT_WAIT },
		{ "a leftover mark of a next CA", GOOD | CERT_NEXT_SPREAD, CERT_WAIT },
		{ "the leaf is due", GOOD | CERT_LEAF_DUE, CERT_MAKE_LEAF },
		{ "the CA is due", GOOD | CERT_CA_DUE, CERT_MAKE_NEXT },
		{ "both are due", GOOD | CERT_CA_DUE | CERT_LEAF_DUE, CERT_MAKE_LEAF },
		{ "the next CA is not spread yet", GOOD | CERT_CA_DUE | CERT_HAS_NEXT, CERT_WAIT },
		{ "the next CA is not spread yet, the leaf is due",
		  GOOD | CERT_CA_DUE | CERT_HAS_NEXT | CERT_LEAF_DUE, CERT_MAKE_LEAF },
		{ "the next CA is spread", GOOD | CERT_CA_DUE | CERT_HAS_NEXT | CERT_NEXT_SPREAD,
		  CERT_PROMOTE },
		{ "the old CA is still needed", GOOD | CERT_HAS_OLD, CERT_WAIT },
		{ "the old CA is still needed, the CA is due", GOOD | CERT_HAS_OLD | CERT_CA_DUE,
		  CERT_WAIT },
		{ "the old CA is done", GOOD | CERT_HAS_OLD | CERT_OLD_DONE, CERT_DROP_OLD },
		{ "the old CA is done, the CA is due",
		  GOOD | CERT_HAS_OLD | CERT_OLD_DONE | CERT_CA_DUE, CERT_DROP_OLD },
		{ "a leftover mark of an old CA", GOOD | CERT_OLD_DONE, CERT_WAIT },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].name);
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
