/* certs/leaf.h: makes certificates signed by a CA, for servers and clients: ECDSA P-256, names in
 * the subjectAltName (Kubernetes ignores common names). Any thread. */
#ifndef CERTS_LEAF_H
#define CERTS_LEAF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "certs/pair.h"

#define LEAF_MAX_NAMES 64

struct leaf_options {
	const struct pair *ca;
	const char *common_name;  /* NULL: the first name; truncated to 64 bytes */
	const char *organization; /* NULL: none; the group of a client certificate */
	const char *const *dns;   /* names, "*." in front is allowed */
	size_t dns_count;
	const char *const *ip; /* addresses as text */
	size_t ip_count;
	bool client;         /* for clients as well as for servers */
	int64_t now_ns;      /* wall clock; validity starts five minutes earlier */
	unsigned days;       /* 0: 365; at most 36500, never past the CA's expiry */
	int64_t validity_ns; /* > 0: instead of days */
};

/* ret must be initialised and empty. A bad name or address, or no name at all without `client`:
 * -ERR_INVALID naming it. */
int leaf_create(const struct leaf_options *opt, struct pair *ret, struct err *err);

#endif
