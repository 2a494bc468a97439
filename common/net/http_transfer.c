#include "net/http_transfer.h"

#include <curl/curl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/xmalloc.h"

#define TRANSFER_MAX_BODY ((size_t)64 << 20)
#define TRANSFER_CONNECT_NS (10 * CLOCK_NS_PER_S)
#define TRANSFER_SEND_BYTES 16384L /* of the buffer that a transfer has while it lasts */
#define TRANSFER_KEEPALIVE_IDLE_S 30L
#define TRANSFER_KEEPALIVE_INTERVAL_S 15L

/* The proxy of socks5:// resolves the names of hosts, as for other clients of Kubernetes; in curl
 * this is socks5h://. */
static char *copy_proxy(const char *url)
{
	static const char socks5[] = "socks5://";

	if (url != NULL && str_has_prefix(str_of(url), socks5)) {
		return xmalloc_printf("socks5h://%s", url + sizeof(socks5) - 1);
	}
	return xmalloc_dup_or_null(url);
}

void http_transfer_config_init(struct http_transfer_config *c, const struct http_loop_options *opt)
{
	const struct http_loop_tls *tls = opt->tls;

	*c = (struct http_transfer_config){ .http1_only = opt->http1_only };
	c->connect_ms =
		(opt->connect_ns > 0 ? opt->connect_ns : TRANSFER_CONNECT_NS) / CLOCK_NS_PER_MS;
	c->user_agent = xmalloc_dup(opt->user_agent != NULL ? opt->user_agent : "headgate");
	strbuf_init(&c->ca_pem);
	strbuf_init(&c->cert_pem);
	strbuf_init(&c->key_pem);
	c->proxy = copy_proxy(opt->proxy);
	for (size_t i = 0; opt->headers != NULL && opt->headers[i] != NULL; i++) {
		vec_push(&c->lines, xmalloc_dup(opt->headers[i]));
	}
	if (tls == NULL) {
		return;
	}
	c->insecure_skip_verify = tls->insecure_skip_verify;
	c->ca_file = xmalloc_dup_or_null(tls->ca_file);
	c->cert_file = xmalloc_dup_or_null(tls->cert_file);
	c->key_file = xmalloc_dup_or_null(tls->key_file);
	c->server_name = xmalloc_dup_or_null(tls->server_name);
	strbuf_add_str(&c->ca_pem, tls->ca_pem);
	strbuf_add_str(&c->cert_pem, tls->cert_pem);
	strbuf_add_str(&c->key_pem, tls->key_pem);
}

void http_transfer_config_finish(struct http_transfer_config *c)
{
	free(c->user_agent);
	free(c->ca_file);
	free(c->cert_file);
	free(c->key_file);
	free(c->server_name);
	free(c->proxy);
	for (size_t i = 0; i < c->lines.n; i++) {
		free(c->lines.v[i]);
	}
	vec_finish(&c->lines);
	strbuf_finish(&c->ca_pem);
	strbuf_finish(&c->cert_pem);
	strbuf_finish(&c->key_pem);
	vec_finish(&c->sockets);
}

void http_transfer_copy(struct http_transfer *t, const struct http_call *call)
{
	*t = (struct http_transfer){ .call = *call };
	t->url = xmalloc_dup(call->url);
	t->call.url = t->url;
	t->call.content_type = xmalloc_dup_or_null(call->content_type);
	t->call.accept = xmalloc_dup_or_null(call->accept);
	t->call.bearer = xmalloc_dup_or_null(call->bearer);
	strbuf_init(&t->body);
	strbuf_init(&t->answer);
	strbuf_add_str(&t->body, call->body);
	t->call.body = strbuf_str(&t->body);
	if (t->call.max_body == 0) {
		t->call.max_body = TRANSFER_MAX_BODY;
	}
}

static void free_const(const char *text)
{
	free((char *)(uintptr_t)text);
}

void http_transfer_finish(struct http_transfer *t)
{
	free(t->url);
	free(t->connect_to);
	free_const(t->call.content_type);
	free_const(t->call.accept);
	free_const(t->call.bearer);
	strbuf_wipe(&t->body); /* request bodies may contain private keys */
	strbuf_finish(&t->answer);
	curl_slist_free_all(t->headers);
	curl_slist_free_all(t->connect_list);
}

