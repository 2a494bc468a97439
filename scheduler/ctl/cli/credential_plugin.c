/* A credential plugin of a kubeconfig, as client-go runs it (client.authentication.k8s.io):
 * 1. The request goes into the environment variable KUBERNETES_EXEC_INFO. The variables of the
 *    kubeconfig replace ours of the same name.
 * 2. Standard input is the terminal only if there is one and the plugin may ask; standard error
 *    is ours, so that its questions and errors are seen.
 * 3. Its output is read until it has ended, or until too much was read, or too much time has
 *    passed.
 * 4. It is reaped in any case, and killed when its answer is not wanted any more.
 * 5. The answer counts only with exit code 0. Its text holds credentials and is overwritten. */
#include "scheduler/ctl/cli/credential_plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "kube/kubeconfig/exec_credential.h"
#include "kube/kubeconfig/kubeconfig.h"

#define INFO "KUBERNETES_EXEC_INFO="
#define READ_BYTES 4096

struct child {
	pid_t pid;
	int out;   /* the read end of its standard output */
	int ended; /* a pidfd: readable when the process has ended */
	struct strbuf text;
	bool closed; /* its output is complete */
};

/* --- what it gets ------------------------------------------------------------------------------*/

struct texts VEC(char *); /* borrowed, with a NULL at the end */

static void texts_finish(struct texts *t)
{
	vec_finish(t);
}

static bool is_same_name(const char *a, const char *b)
{
	size_t n = strcspn(a, "=");

	return strncmp(a, b, n) == 0 && b[n] == '=';
}

static bool is_replaced(const struct kubeconfig_exec *exec, const char *variable)
{
	for (size_t i = 0; i < exec->env.n; i++) {
		if (is_same_name(exec->env.v[i], variable)) {
			return true;
		}
	}
	return is_same_name(INFO, variable);
}

/* Our environment, what the kubeconfig puts in its place, and the request. */
static void fill_environment(const struct kubeconfig_exec *exec, char *info, struct texts *ret)
{
	for (char **v = environ; *v != NULL; v++) {
		if (!is_replaced(exec, *v)) {
			vec_push(ret, *v);
		}
	}
	for (size_t i = 0; i < exec->env.n; i++) {
		vec_push(ret, exec->env.v[i]);
	}
	vec_push(ret, info);
	vec_push(ret, NULL);
}

static void fill_arguments(const struct kubeconfig_exec *exec, struct texts *ret)
{
	vec_push(ret, exec->command);
	for (size_t i = 0; i < exec->args.n; i++) {
		vec_push(ret, exec->args.v[i]);
	}
	vec_push(ret, NULL);
}

static int choose_interactive(const struct kubeconfig_exec *exec, bool *ret, struct err *err)
{
	bool terminal = isatty(STDIN_FILENO) == 1;

	*ret = terminal && exec->interactive != KUBECONFIG_INTERACTIVE_NEVER;
	if (exec->interactive == KUBECONFIG_INTERACTIVE_ALWAYS && !terminal) {
		return err_set(err, ERR_INVALID,
			       "interactiveMode is Always, and standard input is not a terminal");
	}
	return 0;
}

/* --- the process -------------------------------------------------------------------------------*/

static int spawn(const struct kubeconfig_exec *exec, const char *info, bool interactive, int out,
		 pid_t *ret)
{
	CLEANUP(texts_finish) struct texts args = VEC_INIT, env = VEC_INIT;
	CLEANUP(xmalloc_freep) char *request = xmalloc_printf(INFO "%s", info);
	posix_spawn_file_actions_t actions;
	int r;

	fill_arguments(exec, &args);
	fill_environment(exec, request, &env);
	posix_spawn_file_actions_init(&actions);
	/* Both ends of the pipe are closed by exec; the copy that is made here is not. */
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	if (!interactive) {
		posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	}
	r = posix_spawnp(ret, exec->command, &actions, NULL, args.v, env.v);
	posix_spawn_file_actions_destroy(&actions);
	return r;
}

static int start(const struct kubeconfig_exec *exec, const char *info, bool interactive,
		 struct child *ret, struct err *err)
{
	int ends[2], r;

