#include "certs/x509.h"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <time.h>

#include "base/clock.h"
#include "base/err.h"

#define X509_SERIAL_BITS 127 /* positive, below the 20 octets of RFC 5280 */
#define X509_MAX_COMMON_NAME 64

int x509_fail(struct err *err, int code, const char *what)
{
	unsigned long e = ERR_peek_last_error();
	const char *reason = e != 0 ? ERR_reason_error_string(e) : NULL;

	ERR_clear_error();
	return err_set(err, (enum err_code)code, "%s: %s", what,
		       reason != NULL ? reason : "cannot be read");
}

void x509_freep(X509 **cert)
{
	X509_free(*cert);
	*cert = NULL;
}

void x509_key_freep(EVP_PKEY **key)
{
	EVP_PKEY_free(*key);
	*key = NULL;
}

int x509_new_key(EVP_PKEY **ret, struct err *err)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");

	if (key == NULL) {
		return x509_fail(err, ERR_INTERNAL, "generate a key");
	}
	*ret = key;
	return 0;
}

static bool set_serial(X509 *cert)
{
	BIGNUM *serial = BN_new();
	bool ok = serial != NULL &&
		  BN_rand(serial, X509_SERIAL_BITS, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
		  BN_to_ASN1_INTEGER(serial, X509_get_serialNumber(cert)) != NULL;

	BN_free(serial);
	return ok;
}

static bool add_name(X509_NAME *name, const char *field, const char *text)
{
	size_t len = strnlen(text, X509_MAX_COMMON_NAME);

	return X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, (const unsigned char *)text,
					  (int)len, -1, 0) == 1;
}

int x509_new(const char *common_name, const char *organization, EVP_PKEY *key, X509 **ret,
	     struct err *err)
{
	CLEANUP(x509_freep) X509 *cert = X509_new();
	X509_NAME *name;

	if (cert == NULL || X509_set_version(cert, X509_VERSION_3) != 1 || !set_serial(cert) ||
	    X509_set_pubkey(cert, key) != 1) {
		return x509_fail(err, ERR_INTERNAL, "new certificate");
	}
	name = X509_get_subject_name(cert);
	if ((organization != NULL && !add_name(name, "O", organization)) ||
	    !add_name(name, "CN", common_name)) {
		return x509_fail(err, ERR_INVALID, "certificate subject");
	}
	*ret = take_ptr(&cert);
	return 0;
}

int x509_set_validity(X509 *cert, int64_t not_before_ns, int64_t not_after_ns, struct err *err)
{
	if (ASN1_TIME_set(X509_getm_notBefore(cert), (time_t)(not_before_ns / CLOCK_NS_PER_S)) ==
		    NULL ||
	    ASN1_TIME_set(X509_getm_notAfter(cert), (time_t)(not_after_ns / CLOCK_NS_PER_S)) ==
		    NULL) {
		return x509_fail(err, ERR_INTERNAL, "certificate validity");
	}
	return 0;
}

int x509_add_extension(X509 *cert, X509 *issuer, int nid, const char *value, struct err *err)
{
	X509_EXTENSION *ext;
	X509V3_CTX ctx;
	int ok;

	X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
	ext = X509V3_EXT_nconf_nid(NULL, &ctx, nid, value);
	if (ext == NULL) {
		return x509_fail(err, ERR_INTERNAL, OBJ_nid2sn(nid));
	}
	ok = X509_add_ext(cert, ext, -1);
	X509_EXTENSION_free(ext);
	return ok == 1 ? 0 : x509_fail(err, ERR_INTERNAL, OBJ_nid2sn(nid));
}

int x509_sign(X509 *cert, EVP_PKEY *key, struct err *err)
{
	return X509_sign(cert, key, EVP_sha256()) > 0 ? 0 : x509_fail(err, ERR_INTERNAL, "sign");
}

static void take_bio(BIO *bio, struct strbuf *out)
{
	char *bytes = NULL;
	long len = BIO_get_mem_data(bio, &bytes);

	strbuf_add(out, bytes, (size_t)len);
}

int x509_to_pair(X509 *cert, EVP_PKEY *key, struct pair *ret, struct err *err)
{
	BIO *cert_bio = BIO_new(BIO_s_mem());
	BIO *key_bio = BIO_new(BIO_s_secmem());
	int r = 0;

	if (cert_bio == NULL || key_bio == NULL || PEM_write_bio_X509(cert_bio, cert) != 1 ||
	    PEM_write_bio_PKCS8PrivateKey(key_bio, key, NULL, NULL, 0, NULL, NULL) != 1) {
		r = x509_fail(err, ERR_INTERNAL, "write PEM");
	} else {
		take_bio(cert_bio, &ret->cert);
		take_bio(key_bio, &ret->key);
	}
	BIO_free(cert_bio);
	BIO_free(key_bio);
	return r;
}

static BIO *bio_of(struct str pem)
{
	return pem.len > 0 && pem.len <= PAIR_MAX_BYTES ? BIO_new_mem_buf(pem.p, (int)pem.len)
							: NULL;
}

/* Keeps OpenSSL from asking for a password on the terminal. */
static int no_password(char *buf, int size, int writing, void *ctx)
{
	(void)buf;
	(void)size;
	(void)writing;
	(void)ctx;
	return -1;
}

int x509_parse_cert(struct str pem, X509 **ret, struct err *err)
{
	BIO *bio = bio_of(pem);
	X509 *cert = bio != NULL ? PEM_read_bio_X509(bio, NULL, no_password, NULL) : NULL;

	BIO_free(bio);
	if (cert == NULL) {
		return x509_fail(err, ERR_INVALID, "certificate");
	}
	*ret = cert;
	return 0;
}

int x509_parse_key(struct str pem, EVP_PKEY **ret, struct err *err)
{
	BIO *bio = bio_of(pem);
	EVP_PKEY *key = bio != NULL ? PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL) : NULL;

	BIO_free(bio);
	if (key == NULL) {
		return x509_fail(err, ERR_INVALID, "private key");
	}
	*ret = key;
	return 0;
}

int64_t x509_time(const ASN1_TIME *t)
{
	struct tm tm = { 0 };

	return ASN1_TIME_to_tm(t, &tm) == 1 ? clock_of_utc(&tm) : 0;
}
