#include "certs/pair.h"

#include <openssl/x509v3.h>

#include "base/err.h"
#include "certs/x509.h"
#include "process/file.h"

void pair_init(struct pair *p)
{
	strbuf_init(&p->cert);
	strbuf_init(&p->key);
}

void pair_finish(struct pair *p)
{
	strbuf_finish(&p->cert);
	strbuf_wipe(&p->key);
}

int pair_read(const char *cert_path, const char *key_path, struct pair *ret, struct err *err)
{
	int r = file_read_all(cert_path, PAIR_MAX_BYTES, &ret->cert, err);

	return r < 0 ? r : file_read_all(key_path, PAIR_MAX_BYTES, &ret->key, err);
}

int pair_check(struct str cert, struct str key, struct err *err)
{
	CLEANUP(x509_freep) X509 *c = NULL;
	CLEANUP(x509_key_freep) EVP_PKEY *k = NULL;
	int r = x509_parse_cert(cert, &c, err);

	if (r == 0) {
		r = x509_parse_key(key, &k, err);
	}
	if (r < 0) {
		return r;
	}
	if (X509_check_private_key(c, k) != 1) {
		(void)x509_fail(NULL, ERR_INVALID, "");
		return err_set(err, ERR_INVALID,
			       "the private key does not belong to the certificate");
	}
	return 0;
}

int pair_validity(struct str cert, int64_t *ret_not_before_ns, int64_t *ret_not_after_ns,
		  struct err *err)
{
	CLEANUP(x509_freep) X509 *c = NULL;
	int r = x509_parse_cert(cert, &c, err);

	if (r < 0) {
		return r;
	}
	*ret_not_before_ns = x509_time(X509_get0_notBefore(c));
	*ret_not_after_ns = x509_time(X509_get0_notAfter(c));
	return 0;
}

bool pair_is_ca(struct str cert)
{
	CLEANUP(x509_freep) X509 *c = NULL;

	/* 1: basicConstraints says so; OpenSSL has other values for what it would tolerate. */
	return x509_parse_cert(cert, &c, NULL) == 0 && X509_check_ca(c) == 1 &&
	       (X509_get_key_usage(c) & KU_KEY_CERT_SIGN) != 0;
}

int pair_is_signed_by(struct str cert, struct str ca, struct err *err)
{
	CLEANUP(x509_freep) X509 *c = NULL;
	CLEANUP(x509_freep) X509 *issuer = NULL;
	int r = x509_parse_cert(cert, &c, err);

	if (r == 0) {
		r = x509_parse_cert(ca, &issuer, err);
	}
	if (r < 0) {
		return r;
	}
	if (X509_check_issued(issuer, c) != X509_V_OK ||
	    X509_verify(c, X509_get0_pubkey(issuer)) != 1) {
		(void)x509_fail(NULL, ERR_INVALID, "");
		return err_set(err, ERR_INVALID,
			       "the certificate was not signed by this authority");
	}
	return 0;
}

int pair_covers(struct str cert, const char *name, struct err *err)
{
	CLEANUP(x509_freep) X509 *c = NULL;
	int r = x509_parse_cert(cert, &c, err);

	if (r < 0) {
		return r;
	}
	if (X509_check_host(c, name, 0, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT, NULL) == 1 ||
	    X509_check_ip_asc(c, name, 0) == 1) {
		return 0;
	}
	return err_set(err, ERR_NOT_FOUND, "the certificate is not valid for %s", name);
}
