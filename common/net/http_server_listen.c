/* We open the listening socket, not MHD, so that the kernel can pick the port (port 0) and one
 * socket serves both address families. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/err.h"
#include "net/http_server_priv.h"

#define LISTEN_BACKLOG 1024

static int bind_one(const struct addrinfo *ai, int *ret_fd)
{
	int on = 1, off = 0;
	int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0) {
		return -errno;
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (ai->ai_family == AF_INET6) {
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	}
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) < 0 || listen(fd, LISTEN_BACKLOG) < 0) {
		int r = -errno;

		close(fd);
		return r;
	}
	*ret_fd = fd;
	return 0;
}

/* Every address: first IPv6 with mapped IPv4; IPv4 alone where the machine has no IPv6. */
int http_server_listen(const char *address, uint16_t port, int *ret_fd, struct err *err)
{
	bool any = address == NULL || address[0] == '\0';
	struct addrinfo hints = { .ai_family = AF_UNSPEC,
				  .ai_socktype = SOCK_STREAM,
				  .ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV };
	const char *tries[] = { any ? "::" : address, any ? "0.0.0.0" : NULL };
	char service[8];
	int r = -EINVAL;

	snprintf(service, sizeof(service), "%u", port);
	for (size_t i = 0; i < ARRAY_LEN(tries) && tries[i] != NULL; i++) {
		struct addrinfo *found = NULL;
		int g = getaddrinfo(tries[i], service, &hints, &found);

		if (g != 0) {
			return err_set(err, ERR_INVALID, "listen address %s: %s", tries[i],
				       gai_strerror(g));
		}
		r = bind_one(found, ret_fd);
		freeaddrinfo(found);
		if (r == 0) {
			return 0;
		}
	}
	return err_set(err, ERR_IO, "listen on %s port %u: %s", any ? "*" : address, port,
		       strerror(-r));
}

uint16_t http_server_listen_port(int fd)
{
	struct sockaddr_storage sa = { 0 };
	socklen_t len = sizeof(sa);
	char service[8] = "0";
	uint64_t port = 0;

	if (getsockname(fd, (struct sockaddr *)&sa, &len) == 0 &&
	    getnameinfo((struct sockaddr *)&sa, len, NULL, 0, service, sizeof(service),
			NI_NUMERICSERV) == 0) {
		(void)str_to_u64(str_of(service), &port);
	}
	return (uint16_t)port;
}

/* A thread of MHD with the maximum number of connections removes the socket from its epoll set. */
static bool is_crowded(const struct http_server *s)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);

	return info == NULL || info->num_connections >= s->opt.max_connections / s->opt.threads / 2;
}

/* MHD's threads remove the socket from their epoll sets when the daemon is quiesced.
 * MHD_quiesce_daemon does so, too, and aborts when a thread was faster. So the socket's descriptor
 * is replaced by an eventfd on which nothing ever arrives: closing the listening socket removes it
 * from the epoll sets, and MHD closes the eventfd in the end. Threads that poll
 * (thread_per_connection) hold the socket while they wait, so there the daemon is quiesced. */
static bool replace_listener(const struct http_server *s)
{
	int nothing = s->opt.thread_per_connection || is_crowded(s) ? -1 : eventfd(0, EFD_CLOEXEC);
	bool replaced = nothing >= 0 && dup3(nothing, s->listener, O_CLOEXEC) >= 0;

	if (nothing >= 0) {
		close(nothing);
	}
	return replaced;
}

void http_server_listen_stop(const struct http_server *s)
{
	MHD_socket fd = replace_listener(s) ? MHD_INVALID_SOCKET : MHD_quiesce_daemon(s->daemon);

	if (fd != MHD_INVALID_SOCKET) {
		close(fd);
	}
}
