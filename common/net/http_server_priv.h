/* common/net/http_server_priv.h: shared by the http_server*.c files; no other file includes it. A
 * connection is used by the one server thread that owns it; `node`, `cut`, `suspended`, `wait_for`
 * and `gone` are guarded by the server's lock, `deadline_ns` is read by the reaper thread. */
#ifndef COMMON_NET_HTTP_SERVER_PRIV_H
#define COMMON_NET_HTTP_SERVER_PRIV_H

#include <gnutls/abstract.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/strbuf.h"
#include "collections/list.h"
#include "net/http_server.h"

/* The most memory of each kind (arena, body, request line) that a connection keeps between
 * requests. */
#define HTTP_SERVER_KEEP_BYTES 16384

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
	atomic_size_t bodies; /* bytes of all bodies, see http_server_options.max_bodies */
	atomic_bool trim;     /* large bodies were freed: return memory to the system */
	_Atomic uint64_t wake_seq;
	_Atomic uint64_t generation; /* of the current certificate */

	pthread_mutex_t lock; /* guards what follows */
	struct list_node conns;
	unsigned open; /* connections that were not cut to make room */
	struct http_server_cred *cred;
	bool reaper_stop;
	bool closing; /* the grace of http_server_stop is over: no request may wait any more */
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
	_Atomic int64_t deadline_ns; /* CLOCK_NEVER: none */
	bool cut; /* shut down to make room for another one; MHD has not closed it yet */
	struct http_server_cred *cred; /* held until the handshake is over */
	uint64_t generation;           /* of the certificate in its handshake */

	/* the request */
	bool started, counted;
	int refused;        /* status to answer after the body was received; 0: none */
	size_t body_seen;   /* bytes received */
	size_t body_limit;  /* most bytes to receive: the announced length, or the server's limit */
	size_t body_charge; /* part of the server's `bodies` */
	struct arena *arena; /* NULL until needed, kept between requests unless it grew large */
	struct strbuf line, body;
	struct http_request req;

	bool suspended, gone;
	uint64_t wait_for; /* suspended before there is a response; 0: not */

	/* the open response, if any */
	const struct http_stream *stream;
	bool stream_ended;
	struct strbuf out;
	size_t out_sent;
};

/* http_server_listen.c: a non-blocking listening socket; port 0: the kernel picks one. */
int http_server_listen(const char *address, uint16_t port, int *ret_fd, struct err *err);
uint16_t http_server_listen_port(int fd);
void http_server_listen_stop(const struct http_server *s); /* no more connections */

/* http_server_tls.c: certificate generations, reference counted. */
int http_server_tls_load(struct str cert, struct str key, struct http_server_cred **ret,
			 struct err *err);
void http_server_tls_unref(struct http_server_cred *cred); /* NULL is fine */
uint64_t http_server_tls_generation(const struct http_server_cred *cred);
/* For MHD_OPTION_HTTPS_CERT_CALLBACK: hands the server's current pair to a handshake. */
http_server_tls_cert_fn http_server_tls_callback(void);

/* http_server.c: sends the response; what it points to lives until the request is completed. */
enum MHD_Result http_server_queue(struct http_server_conn *c, const struct http_response *r);

/* http_server_body.c: bodies, their limits and their memory. */
/* The headers are complete. May answer already, where the body need not be read. */
enum MHD_Result http_server_body_begin(struct http_server_conn *c);
/* False: the connection is to be cut. */
bool http_server_body_add(struct http_server_conn *c, const char *bytes, size_t len);
enum MHD_Result http_server_body_refuse(struct http_server_conn *c); /* answers c->refused */
void http_server_body_release(struct http_server_conn *c);
void http_server_body_note_freed(struct http_server *s, size_t bytes);
void http_server_body_trim(struct http_server *s); /* reaper thread */
void http_server_body_init(void);                  /* of the process; more than once does no harm */

/* http_server_stream.c: responses that stay open. */
struct MHD_Response *http_server_stream_open(struct http_server_conn *c,
					     const struct http_response *r);
void http_server_stream_finish(struct http_server_conn *c); /* runs close once; idempotent */
/* Resumes every suspended stream; the lock is held. */
void http_server_stream_wake_locked(struct http_server *s);

/* http_server_suspend.c: connections that cost neither a thread nor CPU until they are resumed. */
enum http_server_suspended {
	HTTP_SERVER_SUSPENDED, /* MHD calls again once the connection is resumed */
	HTTP_SERVER_WOKEN,     /* woken since `seen` was read, or resumed already: ask again */
	HTTP_SERVER_GONE,      /* the client is gone, or the server closes what is left */
};
/* seen: wake_seq as read before the decision to wait. wait_for 0: a stream. */
enum http_server_suspended http_server_suspend(struct http_server_conn *c, uint64_t wait_for,
					       uint64_t seen);
bool http_server_suspend_is_gone(struct http_server_conn *c);
/* The lock is held. wake: all requests that wait for this number. */
void http_server_suspend_resume_locked(struct http_server_conn *c);
void http_server_suspend_wake_locked(struct http_server *s, uint64_t number);
/* Resumes all suspended connections and suspends none from now on; the lock is held. */
void http_server_suspend_close_locked(struct http_server *s);
/* Finds suspended connections that their client has closed; the lock is held. */
void http_server_suspend_reap_locked(struct http_server *s);

#endif
