#include "certs/leaf.h"

#include <openssl/x509v3.h>

#include "base/clock.h"
#include "base/err.h"
#include "certs/x509.h"

#define LEAF_DEFAULT_DAYS 365
#define LEAF_MAX_DAYS 36500
#define LEAF_SKEW_NS (300 * CLOCK_NS_PER_S)
#define LEAF_DAY_NS (86400 * CLOCK_NS_PER_S)
#define LEAF_MAX_DNS 253
#define LEAF_MAX_LABEL 63

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_dns_label(struct str label)
{
	if (label.len == 0 || label.len > LEAF_MAX_LABEL || !is_alnum(label.p[0]) ||
	    !is_alnum(label.p[label.len - 1])) {
		return false;
	}
	for (size_t i = 0; i < label.len; i++) {
		if (!is_alnum(label.p[i]) && label.p[i] != '-') {
			return false;
		}
	}
	return true;
}

static bool is_dns_name(const char *name)
{
	struct str rest = str_of(name);

	if (rest.len == 0 || rest.len > LEAF_MAX_DNS) {
		return false;
	}
	if (str_has_prefix(rest, "*.")) {
		rest = str_of(name + 2);
	}
	while (rest.p != NULL) {
		if (!is_dns_label(str_next(&rest, '.'))) {
			return false;
		}
	}
	return true;
}

static bool push_name(GENERAL_NAMES *names, int type, void *value)
{
	GENERAL_NAME *name = GENERAL_NAME_new();

	if (name == NULL || value == NULL) {
		GENERAL_NAME_free(name);
		return false;
	}
	GENERAL_NAME_set0_value(name, type, value);
	if (sk_GENERAL_NAME_push(names, name) <= 0) {
		GENERAL_NAME_free(name);
		return false;
	}
	return true;
}

static int collect_names(const struct leaf_options *opt, GENERAL_NAMES *names, struct err *err)
{
	for (size_t i = 0; i < opt->dns_count; i++) {
		ASN1_IA5STRING *text;

		if (!is_dns_name(opt->dns[i])) {
			return err_set(err, ERR_INVALID, "invalid DNS name \"%s\"", opt->dns[i]);
		}
		text = ASN1_IA5STRING_new();
		if (text == NULL || ASN1_STRING_set(text, opt->dns[i], -1) != 1 ||
		    !push_name(names, GEN_DNS, text)) {
			ASN1_IA5STRING_free(text);
			return x509_fail(err, ERR_INTERNAL, "subjectAltName");
		}
	}
	for (size_t i = 0; i < opt->ip_count; i++) {
		ASN1_OCTET_STRING *ip = a2i_IPADDRESS(opt->ip[i]);

		if (!push_name(names, GEN_IPADD, ip)) {
			ASN1_OCTET_STRING_free(ip);
			(void)x509_fail(NULL, ERR_INVALID, "");
			return err_set(err, ERR_INVALID, "invalid IP address \"%s\"", opt->ip[i]);
		}
	}
	return 0;
}

static int add_names(X509 *cert, const struct leaf_options *opt, struct err *err)
{
	GENERAL_NAMES *names = GENERAL_NAMES_new();
	int r = names != NULL ? collect_names(opt, names, err)
			      : x509_fail(err, ERR_INTERNAL, "subjectAltName");

	if (r == 0 && sk_GENERAL_NAME_num(names) > 0 &&
	    X509_add1_ext_i2d(cert, NID_subject_alt_name, names, 0, X509V3_ADD_DEFAULT) != 1) {
		r = x509_fail(err, ERR_INTERNAL, "subjectAltName");
	}
	GENERAL_NAMES_free(names);
	return r;
}

static int add_extensions(X509 *cert, X509 *ca, bool client, struct err *err)
{
	const struct {
		int nid;
		const char *value;
	} rows[] = {
		{ NID_basic_constraints, "critical,CA:FALSE" },
		{ NID_key_usage, "critical,digitalSignature" },
		{ NID_ext_key_usage, client ? "serverAuth,clientAuth" : "serverAuth" },
		{ NID_subject_key_identifier, "hash" },
		{ NID_authority_key_identifier, "keyid:always" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int r = x509_add_extension(cert, ca, rows[i].nid, rows[i].value, err);

		if (r < 0) {
			return r;
		}
	}
	return 0;
}

static int fill_certificate(X509 *cert, X509 *ca, const struct leaf_options *opt, struct err *err)
{
	unsigned days = opt->days != 0 ? opt->days : LEAF_DEFAULT_DAYS;
	int64_t end = opt->now_ns + (opt->validity_ns > 0 ? opt->validity_ns : days * LEAF_DAY_NS);
	int64_t ca_end = x509_time(X509_get0_notAfter(ca));
	int r;

	if (X509_set_issuer_name(cert, X509_get_subject_name(ca)) != 1) {
		return x509_fail(err, ERR_INTERNAL, "issuer");
	}
	r = x509_set_validity(cert, opt->now_ns - LEAF_SKEW_NS, end < ca_end ? end : ca_end, err);
	if (r == 0) {
		r = add_names(cert, opt, err);
	}
	return r == 0 ? add_extensions(cert, ca, opt->client, err) : r;
}

static int check_options(const struct leaf_options *opt, struct err *err)
{
	if (opt->days > LEAF_MAX_DAYS) {
		return err_set(err, ERR_INVALID, "validity of %u days: at most %d", opt->days,
			       LEAF_MAX_DAYS);
	}
	if (opt->dns_count + opt->ip_count > LEAF_MAX_NAMES) {
		return err_set(err, ERR_INVALID, "%zu names: at most %d",
			       opt->dns_count + opt->ip_count, LEAF_MAX_NAMES);
	}
	if (opt->dns_count + opt->ip_count == 0 && !opt->client) {
		return err_set(err, ERR_INVALID, "a server certificate needs a name");
	}
	return 0;
}

static const char *subject_of(const struct leaf_options *opt)
{
	if (opt->common_name != NULL) {
		return opt->common_name;
	}
	if (opt->dns_count > 0) {
		return opt->dns[0];
	}
	return opt->ip_count > 0 ? opt->ip[0] : "headgate";
}

int leaf_create(const struct leaf_options *opt, struct pair *ret, struct err *err)
{
	CLEANUP(x509_freep) X509 *ca = NULL;
	CLEANUP(x509_key_freep) EVP_PKEY *ca_key = NULL;
	CLEANUP(x509_freep) X509 *cert = NULL;
	CLEANUP(x509_key_freep) EVP_PKEY *key = NULL;
	int r = check_options(opt, err);

	if (r < 0) {
		return r;
	}
	r = x509_parse_cert(strbuf_str(&opt->ca->cert), &ca, err);
	if (r == 0) {
		r = x509_parse_key(strbuf_str(&opt->ca->key), &ca_key, err);
	}
	if (r < 0) {
		return err_wrap(err, "certificate authority");
	}
	r = x509_new_key(&key, err);
	if (r == 0) {
		r = x509_new(subject_of(opt), opt->organization, key, &cert, err);
	}
	if (r == 0) {
		r = fill_certificate(cert, ca, opt, err);
	}
	if (r == 0) {
		r = x509_sign(cert, ca_key, err);
	}
	return r == 0 ? x509_to_pair(cert, key, ret, err) : r;
}
