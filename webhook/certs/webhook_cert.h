/* webhook/certs/webhook_cert.h: the serving certificate: read from files, or from the Secret of
 * certs_manager, and passed to the server whenever there is a new valid pair. Owner: main thread;
 * the check may run on any. */
#ifndef WEBHOOK_CERTS_WEBHOOK_CERT_H
#define WEBHOOK_CERTS_WEBHOOK_CERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "certs/pair.h"

struct certs_manager;
struct metric_registry;
struct err;
struct http_server;
struct webhook_cert;

/* Reads and checks the pair; -ERR_X when there is none yet. Paths are borrowed. */
int webhook_cert_open(const char *cert_path, const char *key_path, struct metric_registry *registry,
		      struct webhook_cert **ret, struct err *err);
/* Takes the pair from the manager (borrowed), which may have none yet. */
struct webhook_cert *webhook_cert_of(struct certs_manager *manager,
				     struct metric_registry *registry);
void webhook_cert_close(struct webhook_cert *c); /* NULL is fine */
/* Empty texts when there is none yet. */
const struct pair *webhook_cert_pair(const struct webhook_cert *c);
/* Readable when the source may have changed: then call webhook_cert_reload. */
int webhook_cert_fd(const struct webhook_cert *c);
/* Reads the source again; true when the server (NULL: not started) got a new pair. A pair that is
 * half written or does not match is ignored: the old one stays. */
bool webhook_cert_reload(struct webhook_cert *c, struct http_server *server);
/* A health_check_fn: there is one, and it has not expired. */
bool webhook_cert_is_valid(void *ctx, char *detail, size_t detail_size);

#endif