static long status_of(struct http_transfer *t)
{
	long status = 0;

	curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
	return status;
}

static void count_bytes(struct http_transfer *t, size_t n)
{
	t->received += n;
	t->last_bytes_ns = clock_mono(clock_real());
	t->config->last_bytes_ns = t->last_bytes_ns;
}

/* Headers count as bytes, too: a stream is silent only if nothing comes at all. */
static size_t on_header(char *bytes, size_t size, size_t n, void *ctx)
{
	(void)bytes;
	count_bytes(ctx, size * n);
	return size * n;
}

static size_t on_body(char *bytes, size_t size, size_t n, void *ctx)
{
	struct http_transfer *t = ctx;
	struct str piece = { bytes, size * n };

	count_bytes(t, piece.len);
	/* The body of an error is collected also for a stream: it says what is wrong. */
	if (t->call.on_data != NULL && status_of(t) < 300) {
		t->call.on_data(t->call.ctx, piece);
		return piece.len;
	}
	if (t->answer.len + piece.len > t->call.max_body) {
		/* With less than piece.len curl ends the transfer. */
		t->overflow = true;
		return 0;
	}
	strbuf_add_str(&t->answer, piece);
	return piece.len;
}

/* Called when a connection is established and the request is about to be written. curl silently
 * sends a request again when a kept-alive connection turns out to be dead. For a request that
 * changes something this would hide that it may have been executed twice, so we stop it: the caller
 * checks before it repeats. */
static int on_request(void *ctx, char *remote_ip, char *local_ip, int remote_port, int local_port)
{
	struct http_transfer *t = ctx;
	bool harmless = t->call.method == HTTP_GET || t->call.method == HTTP_HEAD;

	(void)remote_ip;
	(void)local_ip;
	(void)remote_port;
	t->local_port = local_port;
	if (t->sent && !harmless) {
		return CURL_PREREQFUNC_ABORT;
	}
	t->sent = true;
	return CURL_PREREQFUNC_OK;
}

/* Opens the socket as curl would, and notes it for http_transfer_cut_connection. */
static curl_socket_t on_open(void *ctx, curlsocktype purpose, struct curl_sockaddr *addr)
{
	struct http_transfer_config *c = ctx;
	int fd = socket(addr->family, addr->socktype | SOCK_CLOEXEC, addr->protocol);

	(void)purpose;
	if (fd < 0) {
		return CURL_SOCKET_BAD;
	}
	vec_push(&c->sockets, fd);
	return fd;
}

static int on_close(void *ctx, curl_socket_t fd)
{
	struct http_transfer_config *c = ctx;

	for (size_t i = 0; i < c->sockets.n; i++) {
		if (c->sockets.v[i] == fd) {
			vec_swap_remove(&c->sockets, i);
			break;
		}
	}
	return close(fd);
}

/* Not copied, because the configuration outlives all handles. */
static void set_blob(CURL *easy, CURLoption option, const struct strbuf *pem)
{
	struct curl_blob blob = { .data = pem->p, .len = pem->len, .flags = CURL_BLOB_NOCOPY };

	curl_easy_setopt(easy, option, &blob);
}

static void set_tls(CURL *easy, const struct http_transfer_config *c)
{
	curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (c->insecure_skip_verify) {
		curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
		curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
	}
	if (c->ca_pem.len > 0) {
		set_blob(easy, CURLOPT_CAINFO_BLOB, &c->ca_pem);
	} else if (c->ca_file != NULL) {
		curl_easy_setopt(easy, CURLOPT_CAINFO, c->ca_file);
	}
	if (c->ca_pem.len > 0 || c->ca_file != NULL) {
		/* Trust only the configured authority, not the system's. */
		curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
	}
	if (c->cert_pem.len > 0) {
		set_blob(easy, CURLOPT_SSLCERT_BLOB, &c->cert_pem);
	} else if (c->cert_file != NULL) {
		curl_easy_setopt(easy, CURLOPT_SSLCERT, c->cert_file);
	}
	if (c->key_pem.len > 0) {
		set_blob(easy, CURLOPT_SSLKEY_BLOB, &c->key_pem);
	} else if (c->key_file != NULL) {
		curl_easy_setopt(easy, CURLOPT_SSLKEY, c->key_file);
	}
}

