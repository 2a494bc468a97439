/* webhook/certs/cert_names.h: the names that the API server may call the webhook by, for its
 * certificate. Any thread; a struct is owned by its creator. */
#ifndef WEBHOOK_CERTS_CERT_NAMES_H
#define WEBHOOK_CERTS_CERT_NAMES_H

#include <stddef.h>

#define CERT_NAMES_MAX 4
#define CERT_NAMES_MAX_BYTES 253 /* of a host name */

struct err;

struct cert_names {
	char *all[CERT_NAMES_MAX];
	const char *dns[CERT_NAMES_MAX], *ip[CERT_NAMES_MAX]; /* each of `all` is in one of them */
	size_t count, dns_count, ip_count;
};

/* service and url ("https://host:port") may be NULL, but not both: -ERR_INVALID, as for a url
 * without a host of at most CERT_NAMES_MAX_BYTES. *ret may be anything before; finish it also after
 * an error. */
int cert_names_of(struct cert_names *ret, const char *namespace_, const char *service,
		  const char *url, struct err *err);
void cert_names_finish(struct cert_names *n);

#endif
