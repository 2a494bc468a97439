#include "webhook/certs/cert_rules.h"

#include <assert.h>

#include "base/attrs.h"

/* The first row with (facts & mask) == value wins. The certificate comes before a rotation in
 * progress, which may wait for long (a registration that cannot be patched). */
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