	if (pipe2(ends, O_CLOEXEC) < 0) {
		return err_set(err, ERR_IO, "pipe: %s", strerror(errno));
	}
	r = spawn(exec, info, interactive, ends[1], &ret->pid);
	/* Our copy: while it is open, the output would never end. */
	close(ends[1]);
	if (r != 0) {
		close(ends[0]);
		if (exec->install_hint != NULL) {
			fprintf(stderr, "%s\n", exec->install_hint);
		}
		return err_set(err, r == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%s",
			       r == ENOENT ? "no such program; it has to be installed"
					   : strerror(r));
	}
	ret->out = ends[0];
	ret->ended = (int)syscall(SYS_pidfd_open, ret->pid, 0);
	return 0;
}

/* Reads what there is; false: it is too much. */
static bool read_some(struct child *c)
{
	char bytes[READ_BYTES];
	ssize_t n = read(c->out, bytes, sizeof(bytes));

	if (n > 0) {
		strbuf_add(&c->text, bytes, (size_t)n);
	} else if (n == 0 || errno != EINTR) {
		c->closed = true;
	}
	return c->text.len <= EXEC_CREDENTIAL_MAX_BYTES;
}

/* Until the process has ended and what it had written is read. Its own children may keep the pipe
 * open for longer: they are not waited for. */
static int wait_end(struct child *c, int64_t deadline, struct err *err)
{
	bool ended = false;

	for (;;) {
		int64_t left = (deadline - clock_mono(clock_real())) / CLOCK_NS_PER_MS;
		struct pollfd fds[] = { { .fd = c->closed ? -1 : c->out, .events = POLLIN },
					{ .fd = ended ? -1 : c->ended, .events = POLLIN } };
		int n = poll(fds, ARRAY_LEN(fds), ended || left < 0 ? 0 : (int)left);

		if (n < 0 && errno != EINTR) {
			return err_set(err, ERR_IO, "poll: %s", strerror(errno));
		}
		if (n > 0 && fds[0].revents != 0 && !read_some(c)) {
			return err_set(err, ERR_INVALID, "prints more than %u bytes",
				       EXEC_CREDENTIAL_MAX_BYTES);
		}
		/* After the end what is in the pipe is still read, without waiting for more. */
		ended = ended || (n > 0 && fds[1].revents != 0);
		if (ended ? c->closed || n == 0 : c->closed && c->ended < 0) {
			return 0; /* kernels before 5.3 have no pidfds */
		}
		if (n == 0) {
			return err_set(err, ERR_TIMEOUT, "does not end; it was stopped");
		}
	}
}

/* Always reaps it. */
static int finish(struct child *c, int r, struct err *err)
{
	int status = 0;

	if (r < 0) {
		kill(c->pid, SIGKILL);
	}
	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR) {
	}
	close(c->out);
	close(c->ended);
	if (r < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) {
		return r;
	}
	return WIFEXITED(status)
		       ? err_set(err, ERR_FORBIDDEN, "exit code %d", WEXITSTATUS(status))
		       : err_set(err, ERR_FORBIDDEN, "ended by signal %d", WTERMSIG(status));
}

static int run(const struct kubeconfig *cfg, int64_t limit_ns, struct strbuf *out, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf info = STRBUF_INIT;
	struct child c = { .text = STRBUF_INIT };
	bool interactive = false;
	int r = choose_interactive(cfg->exec, &interactive, err);

	if (r == 0) {
		r = exec_credential_request(cfg, interactive, &info, err);
	}
	if (r == 0) {
		r = start(cfg->exec, info.p, interactive, &c, err);
	}
	if (r < 0) {
		return r;
	}
	r = finish(&c, wait_end(&c, clock_mono(clock_real()) + limit_ns, err), err);
	if (r == 0) {
		strbuf_add_str(out, strbuf_str(&c.text));
	}
	strbuf_wipe(&c.text);
	return r;
}

int credential_plugin_run(const struct kubeconfig *cfg, int64_t limit_ns,
			  struct exec_credential *ret, struct err *err)
{
	CLEANUP(strbuf_wipe) struct strbuf answer = STRBUF_INIT;
	int r = run(cfg, limit_ns, &answer, err);

	if (r == 0 &&
	    exec_credential_parse(strbuf_str(&answer), cfg->exec->api_version, ret, err) < 0) {
		r = err_wrap(err, "its answer");
	}
	return r < 0 ? err_wrap(err, "credential plugin %s", cfg->exec->command) : 0;
}