/* As other clients of Kubernetes do, one authority is trusted for the proxy and for the server. */
static void set_proxy(CURL *easy, const struct http_transfer_config *c)
{
	curl_easy_setopt(easy, CURLOPT_PROXY, c->proxy);
	if (c->insecure_skip_verify) {
		curl_easy_setopt(easy, CURLOPT_PROXY_SSL_VERIFYPEER, 0L);
		curl_easy_setopt(easy, CURLOPT_PROXY_SSL_VERIFYHOST, 0L);
	}
	if (c->ca_pem.len > 0) {
		set_blob(easy, CURLOPT_PROXY_CAINFO_BLOB, &c->ca_pem);
	} else if (c->ca_file != NULL) {
		curl_easy_setopt(easy, CURLOPT_PROXY_CAINFO, c->ca_file);
	}
}

static void add_header(struct http_transfer *t, const char *line)
{
	struct curl_slist *longer = curl_slist_append(t->headers, line);

	if (longer != NULL) {
		t->headers = longer;
	}
}

static void add_value(struct http_transfer *t, const char *name, const char *value)
{
	CLEANUP(strbuf_finish) struct strbuf line = STRBUF_INIT;

	strbuf_add_c(&line, name);
	strbuf_add_c(&line, value);
	add_header(t, line.p);
}

static void set_method(struct http_transfer *t)
{
	CURL *easy = t->easy;
	bool has_body = t->call.content_type != NULL;

	curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L); /* resets the method of the previous call */
	curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, NULL);
	if (t->call.method == HTTP_HEAD) {
		curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
		return;
	}
	/* In curl all bodies from memory are those of a POST; the name of the method is set below.
	 * A method that usually has one sends a length of 0 when there is none. */
	if (has_body || t->call.method == HTTP_POST || t->call.method == HTTP_PUT ||
	    t->call.method == HTTP_PATCH) {
		curl_easy_setopt(easy, CURLOPT_POST, 1L);
		curl_easy_setopt(easy, CURLOPT_POSTFIELDS, t->body.p);
		curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)t->body.len);
	}
	curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, http_method_name(t->call.method));
}

static void set_headers(struct http_transfer *t)
{
	add_value(t, "Accept: ", t->call.accept != NULL ? t->call.accept : "application/json");
	add_header(t, "Expect:"); /* no "100 Continue" round trip before bodies */
	if (t->call.content_type != NULL) {
		add_value(t, "Content-Type: ", t->call.content_type);
	} else {
		add_header(t, "Content-Type:"); /* keeps curl from adding a type of its own */
	}
	if (t->call.bearer != NULL) {
		add_value(t, "Authorization: Bearer ", t->call.bearer);
	}
	for (size_t i = 0; i < t->config->lines.n; i++) {
		add_header(t, t->config->lines.v[i]);
	}
}

struct url_parts {
	char *host, *port;
};

static void url_parts_finish(struct url_parts *p)
{
	curl_free(p->host);
	curl_free(p->port);
}

/* curl verifies the host name in the URL. To verify another name, that name is put into the URL,
 * and the connection is redirected to the original address. The Host header stays the same. */
