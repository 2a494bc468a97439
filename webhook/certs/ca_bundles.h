/* webhook/certs/ca_bundles.h: the webhook registrations as the API server has them, and which of
 * them do not carry the wanted CA certificates yet. Owner: one thread. */
#ifndef WEBHOOK_CERTS_CA_BUNDLES_H
#define WEBHOOK_CERTS_CA_BUNDLES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct ca_bundles;
struct strbuf;

struct ca_bundles *ca_bundles_create(void);
void ca_bundles_destroy(struct ca_bundles *b); /* NULL is fine */
/* path: of the object at the API server; json: the object. False: it does not decode, what was
 * known of it stays. */
bool ca_bundles_set(struct ca_bundles *b, struct str path, struct str json);
void ca_bundles_remove(struct ca_bundles *b, struct str path); /* absent is fine */
/* No attempt on it before retry_at (monotonic). */
void ca_bundles_put_off(struct ca_bundles *b, struct str path, int64_t retry_at);
/* True: a registration that may be tried now lacks bundle64 (base64 of PEM) somewhere; appends its
 * path and a JSON patch that sets it. The patch fails when webhooks have moved meanwhile. False:
 * *ret_at is when to ask again, CLOCK_NEVER when every registration carries it. */
bool ca_bundles_next(const struct ca_bundles *b, struct str bundle64, int64_t now,
		     struct strbuf *ret_path, struct strbuf *ret_patch, int64_t *ret_at);

#endif
