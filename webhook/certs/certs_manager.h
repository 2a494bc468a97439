/* webhook/certs/certs_manager.h: the webhook's own CA and certificate, without cert-manager: kept
 * in a Secret, created and renewed by the replica that holds a Lease, read from the Secret by all
 * replicas; the CA is also written into the webhook registrations. cert_rules decides the next
 * step. Nothing is written without the Lease, and each write of the Secret is conditional on its
 * resourceVersion. Owner: the transport's thread, unless stated. */
#ifndef WEBHOOK_CERTS_CERTS_MANAGER_H
#define WEBHOOK_CERTS_CERTS_MANAGER_H

#include <stdbool.h>
#include <stdint.h>

struct certs_manager;
struct clock;
struct metric_registry;
struct err;
struct pair;
struct transport;

struct certs_manager_options {
	const char *namespace_;     /* of Secret and Lease */
	const char *secret, *lease; /* names */
	const char *service;        /* the certificate is for its names; NULL: none */
	const char *url;            /* the certificate is for its host, too; NULL: none */
	const char *selector;       /* label selector of our registrations */
	const char *identity;       /* in the Lease */
	int64_t ca_ns, leaf_ns;     /* validity */
	int64_t spread_ns;          /* time for API servers and replicas to see a change */
	struct metric_registry *registry;
	uint64_t seed;
};

/* -ERR_INVALID: neither service nor url, or a url without host. Texts are copied. Any thread. */
int certs_manager_create(const struct certs_manager_options *opt, struct certs_manager **ret,
			 struct err *err);
/* Call after the transport was destroyed, or if never connected. NULL is fine. */
void certs_manager_destroy(struct certs_manager *m);
/* Starts to follow the API server; once. Any thread. */
void certs_manager_connect(struct certs_manager *m, struct transport *t, const struct clock *clock);
/* Releases the Lease and waits for that for a short time. Not on the transport's thread; before the
 * transport is destroyed. */
void certs_manager_leave(struct certs_manager *m);

/* Readable when there may be a new pair. Any thread. */
int certs_manager_fd(const struct certs_manager *m);
/* True: ret (initialised and empty) is the latest valid pair of the Secret; false: there was none
 * yet. Any one thread. */
bool certs_manager_pair(struct certs_manager *m, struct pair *ret);

#endif