static void set_other_name(struct http_transfer *t)
{
	CLEANUP(url_parts_finish) struct url_parts parts = { 0 };
	const char *name = t->config->server_name;
	CURLU *u = curl_url();
	char *changed = NULL;
	char *host;

	if (u == NULL || curl_url_set(u, CURLUPART_URL, t->url, 0) != CURLUE_OK ||
	    curl_url_get(u, CURLUPART_HOST, &parts.host, 0) != CURLUE_OK ||
	    curl_url_get(u, CURLUPART_PORT, &parts.port, CURLU_DEFAULT_PORT) != CURLUE_OK) {
		curl_easy_setopt(t->easy, CURLOPT_URL, t->url);
		curl_url_cleanup(u);
		return;
	}
	if (!str_streq(name, parts.host) && curl_url_set(u, CURLUPART_HOST, name, 0) == CURLUE_OK &&
	    curl_url_get(u, CURLUPART_URL, &changed, 0) == CURLUE_OK) {
		t->connect_to =
			xmalloc_printf("%s:%s:%s:%s", name, parts.port, parts.host, parts.port);
		t->connect_list = curl_slist_append(NULL, t->connect_to);
		curl_easy_setopt(t->easy, CURLOPT_CONNECT_TO, t->connect_list);
		host = xmalloc_printf("%s:%s", parts.host, parts.port);
		add_value(t, "Host: ", host);
		free(host);
	}
	curl_easy_setopt(t->easy, CURLOPT_URL, changed != NULL ? changed : t->url);
	curl_free(changed);
	curl_url_cleanup(u);
}

/* Go's clients, kubectl among them, use no proxy of the environment for these. */
static bool is_loopback(const char *url)
{
	const char *after = strstr(url, "://");
	struct str host = str_of(after != NULL ? after + 3 : url);

	if (str_has_prefix(host, "[::1]")) {
		return true;
	}
	host.len = strcspn(host.p, ":/?#");
	return str_eq_c(host, "localhost") || str_has_prefix(host, "127.");
}

static void set_target(struct http_transfer *t)
{
	/* $NO_PROXY is about the proxy of the environment: a configured one serves every host. */
	curl_easy_setopt(t->easy, CURLOPT_NOPROXY,
			 t->config->proxy != NULL ? ""
			 : is_loopback(t->url)    ? "*"
						  : NULL);
	if (t->config->server_name != NULL) {
		set_other_name(t);
	} else {
		curl_easy_setopt(t->easy, CURLOPT_URL, t->url);
	}
}

void http_transfer_set_up(struct http_transfer_config *config, void *easy_handle)
{
	CURL *easy = easy_handle;

	/* curl must not use SIGALRM in a process with threads. */
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_USERAGENT, config->user_agent);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)config->connect_ms);
	curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, TRANSFER_SEND_BYTES);
	/* The kernel notices a peer that has vanished while nothing is sent, too. */
	curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, TRANSFER_KEEPALIVE_IDLE_S);
	curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, TRANSFER_KEEPALIVE_INTERVAL_S);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, config);
	curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, on_close);
	curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, config);
	curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_request);
	/* Calls share an HTTP/2 connection: they wait for one that is being made rather than open
	 * another. */
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
			 config->http1_only ? (long)CURL_HTTP_VERSION_1_1
					    : (long)CURL_HTTP_VERSION_2TLS);
	curl_easy_setopt(easy, CURLOPT_PIPEWAIT, config->http1_only ? 0L : 1L);
	set_tls(easy, config);
	if (config->proxy != NULL) {
		set_proxy(easy, config);
	}
}

void http_transfer_prepare(struct http_transfer *t, struct http_transfer_config *config,
			   void *easy_handle)
{
	CURL *easy = easy_handle;

	t->easy = easy;
	t->config = config;
	/* The silence of a stream counts from its start. */
	t->last_bytes_ns = clock_mono(clock_real());
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, t->error);
	curl_easy_setopt(easy, CURLOPT_PRIVATE, t);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, t);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, t);
	curl_easy_setopt(easy, CURLOPT_PREREQDATA, t);
	set_method(t);
	set_headers(t);
	set_target(t);
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, t->headers);
}

void http_transfer_release(struct http_transfer *t)
{
	curl_easy_setopt(t->easy, CURLOPT_ERRORBUFFER, NULL);
	curl_easy_setopt(t->easy, CURLOPT_POSTFIELDS, NULL);
	curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, NULL);
	curl_easy_setopt(t->easy, CURLOPT_CONNECT_TO, NULL);
}

