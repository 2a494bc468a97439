/* webhook/certs/cert_secret.h: the content of the webhook's Secret: its CA, the serving
 * certificate, and during a rotation the next or the former CA. Owner: one thread. */
#ifndef WEBHOOK_CERTS_CERT_SECRET_H
#define WEBHOOK_CERTS_CERT_SECRET_H

#include <stddef.h>
#include <stdint.h>

#include "certs/pair.h"
#include "webhook/certs/cert_rules.h"

struct cert_names;
struct err;

struct cert_secret {
	struct pair ca, leaf, next; /* empty when absent */
	struct strbuf old;          /* certificate of the former CA */
};

struct cert_secret_options {
	const struct cert_names *names; /* of the certificate */
	int64_t ca_ns, leaf_ns;         /* validity */
	int64_t keep_old_ns;            /* how long the former CA stays in the registrations */
};

void cert_secret_init(struct cert_secret *s);
void cert_secret_finish(struct cert_secret *s);
/* ret must be initialised and empty in both. */
void cert_secret_copy(const struct cert_secret *s, struct cert_secret *ret);
/* Reads a Secret's data; members that are absent or not base64 become empty. -ERR_INVALID: json is
 * not valid. The keys are decoded from json directly into ret: no other copy is made. */
int cert_secret_parse(struct str json, struct cert_secret *ret, struct err *err);
/* The certificates that clients must trust: present, next, former CA. Appends PEM. */
void cert_secret_bundle(const struct cert_secret *s, struct strbuf *out);
/* The facts (enum cert_fact) about the content, without CERT_NEXT_SPREAD; *ret_until is when time
 * alone may change them, CLOCK_NEVER: never. */
unsigned cert_secret_facts(const struct cert_secret *s, const struct cert_secret_options *opt,
			   int64_t now_ns, int64_t *ret_until);
/* Carries the action out on s. s is undefined after an error. */
int cert_secret_apply(struct cert_secret *s, enum cert_action action,
		      const struct cert_secret_options *opt, int64_t now_ns, struct err *err);
/* Appends a Secret to create, or (version: its resourceVersion) a merge patch that sets all of our
 * members and removes those that are empty. It holds private keys: strbuf_wipe. */
void cert_secret_format(const struct cert_secret *s, const char *namespace_, const char *name,
			const char *version, struct strbuf *out);

#endif
