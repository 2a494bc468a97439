/* The bytes that come on one connection, and then its end. Whatever they are, the server answers in
 * HTTP/1.1 or closes, it goes on, and no handler gets more than the limits allow, or a body with
 * two different lengths in its headers. */
#include <arpa/inet.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "net/http_server.h"

#define MAX_BODY 4096
#define QUIET_MS 2

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void handle(void *ctx UNUSED, const struct http_request *req, struct arena *arena,
		   struct http_response *ret)
{
	CLEANUP(strbuf_finish) struct strbuf limit = STRBUF_INIT;

	if (req->body.len > MAX_BODY || req->path.p == NULL || req->query.p == NULL ||
	    req->server == NULL || req->waited) {
		abort();
	}
	(void)http_query_get(req->query, "limit", &limit);
	ret->status = 200;
	ret->content_type = "text/plain";
	ret->body = arena_str(arena, req->body);
}

static struct http_server *server(void)
{
	const struct http_server_options opt = { .address = "127.0.0.1",
						 .threads = 1,
						 .max_body = MAX_BODY,
						 .max_bodies = 2 * MAX_BODY,
						 .handler = handle };
	static struct http_server *s;

	if (s == NULL && http_server_start(&opt, &s, NULL) < 0) {
		abort();
	}
	return s;
}

static int open_connection(void)
{
	/* Closed by a reset, or the machine would run out of ports. */
	const struct linger reset = { .l_onoff = 1 };
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons(http_server_port(server())),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)) < 0) {
		abort();
	}
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char start[] = "HTTP/1.1 ";
	CLEANUP(strbuf_finish) struct strbuf in = STRBUF_INIT;
	int fd = open_connection();
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	char buf[4096];
	ssize_t n;

	for (size_t sent = 0; sent < size; sent += (size_t)n) {
		n = send(fd, data + sent, size - sent, MSG_NOSIGNAL);
		if (n <= 0) {
			break; /* it has heard enough */
		}
	}
	/* The server waits for more where it can: a moment without an answer ends it. */
	while (poll(&pfd, 1, QUIET_MS) > 0 && (n = recv(fd, buf, sizeof(buf), 0)) > 0) {
		strbuf_add(&in, buf, (size_t)n);
	}
	close(fd);
	n = (ssize_t)(in.len < sizeof(start) - 1 ? in.len : sizeof(start) - 1);
	if (in.len > 0 && memcmp(in.p, start, (size_t)n) != 0) {
		abort();
	}
	return 0;
}
