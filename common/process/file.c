#include "process/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"

#define READ_STEP ((size_t)65536)

static int fail(struct err *err, const char *path)
{
	enum err_code code = errno == ENOENT ? ERR_NOT_FOUND : ERR_IO;

	return err_set(err, code, "%s: %s", path, strerror(errno));
}

/* Not the standard input, which belongs to the process. */
static void close_fd(const int *fd)
{
	if (*fd > STDERR_FILENO) {
		close(*fd);
	}
}

/* Reads at most max + 1 bytes, so that "more than max" differs from "exactly max". */
static int read_fd(int fd, size_t max, struct strbuf *out)
{
	size_t total = 0;

	while (total <= max) {
		size_t want = max - total < READ_STEP ? max - total + 1 : READ_STEP;
		ssize_t n;

		strbuf_reserve(out, want);
		n = read(fd, out->p + out->len, want);
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n <= 0) {
			return (int)n;
		}
		out->len += (size_t)n;
		out->p[out->len] = '\0';
		total += (size_t)n;
	}
	return 0;
}

int file_read_all(const char *path, size_t max, struct strbuf *out, struct err *err)
{
	bool is_stdin = strcmp(path, "-") == 0;
	const char *name = is_stdin ? "standard input" : path;
	CLEANUP(close_fd) int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	size_t before = out->len;

	if (fd < 0) {
		return fail(err, name);
	}
	if (read_fd(fd, max, out) < 0) {
		strbuf_truncate(out, before);
		return fail(err, name);
	}
	if (out->len - before > max) {
		strbuf_truncate(out, before);
		return err_set(err, ERR_INVALID, "%s: more than %zu bytes", name, max);
	}
	return 0;
}

static int write_fd(int fd, struct str bytes)
{
	while (bytes.len > 0) {
		ssize_t n = write(fd, bytes.p, bytes.len);

		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n < 0) {
			return -1;
		}
		bytes.p += n;
		bytes.len -= (size_t)n;
	}
	return 0;
}

/* Makes the rename itself durable. Best effort, since some file systems cannot sync a directory. */
static void sync_parent(const char *path)
{
	const char *slash = strrchr(path, '/');
	CLEANUP(xmalloc_freep) char *dir = NULL;
	CLEANUP(close_fd) int fd = -1;

	if (slash == NULL) {
		dir = xmalloc_dup(".");
	} else {
		dir = xmalloc_dup_n(path, slash == path ? 1 : (size_t)(slash - path));
	}
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		fsync(fd);
	}
}

/* The replacement of a file:
 *   1. A temporary file beside the target, because a rename does not cross file systems.
 *   2. Its content is synced before the rename: after a crash the name must not lead to an empty
 *      file.
 *   3. The rename replaces the target in one step; then it is made durable as well.
 * mkostemp creates the file with mode 0600: the umask has no part in `mode`. */
int file_write_atomic(const char *path, struct str bytes, unsigned mode, struct err *err)
{
	CLEANUP(xmalloc_freep) char *tmp = xmalloc_printf("%s.XXXXXX", path);
	CLEANUP(close_fd) int fd = mkostemp(tmp, O_CLOEXEC);
	int r;

	if (fd < 0) {
		return fail(err, path);
	}
	if (write_fd(fd, bytes) < 0 || fchmod(fd, (mode_t)mode) < 0 || fsync(fd) < 0 ||
	    rename(tmp, path) < 0) {
		r = fail(err, path);
		unlink(tmp);
		return r;
	}
	sync_parent(path);
	return 0;
}

/* A directory that is there already is no error, also when it was made a moment ago by another
 * process. */
static int make_dir(const char *path, struct err *err)
{
	struct stat st;

	if (mkdir(path, 0777) == 0) {
		return 0;
	}
	if (errno == EEXIST && stat(path, &st) == 0) {
		if (S_ISDIR(st.st_mode)) {
			return 0;
		}
		errno = ENOTDIR;
	}
	return fail(err, path);
}

int file_make_dirs(const char *path, struct err *err)
{
	CLEANUP(xmalloc_freep) char *part = xmalloc_dup(path);
	int r;

	for (char *p = part; *p != '\0'; p++) {
		if (*p != '/' || p == part) {
			continue;
		}
		*p = '\0';
		r = make_dir(part, err);
		*p = '/';
		if (r < 0) {
			return r;
		}
	}
	return make_dir(part, err);
}
