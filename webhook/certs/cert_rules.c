#include "webhook/certs/cert_rules.h"

#include <assert.h>

#include "base/attrs.h"

/* The first row with (facts & mask) == value wins. Why the rows stand in this order:
 * 1. Without a CA nothing can be signed: all is made anew, at the price of a moment in which
 *    calls fail.
 * 2. Without a certificate nothing can be served: the current CA signs one, also during a
 *    rotation, which may take long (a registration that cannot be patched).
 * 3. Promotion makes a new certificate, too, so it comes before the renewal of one that is due.
 * 4. The renewal of a certificate needs the current CA alone, so no step of a rotation comes
 *    before it but the one that includes it.
 * 5. The former CA goes before a next one is made: the Secret has a place for one of each.
 * 6. One rotation at a time: no next CA while there is a next or a former one. */
static const struct {
	unsigned mask, value;
	enum cert_action action;
} rules[] = {
	{ CERT_CA_GOOD, 0, CERT_MAKE_ALL },
	{ CERT_LEAF_GOOD, 0, CERT_MAKE_LEAF },
	{ CERT_HAS_NEXT | CERT_NEXT_SPREAD, CERT_HAS_NEXT | CERT_NEXT_SPREAD, CERT_PROMOTE },
	{ CERT_LEAF_DUE, CERT_LEAF_DUE, CERT_MAKE_LEAF },
	{ CERT_HAS_OLD | CERT_OLD_DONE, CERT_HAS_OLD | CERT_OLD_DONE, CERT_DROP_OLD },
	{ CERT_CA_DUE | CERT_HAS_NEXT | CERT_HAS_OLD, CERT_CA_DUE, CERT_MAKE_NEXT },
	{ 0, 0, CERT_WAIT },
};

enum cert_action cert_rules_next(unsigned facts)
{
	size_t i = 0;

	while ((facts & rules[i].mask) != rules[i].value) {
		i++;
	}
	assert(i < ARRAY_LEN(rules));
	return rules[i].action;
}

const char *cert_rules_name(enum cert_action a)
{
	static const char *const names[CERT_ACTION_COUNT_] = {
		[CERT_WAIT] = "nothing",
		[CERT_MAKE_ALL] = "new CA and serving certificate",
		[CERT_MAKE_LEAF] = "new serving certificate",
		[CERT_MAKE_NEXT] = "next CA",
		[CERT_PROMOTE] = "next CA in use",
		[CERT_DROP_OLD] = "former CA removed",
	};

	return names[a];
}
