/* common/net/http_server_priv.h: what the http_server*.c files share; nobody else includes it.
 * A connection is used by the one server thread that owns it; `node`, `suspended` and `gone` are
 * guarded by the server's lock, `deadline_ns` is read by the reaper thread. */
#ifndef COMMON_NET_HTTP_SERVER_PRIV_H
#define COMMON_NET_HTTP_SERVER_PRIV_H

#include <gnutls/abstract.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/list.h"
#include "base/strbuf.h"
#include "net/http_server.h"

struct http_server_cred;

typedef gnutls_certificate_retrieve_function2 *http_server_tls_cert_fn;

struct http_server {
	struct MHD_Daemon *daemon;
	struct http_server_options opt; /* defaults filled in; the TLS texts are not kept */
	bool tls;
	uint16_t port;
	int listener; /* belongs to MHD */
	atomic_bool stopping;
	atomic_uint in_flight;
	_Atomic uint64_t wake_seq;
	_Atomic uint64_t generation; /* of the current certificate */

	pthread_mutex_t lock; /* guards what follows */
	struct list_node conns;
	struct http_server_cred *cred;
	bool reaper_stop;
	pthread_cond_t reaper_cond; /* reaper_stop was set */
	pthread_cond_t quiet_cond;  /* a request or a connection ended */
	pthread_cond_t resume_cond; /* thread_per_connection: a stream was resumed */
	pthread_t reaper;
};

struct http_server_conn {
	struct list_node node;
	struct http_server *server;
	struct MHD_Connection *mhd;
	int fd;
	_Atomic int64_t deadline_ns;   /* CLOCK_NEVER: none */
	struct http_server_cred *cred; /* held until the handshake is over */
	uint64_t generation;           /* of the certificate it was greeted with */

	/* the request */
	bool started, counted, too_large;
	size_t body_seen;
	struct arena *arena; /* NULL until needed, kept between requests unless it grew large */
	struct strbuf body;  /* likewise */
	struct http_request req;

	/* the open response, if any */
	const struct http_stream *stream;
	bool stream_ended, suspended, gone;
	struct strbuf out;
	size_t out_sent;
};

/* http_server_listen.c: a non-blocking listening socket; port 0: the kernel picks one. */
int http_server_listen(const char *address, uint16_t port, int *ret_fd, struct err *err);
uint16_t http_server_listen_port(int fd);

/* http_server_tls.c: certificate generations, reference counted. */
int http_server_tls_load(struct str cert, struct str key, struct http_server_cred **ret,
			 struct err *err);
void http_server_tls_unref(struct http_server_cred *cred); /* NULL is fine */
uint64_t http_server_tls_generation(const struct http_server_cred *cred);
/* For MHD_OPTION_HTTPS_CERT_CALLBACK: hands the server's current pair to a handshake. */
http_server_tls_cert_fn http_server_tls_callback(void);

/* http_server_stream.c: responses that stay open. */
struct MHD_Response *http_server_stream_open(struct http_server_conn *c,
					     const struct http_response *r);
void http_server_stream_finish(struct http_server_conn *c); /* runs close once; idempotent */
/* Resumes every suspended stream; the lock is held. */
void http_server_stream_wake_locked(struct http_server *s);
/* Finds suspended streams whose client has gone; the lock is held. */
void http_server_stream_reap_locked(struct http_server *s);

#endif
