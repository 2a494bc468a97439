/* certs/ca.h: creates a self-signed certificate authority: ECDSA P-256, may sign leaves only. Any
 * thread. */
#ifndef CERTS_CA_H
#define CERTS_CA_H

#include <stdint.h>

#include "certs/pair.h"

struct ca_options {
	const char *common_name; /* NULL: "headgate-ca" */
	int64_t now_ns;          /* wall clock; validity starts five minutes earlier */
	unsigned days;           /* 0: 3650; at most 36500 */
	int64_t validity_ns;     /* > 0: instead of days */
};

/* ret must be initialised and empty. */
int ca_create(const struct ca_options *opt, struct pair *ret, struct err *err);

#endif
