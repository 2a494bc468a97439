#include "process/dirwatch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/err.h"
#include "base/xmalloc.h"

#define EVENTS                                                                                     \
	(IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB |        \
	 IN_DELETE_SELF | IN_MOVE_SELF)

struct dirwatch {
	int fd;
};

int dirwatch_create(struct dirwatch **ret, struct err *err)
{
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	struct dirwatch *w;

	if (fd < 0) {
		return err_set(err, ERR_IO, "inotify: %s", strerror(errno));
	}
	w = xmalloc_zero(1, sizeof(*w));
	w->fd = fd;
	*ret = w;
	return 0;
}

void dirwatch_destroy(struct dirwatch *w)
{
	if (w == NULL) {
		return;
	}
	close(w->fd);
	free(w);
}

/* The watch is on the directory: a file that is replaced by a rename, as the kubelet and editors do
 * it, is another inode, and a watch on the old one would report nothing any more. */
int dirwatch_add_file(struct dirwatch *w, const char *path, struct err *err)
{
	const char *slash = strrchr(path, '/');
	CLEANUP(xmalloc_freep) char *dir = NULL;

	if (slash == NULL) {
		dir = xmalloc_dup(".");
	} else {
		dir = xmalloc_dup_n(path, slash == path ? 1 : (size_t)(slash - path));
	}
	/* The same directory twice gives the same watch, which is what we want. */
	if (inotify_add_watch(w->fd, dir, EVENTS) < 0) {
		return err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "watch %s: %s", dir,
			       strerror(errno));
	}
	return 0;
}

int dirwatch_fd(const struct dirwatch *w)
{
	return w->fd;
}

/* The events are not distinguished: other files of the directory cause some as well, so a change is
 * only possible. */
bool dirwatch_drain(struct dirwatch *w)
{
	char buf[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	bool some = false;
	ssize_t n;

	do {
		n = read(w->fd, buf, sizeof(buf));
		some = some || n > 0;
	} while (n > 0 || (n < 0 && errno == EINTR));
	return some;
}
