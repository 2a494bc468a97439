/* Certificates of the server as generations. MHD asks for the pair at every handshake, and GnuTLS
 * borrows it until that handshake ends. So each connection holds a reference on its generation
 * until its first request has been parsed, and a swap only replaces a pointer. */
#include "net/http_server_priv.h"

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <limits.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/xmalloc.h"

#define TLS_MAX_CHAIN 16
#define TLS_KEY_ID_MAX 64

struct http_server_cred {
	atomic_uint refs;
	uint64_t generation;
	gnutls_pcert_st chain[TLS_MAX_CHAIN];
	unsigned chain_len;
	gnutls_privkey_t key;
};

/* GnuTLS only reads from it. The length fits, http_server_tls_load has checked it. */
static gnutls_datum_t datum_of(struct str s)
{
	return (gnutls_datum_t){ .data = (unsigned char *)(uintptr_t)s.p, .size = (unsigned)s.len };
}

/* GnuTLS itself would notice a key of another certificate only in the first handshake. */
static int check_pair(struct http_server_cred *cred, struct err *err)
{
	unsigned char cert_id[TLS_KEY_ID_MAX], key_id[TLS_KEY_ID_MAX];
	size_t cert_len = sizeof(cert_id), key_len = sizeof(key_id);
	gnutls_pubkey_t pub = NULL;
	int r;

	r = gnutls_pubkey_init(&pub);
	if (r == 0) {
		r = gnutls_pubkey_import_privkey(pub, cred->key, 0, 0);
	}
	if (r == 0) {
		r = gnutls_pubkey_get_key_id(pub, GNUTLS_KEYID_USE_SHA256, key_id, &key_len);
	}
	if (r == 0) {
		r = gnutls_pubkey_get_key_id(cred->chain[0].pubkey, GNUTLS_KEYID_USE_SHA256,
					     cert_id, &cert_len);
	}
	gnutls_pubkey_deinit(pub);
	if (r < 0) {
		return err_set(err, ERR_INVALID, "key pair: %s", gnutls_strerror(r));
	}
	if (cert_len != key_len || memcmp(cert_id, key_id, key_len) != 0) {
		return err_set(err, ERR_INVALID,
			       "the private key does not belong to the certificate");
	}
	return 0;
}

static int load_chain(struct http_server_cred *cred, struct str cert, struct err *err)
{
	gnutls_datum_t data = datum_of(cert);
	unsigned n = TLS_MAX_CHAIN;
	int r;

	r = gnutls_pcert_list_import_x509_raw(cred->chain, &n, &data, GNUTLS_X509_FMT_PEM, 0);
	if (r < 0) {
		return err_set(err, ERR_INVALID, "certificate: %s", gnutls_strerror(r));
	}
	cred->chain_len = n;
	if (n == 0) {
		return err_set(err, ERR_INVALID, "certificate: the PEM text contains none");
	}
	return 0;
}

static int load_key(struct http_server_cred *cred, struct str key, struct err *err)
{
	gnutls_datum_t data = datum_of(key);
	int r;

	r = gnutls_privkey_init(&cred->key);
	if (r == 0) {
		r = gnutls_privkey_import_x509_raw(cred->key, &data, GNUTLS_X509_FMT_PEM, NULL, 0);
	}
	return r < 0 ? err_set(err, ERR_INVALID, "private key: %s", gnutls_strerror(r)) : 0;
}

int http_server_tls_load(struct str cert, struct str key, struct http_server_cred **ret,
			 struct err *err)
{
	static _Atomic uint64_t generations;
	struct http_server_cred *cred;
	int r;

	if (cert.len == 0 || key.len == 0 || cert.len > INT_MAX || key.len > INT_MAX) {
		return err_set(err, ERR_INVALID, "certificate and key must not be empty");
	}
	cred = xmalloc_zero(1, sizeof(*cred));
	atomic_init(&cred->refs, 1);
	r = load_chain(cred, cert, err);
	if (r == 0) {
		r = load_key(cred, key, err);
	}
	if (r == 0) {
		r = check_pair(cred, err);
	}
	if (r < 0) {
		http_server_tls_unref(cred);
		return r;
	}
	cred->generation = atomic_fetch_add(&generations, 1) + 1;
	*ret = cred;
	return 0;
}

int http_server_tls_check(struct str cert, struct str key, struct err *err)
{
	struct http_server_cred *cred = NULL;
	int r = http_server_tls_load(cert, key, &cred, err);

	http_server_tls_unref(cred);
	return r;
}

static struct http_server_cred *ref(struct http_server_cred *cred)
{
	atomic_fetch_add(&cred->refs, 1);
	return cred;
}

void http_server_tls_unref(struct http_server_cred *cred)
{
	/* Connections of an old pair may outlive it: the last one of them frees it. */
	if (cred == NULL || atomic_fetch_sub(&cred->refs, 1) != 1) {
		return;
	}
	for (unsigned i = 0; i < cred->chain_len; i++) {
		gnutls_pcert_deinit(&cred->chain[i]);
	}
	gnutls_privkey_deinit(cred->key);
	free(cred);
}

uint64_t http_server_tls_generation(const struct http_server_cred *cred)
{
	return cred->generation;
}

static int on_handshake(gnutls_session_t session, const gnutls_datum_t *ca_names, int ca_count,
			const gnutls_pk_algorithm_t *algos, int algo_count,
			gnutls_pcert_st **ret_chain, unsigned int *ret_len,
			gnutls_privkey_t *ret_key)
{
	struct MHD_Connection *mhd = gnutls_session_get_ptr(session);
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct http_server_conn *c = info != NULL ? info->socket_context : NULL;

	(void)ca_names;
	(void)ca_count;
	(void)algos;
	(void)algo_count;
	if (c == NULL) {
		return -1;
	}
	if (c->cred == NULL) {
		/* Within one handshake the pair stays the same. */
		pthread_mutex_lock(&c->server->lock);
		c->cred = ref(c->server->cred);
		pthread_mutex_unlock(&c->server->lock);
		c->generation = c->cred->generation;
	}
	*ret_chain = c->cred->chain;
	*ret_len = c->cred->chain_len;
	*ret_key = c->cred->key;
	return 0;
}

http_server_tls_cert_fn http_server_tls_callback(void)
{
	return on_handshake;
}
