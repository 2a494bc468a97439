/* common/net/http.h: HTTP requests and responses as plain values, shared by the client loop, the
 * server, the in-memory transport and the embedded API server. No sockets here. */
#ifndef COMMON_NET_HTTP_H
#define COMMON_NET_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct http_server;
struct strbuf;

enum http_method {
	HTTP_GET,
	HTTP_POST,
	HTTP_PUT,
	HTTP_PATCH,
	HTTP_DELETE,
	HTTP_HEAD,
	HTTP_OTHER,
	HTTP_METHOD_COUNT_
};

/* A request as a server handler gets it. Slices are borrowed for the duration of the call. */
struct http_request {
	enum http_method method;
	struct str path;  /* as sent, without the query */
	struct str query; /* raw, without '?' */
	struct str content_type;
	struct str accept;
	struct str user_agent;
	struct str authorization;
	struct str body;
	struct http_server *server; /* for http_server_wake_waiting; NULL: requests cannot wait */
	bool waited;                /* called again after http_response.wait_for */
};

const char *http_method_name(enum http_method m);
enum http_method http_method_of(struct str name);
/* Value of a query parameter, percent-decoded into out (reset first); false: absent. */
bool http_query_get(struct str query, const char *name, struct strbuf *out);
void http_query_escape(struct str text, struct strbuf *out);  /* appends */
void http_path_unescape(struct str text, struct strbuf *out); /* appends; "%zz" stays as it is */
const char *http_status_text(int status);

#endif
