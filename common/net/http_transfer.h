/* common/net/http_transfer.h: one HTTP call on a curl easy handle. Used by http_loop alone.
 * Owner: the loop's thread, except for http_transfer_copy (the submitting thread). */
#ifndef COMMON_NET_HTTP_TRANSFER_H
#define COMMON_NET_HTTP_TRANSFER_H

#include "base/strbuf.h"
#include "collections/vec.h"
#include "net/http_loop.h"

struct curl_slist;

/* Shared by the transfers of one loop: a deep copy of http_loop_options. */
struct http_transfer_config {
	char *user_agent;
	bool http1_only;
	bool insecure_skip_verify;
	char *ca_file, *cert_file, *key_file, *server_name;
	char *proxy;              /* or NULL */
	struct VEC(char *) lines; /* headers of every request */
	struct strbuf ca_pem, cert_pem, key_pem;
	int64_t connect_ms;
	int64_t last_bytes_ns; /* when any transfer last received bytes */
	/* The last Date header and its time: most answers of a second have the same. */
	char date_text[40];
	int64_t date;
	struct VEC(int)
		sockets; /* open ones; curl does not expose which one a running transfer uses */
};

struct http_transfer {
	struct http_call call; /* strings are our own copies */
	char *url, *connect_to;
	struct strbuf body;
	void *easy; /* CURL * */
	struct curl_slist *headers, *connect_list;
	struct http_transfer_config *config;

	int local_port;        /* of its connection, 0: none yet */
	bool sent;             /* the request may have left this process */
	bool overflow;         /* the answer was larger than max_body */
	uint64_t received;     /* bytes of the answer, headers included */
	int64_t last_bytes_ns; /* when the last of them came */
	struct strbuf answer;
	char error[256];
};

/* Copies what opt points to. */
void http_transfer_config_init(struct http_transfer_config *c, const struct http_loop_options *opt);
/* After the last transfer. */
void http_transfer_config_finish(struct http_transfer_config *c);

/* Copies call; the transfer is not started. */
void http_transfer_copy(struct http_transfer *t, const struct http_call *call);
void http_transfer_finish(struct http_transfer *t); /* frees the copies; not the easy handle */
/* Sets the options of easy (fresh) that are the same for all calls of a loop; they stay set between
 * calls. */
void http_transfer_set_up(struct http_transfer_config *config, void *easy);
/* Sets the options of easy that are specific to this call; other calls may have used it before. */
void http_transfer_prepare(struct http_transfer *t, struct http_transfer_config *config,
			   void *easy);
/* Clears the pointers that easy borrows from t, so that another call can use it. */
void http_transfer_release(struct http_transfer *t);
/* Translates a CURLcode into a result that borrows from t. */
void http_transfer_result(struct http_transfer *t, int code, struct http_result *ret);
/* Shuts down the connection of the transfer, so that it is not reused. */
void http_transfer_cut_connection(struct http_transfer *t);

#endif
