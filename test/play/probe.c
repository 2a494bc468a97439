#include "play/probe.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/str.h"
#include "base/strbuf.h"

int probe_connect(uint16_t port)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons(port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof(a)) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

bool probe_send(int fd, const void *bytes, size_t len)
{
	const char *p = bytes;

	while (len > 0) {
		ssize_t n = send(fd, p, len, MSG_NOSIGNAL);

		if (n <= 0) {
			return false;
		}
		p += n;
		len -= (size_t)n;
	}
	return true;
}

ssize_t probe_receive(int fd, void *out, size_t size, int timeout_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	ssize_t n;

	if (poll(&p, 1, timeout_ms) <= 0) {
		return -1;
	}
	n = recv(fd, out, size, 0);
	return n < 0 ? 0 : n;
}

/* "HTTP/1.1 200 OK\r\n...\r\n\r\nbody" */
static int split_answer(struct str text, struct strbuf *out)
{
	static const char blank[] = "\r\n\r\n";
	const char *body = memmem(text.p, text.len, blank, sizeof(blank) - 1);
	uint64_t status;

	if (body == NULL || text.len < 12 || !str_has_prefix(text, "HTTP/1.") ||
	    !str_to_u64((struct str){ text.p + 9, 3 }, &status)) {
		return 0;
	}
	if (out != NULL) {
		body += sizeof(blank) - 1;
		strbuf_reset(out);
		strbuf_add(out, body, (size_t)(text.p + text.len - body));
	}
	return (int)status;
}

int probe_get(uint16_t port, const char *path, struct strbuf *out, int timeout_ms)
{
	struct strbuf text = STRBUF_INIT;
	char chunk[4096];
	int fd = probe_connect(port), status = 0;
	ssize_t n;

	if (fd < 0) {
		return 0;
	}
	strbuf_printf(&text, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
		      path);
	if (probe_send(fd, text.p, text.len)) {
		strbuf_reset(&text);
		while ((n = probe_receive(fd, chunk, sizeof(chunk), timeout_ms)) > 0) {
			strbuf_add(&text, chunk, (size_t)n);
		}
		status = text.len == 0 ? 0 : split_answer(strbuf_str(&text), out);
	}
	strbuf_finish(&text);
	close(fd);
	return status;
}
