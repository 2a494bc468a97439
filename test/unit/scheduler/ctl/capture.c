#include "unit/scheduler/ctl/capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "process/file.h"
#include "scheduler/ctl/ctl.h"

#define MAX_WORDS 24
#define MAX_OUTPUT (1u << 20)

static int call(int (*run)(int argc, char **argv), const char *line)
{
	struct str rest = str_of(line);
	char *argv[MAX_WORDS + 1] = { NULL }, *copies[MAX_WORDS];
	int argc = 0, code;

	while (rest.p != NULL && argc < MAX_WORDS) {
		struct str word = str_next(&rest, ' ');

		copies[argc] = xmalloc_dup_n(word.p, word.len);
		argv[argc] = copies[argc];
		argc++;
	}
	code = run(argc, argv);
	for (int i = 0; i < argc; i++) {
		free(copies[i]);
	}
	return code;
}

int capture_run(int (*run)(int argc, char **argv), const char *line, struct strbuf *out)
{
	char path[] = "/tmp/headgate-capture-XXXXXX";
	int file = mkstemp(path), saved = dup(STDOUT_FILENO), code;

	fflush(stdout);
	if (file < 0 || saved < 0 || dup2(file, STDOUT_FILENO) < 0) {
		perror("capture");
		abort();
	}
	code = call(run, line);
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	close(file);
	if (file_read_all(path, MAX_OUTPUT, out, NULL) < 0) {
		perror(path);
		abort();
	}
	unlink(path);
	return code;
}

static int run_ctl(int argc, char **argv)
{
	int saved = dup(STDERR_FILENO), code;

	if (saved < 0 || dup2(STDOUT_FILENO, STDERR_FILENO) < 0) {
		perror("capture");
		abort();
	}
	code = ctl_run(argc, argv);
	dup2(saved, STDERR_FILENO);
	close(saved);
	return code;
}

int capture_ctl(const char *line, struct strbuf *out)
{
	CLEANUP(xmalloc_freep) char *all = xmalloc_printf("headgatectl %s", line);

	strbuf_reset(out);
	return capture_run(run_ctl, all, out);
}
