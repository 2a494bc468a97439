/* certs/x509.h: the steps that CA and leaf share, in OpenSSL terms; used inside certs/ only.
 * Any thread. Functions with err return 0 or -ERR_INTERNAL unless stated otherwise. */
#ifndef CERTS_X509_H
#define CERTS_X509_H

#include <openssl/evp.h>
#include <openssl/x509.h>
#include <stdint.h>

#include "certs/pair.h"

/* Error text of OpenSSL's queue behind `what`; empties the queue. */
int x509_fail(struct err *err, int code, const char *what);
int x509_new_key(EVP_PKEY **ret, struct err *err);
/* A version 3 certificate with a random serial, subject, key and validity; not signed. */
int x509_new(const char *common_name, const char *organization, EVP_PKEY *key, X509 **ret,
	     struct err *err);
int x509_set_validity(X509 *cert, int64_t not_before_ns, int64_t not_after_ns, struct err *err);
/* Adds one extension in OpenSSL's configuration syntax; value is a constant of ours. */
int x509_add_extension(X509 *cert, X509 *issuer, int nid, const char *value, struct err *err);
int x509_sign(X509 *cert, EVP_PKEY *key, struct err *err);
/* Appends both as PEM. */
int x509_to_pair(X509 *cert, EVP_PKEY *key, struct pair *ret, struct err *err);
/* First certificate or key in the text: -ERR_INVALID when there is none. */
int x509_parse_cert(struct str pem, X509 **ret, struct err *err);
int x509_parse_key(struct str pem, EVP_PKEY **ret, struct err *err);
int64_t x509_time(const ASN1_TIME *t); /* Unix nanoseconds */
void x509_freep(X509 **cert);          /* for CLEANUP */
void x509_key_freep(EVP_PKEY **key);

#endif
