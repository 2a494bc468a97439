/* certs/pair.h: a certificate (chain) and its private key as PEM text. OpenSSL stays inside certs/.
 * Any thread; a struct pair is owned by the code that initialised it. */
#ifndef CERTS_PAIR_H
#define CERTS_PAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"

#define PAIR_MAX_BYTES ((size_t)1 << 20) /* of each text */
/* A certificate is replaced when this part of its life is over: two thirds. */
#define PAIR_RENEW_AT(life_ns) ((life_ns) / 3 * 2)

struct err;

struct pair {
	struct strbuf cert; /* PEM, leaf first */
	struct strbuf key;  /* PEM, PKCS #8, not encrypted */
};

#define PAIR_INIT                                                                                  \
	{                                                                                          \
		.cert = STRBUF_INIT, .key = STRBUF_INIT                                            \
	}

void pair_init(struct pair *p);
void pair_finish(struct pair *p); /* wipes the key */
/* Reads both files (appends to a fresh pair); errors name the path. */
int pair_read(const char *cert_path, const char *key_path, struct pair *ret, struct err *err);
/* 0 when both parse and the key belongs to the first certificate, else -ERR_INVALID. Encrypted keys
 * are refused. */
int pair_check(struct str cert, struct str key, struct err *err);
/* Validity of the first certificate in the text, Unix nanoseconds. */
int pair_validity(struct str cert, int64_t *ret_not_before_ns, int64_t *ret_not_after_ns,
		  struct err *err);
/* Whether the first certificate in the text is that of an authority which may sign others, as API
 * servers demand it of what they trust. */
bool pair_is_ca(struct str cert);
/* 0 when the first certificate of cert was signed by the first of ca, else -ERR_INVALID. */
int pair_is_signed_by(struct str cert, struct str ca, struct err *err);
/* 0 when the first certificate is valid for this DNS name or IP address text, else -ERR_NOT_FOUND
 * (or -ERR_INVALID when it does not parse). */
int pair_covers(struct str cert, const char *name, struct err *err);

#endif
