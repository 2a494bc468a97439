#include "play/proc.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/rng.h"
#include "lib/wait.h"

#define FIRST_PORT 10000 /* below ip_local_port_range as kernels have it */
#define PORTS 10000

/* Runs in the child between fork and exec: async-signal-safe calls only. */
static NORETURN void child(const char *const *argv, int log, pid_t parent)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) {
		_exit(127);
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(log, STDOUT_FILENO);
	dup2(log, STDERR_FILENO);
	execv(argv[0], (char *const *)(uintptr_t)argv);
	_exit(127);
}

int proc_start(struct proc *p, const char *const *argv, const char *log_path, struct err *err)
{
	pid_t parent = getpid(), pid;
	int log = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	if (log < 0) {
		return err_set(err, ERR_IO, "%s: %s", log_path, strerror(errno));
	}
	pid = fork();
	if (pid == 0) {
		child(argv, log, parent);
	}
	close(log);
	if (pid < 0) {
		return err_set(err, ERR_IO, "fork: %s", strerror(errno));
	}
	p->pid = pid;
	return 0;
}

static bool reap(struct proc *p)
{
	int status;

	if (p->pid == 0 || waitpid(p->pid, &status, WNOHANG) != p->pid) {
		return false;
	}
	p->pid = 0;
	p->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return true;
}

bool proc_is_running(struct proc *p)
{
	(void)reap(p);
	return p->pid != 0;
}

int proc_stop(struct proc *p, int signal, int timeout_ms)
{
	int64_t deadline = wait_deadline(timeout_ms * CLOCK_NS_PER_MS);

	if (!proc_is_running(p)) {
		return -1;
	}
	kill(p->pid, signal);
	while (proc_is_running(p) && wait_until(deadline)) {
	}
	while (proc_is_running(p)) {
		kill(p->pid, SIGKILL);
		(void)wait_until(INT64_MAX);
	}
	return p->code;
}

static int loopback(uint16_t port, struct sockaddr_in *ret)
{
	*ret = (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons(port),
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static bool is_free(uint16_t port)
{
	struct sockaddr_in a;
	int fd = loopback(port, &a);
	bool r = fd >= 0 && bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0;

	if (fd >= 0) {
		close(fd);
	}
	return r;
}

/* Other test processes do not choose this port until this process ends, whether or not a daemon
 * listens on it at the moment. */
static bool claim(uint16_t port)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = offsetof(struct sockaddr_un, sun_path) + 1;

	/* An abstract name: there is nothing to remove afterwards. */
	len += (socklen_t)snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "headgate-port-%u",
				   port);
	if (fd >= 0 && bind(fd, (struct sockaddr *)&a, len) != 0) {
		close(fd);
		return false;
	}
	return true;
}

/* Not one of the ports that the kernel gives to outgoing connections: with many tests running, such
 * a port would be in use again before the daemon starts or restarts. */
uint16_t proc_free_port(void)
{
	static uint64_t next;

	if (next == 0) {
		next = rng_entropy() % PORTS; /* others choose at the same time */
	}
	for (unsigned tries = 0; tries < PORTS; tries++) {
		uint16_t port = (uint16_t)(FIRST_PORT + next++ % PORTS);

		if (is_free(port) && claim(port)) {
			return port;
		}
	}
	return 0;
}

bool proc_wait_port(uint16_t port, int timeout_ms)
{
	int64_t deadline = wait_deadline(timeout_ms * CLOCK_NS_PER_MS);

	do {
		struct sockaddr_in a;
		int fd = loopback(port, &a);
		bool up = fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0;

		if (fd >= 0) {
			close(fd);
		}
		if (up) {
			return true;
		}
	} while (wait_until(deadline));
	return false;
}

bool proc_wait_file(const char *path, int timeout_ms)
{
	int64_t deadline = wait_deadline(timeout_ms * CLOCK_NS_PER_MS);

	do {
		if (access(path, R_OK) == 0) {
			return true;
		}
	} while (wait_until(deadline));
	return false;
}
