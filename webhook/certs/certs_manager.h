/* webhook/certs/certs_manager.h: the webhook's own CA and certificate without help from outside:
 * kept in a Secret, made and rotated by whichever replica holds a Lease, taken from the Secret by
 * all, and put (the CA's side) into the webhook registrations. Which step comes next is in
 * cert_rules. Nothing is written unless the Lease says so, and each write of the Secret is
 * conditional on its resourceVersion. Owner: the transport's thread, unless stated. */
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
	const char *service;        /* whose names the certificate is for; NULL: none */
	const char *url;            /* whose host it is for, too; NULL: none */
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
/* After the transport was destroyed, or when never connected. NULL is fine. */
void certs_manager_destroy(struct certs_manager *m);
/* Starts to follow the API server; once. Any thread. */
void certs_manager_connect(struct certs_manager *m, struct transport *t, const struct clock *clock);
/* Gives the Lease up and waits for that, but not long. Not on the transport's thread; before the
 * transport is destroyed. */
void certs_manager_leave(struct certs_manager *m);

/* Readable when there may be another pair. Any thread. */
int certs_manager_fd(const struct certs_manager *m);
/* True: ret (initialised and empty) is the pair in the Secret, which is whole; false: there was
 * none yet. Any one thread. */
bool certs_manager_pair(struct certs_manager *m, struct pair *ret);

#endif