/* Errors that mean that no connection was established, so that no request was sent. */
static bool is_connect_error(CURLcode code)
{
	static const CURLcode codes[] = {
		CURLE_COULDNT_RESOLVE_PROXY,
		CURLE_COULDNT_RESOLVE_HOST,
		CURLE_COULDNT_CONNECT,
		CURLE_SSL_CONNECT_ERROR,
		CURLE_PEER_FAILED_VERIFICATION,
		CURLE_SSL_CERTPROBLEM,
		CURLE_SSL_CACERT_BADFILE,
		CURLE_SSL_ISSUER_ERROR,
		CURLE_URL_MALFORMAT,
		CURLE_UNSUPPORTED_PROTOCOL,
		CURLE_SSL_INVALIDCERTSTATUS,
		CURLE_SSL_PINNEDPUBKEYNOTMATCH,
		CURLE_PROXY,
		CURLE_NO_CONNECTION_AVAILABLE,
	};

	for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
		if (codes[i] == code) {
			return true;
		}
	}
	return false;
}

/* ERR_UNAVAILABLE means that nothing was sent; the other errors leave the outcome open. */
static int error_of(const struct http_transfer *t, CURLcode code)
{
	if (code == CURLE_OK) {
		return 0;
	}
	if (is_connect_error(code)) {
		return ERR_UNAVAILABLE;
	}
	if (code == CURLE_OPERATION_TIMEDOUT) {
		/* http_loop has the other deadlines: this one is the connect timeout */
		return t->sent ? ERR_TIMEOUT : ERR_UNAVAILABLE;
	}
	return ERR_IO;
}

static int64_t parse_date(const char *text)
{
	time_t at = curl_getdate(text, NULL);

	return at < 0 || at > CLOCK_LATEST_NOW / CLOCK_NS_PER_S ? 0 : at * CLOCK_NS_PER_S;
}

/* curl_getdate takes 11,000 instructions, a fifteenth of a whole call. */
static int64_t date_of(const struct http_transfer *t)
{
	struct http_transfer_config *c = t->config;
	struct curl_header *h = NULL;
	size_t len;

	if (curl_easy_header(t->easy, "Date", 0, CURLH_HEADER, -1, &h) != CURLHE_OK) {
		return 0;
	}
	len = strlen(h->value);
	if (len == 0 || len >= sizeof(c->date_text)) {
		return parse_date(h->value);
	}
	if (strcmp(c->date_text, h->value) != 0) {
		memcpy(c->date_text, h->value, len + 1);
		c->date = parse_date(h->value);
	}
	return c->date;
}

void http_transfer_result(struct http_transfer *t, int code, struct http_result *ret)
{
	curl_off_t retry_after = 0;
	CURLcode c = (CURLcode)code;

	*ret = (struct http_result){ .retry_after_s = -1, .error_text = "" };
	ret->error = error_of(t, c);
	ret->may_have_been_sent = t->sent;
	ret->body = strbuf_str(&t->answer);
	if (ret->error == 0) {
		ret->status = (int)status_of(t);
		ret->date = date_of(t);
		curl_easy_getinfo(t->easy, CURLINFO_RETRY_AFTER, &retry_after);
		if (retry_after > 0) {
			ret->retry_after_s = retry_after < INT32_MAX ? (int)retry_after : INT32_MAX;
		}
		return;
	}
	ret->too_large = t->overflow;
	if (t->overflow) {
		snprintf(t->error, sizeof(t->error), "the answer is larger than %zu bytes",
			 t->call.max_body);
	}
	ret->error_text = t->error[0] != '\0' ? t->error : curl_easy_strerror(c);
}

static int local_port_of(int fd)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} sa = { .v6 = { 0 } };
	socklen_t len = sizeof(sa);

	if (getsockname(fd, &sa.any, &len) < 0) {
		return 0;
	}
	return ntohs(sa.any.sa_family == AF_INET6 ? sa.v6.sin6_port : sa.v4.sin_port);
}

/* curl names the socket of a transfer only after its end, so the connection is found by its local
 * port, which on_request has noted. */
void http_transfer_cut_connection(struct http_transfer *t)
{
	for (size_t i = 0; i < t->config->sockets.n; i++) {
		int fd = t->config->sockets.v[i];

		if (t->local_port != 0 && local_port_of(fd) == t->local_port) {
			/* curl owns the descriptor and closes it when it sees the end. */
			shutdown(fd, SHUT_RDWR);
		}
	}
}
