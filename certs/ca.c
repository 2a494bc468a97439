#include "certs/ca.h"

#include <openssl/x509v3.h>

#include "base/clock.h"
#include "base/err.h"
#include "certs/x509.h"

#define CA_DEFAULT_DAYS 3650
#define CA_MAX_DAYS 36500
#define CA_SKEW_NS (300 * CLOCK_NS_PER_S)
#define CA_DAY_NS (86400 * CLOCK_NS_PER_S)

struct extension {
	int nid;
	const char *value;
};

static int fill(X509 *cert, EVP_PKEY *key, const struct ca_options *opt, struct err *err)
{
	static const struct extension extensions[] = {
		{ NID_basic_constraints, "critical,CA:TRUE,pathlen:0" },
		{ NID_key_usage, "critical,keyCertSign,cRLSign,digitalSignature" },
		{ NID_subject_key_identifier, "hash" },
	};
	unsigned days = opt->days != 0 ? opt->days : CA_DEFAULT_DAYS;
	int64_t life = opt->validity_ns > 0 ? opt->validity_ns : days * CA_DAY_NS;
	int r = x509_set_validity(cert, opt->now_ns - CA_SKEW_NS, opt->now_ns + life, err);

	if (r == 0 && X509_set_issuer_name(cert, X509_get_subject_name(cert)) != 1) {
		r = x509_fail(err, ERR_INTERNAL, "issuer");
	}
	for (size_t i = 0; r == 0 && i < ARRAY_LEN(extensions); i++) {
		r = x509_add_extension(cert, cert, extensions[i].nid, extensions[i].value, err);
	}
	return r == 0 ? x509_sign(cert, key, err) : r;
}

int ca_create(const struct ca_options *opt, struct pair *ret, struct err *err)
{
	CLEANUP(x509_freep) X509 *cert = NULL;
	CLEANUP(x509_key_freep) EVP_PKEY *key = NULL;
	int r;

	if (opt->days > CA_MAX_DAYS) {
		return err_set(err, ERR_INVALID, "validity of %u days: at most %d", opt->days,
			       CA_MAX_DAYS);
	}
	r = x509_new_key(&key, err);
	if (r == 0) {
		r = x509_new(opt->common_name != NULL ? opt->common_name : "headgate-ca", NULL, key,
			     &cert, err);
	}
	if (r == 0) {
		r = fill(cert, key, opt, err);
	}
	return r == 0 ? x509_to_pair(cert, key, ret, err) : r;
}
