#include "process/signals.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/err.h"

static const int caught[] = { SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2 };

int signals_block(struct err *err)
{
	sigset_t set;
	int fd, r;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_LEN(caught); i++) {
		sigaddset(&set, caught[i]);
	}
	/* Threads inherit the mask, so that signals reach the signalfd alone. */
	r = pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (r != 0) {
		return err_set(err, ERR_IO, "cannot block signals: %s", strerror(r));
	}
	/* A write to a connection that the peer has closed then fails with EPIPE instead. */
	if (signal(SIGPIPE, SIG_IGN) == SIG_ERR) {
		return err_set(err, ERR_IO, "cannot ignore SIGPIPE: %s", strerror(errno));
	}
	/* Not blocking, since poll waits, with its timeout. */
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0) {
		return err_set(err, ERR_IO, "signalfd: %s", strerror(errno));
	}
	return fd;
}

int signals_next(int fd, int timeout_ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	struct signalfd_siginfo info;
	int r;

	do {
		r = poll(&pfd, 1, timeout_ms);
	} while (r < 0 && errno == EINTR);
	if (r <= 0 || read(fd, &info, sizeof(info)) != (ssize_t)sizeof(info)) {
		return 0;
	}
	return (int)info.ssi_signo;
}
