/* webhook/certs/ca_bundles.h: the webhook registrations as the API server has them, and which of
 * them have another caBundle than the wanted one. Owner: one thread. */
#ifndef WEBHOOK_CERTS_CA_BUNDLES_H
#define WEBHOOK_CERTS_CA_BUNDLES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct ca_bundles;
struct strbuf;

struct ca_bundles *ca_bundles_create(void);
void ca_bundles_destroy(struct ca_bundles *b); /* NULL is fine */
/* path: of the object at the API server; json: the object. False: it does not decode; the previous
 * one stays. */
bool ca_bundles_set(struct ca_bundles *b, struct str path, struct str json);
void ca_bundles_remove(struct ca_bundles *b, struct str path); /* absent is fine */
/* Does not return this registration before retry_at (monotonic). */
void ca_bundles_defer(struct ca_bundles *b, struct str path, int64_t retry_at);
/* True: finds a registration to patch now, because the caBundle of one of its webhooks is not
 * bundle64 (base64 of PEM); appends its path and a JSON patch that sets it. The patch fails if the
 * webhooks have changed order meanwhile. False: *ret_at is when to ask again, CLOCK_NEVER: every
 * registration has bundle64. */
bool ca_bundles_next(const struct ca_bundles *b, struct str bundle64, int64_t now,
		     struct strbuf *ret_path, struct strbuf *ret_patch, int64_t *ret_at);

#endif
