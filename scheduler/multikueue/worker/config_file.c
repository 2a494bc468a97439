#include "scheduler/multikueue/worker/config_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "process/file.h"
#include "scheduler/multikueue/worker_config.h"

static int resolve(const char *path, char **ret, struct err *err)
{
	*ret = realpath(path, NULL);
	return *ret != NULL ? 0 : err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
}

/* Where a path leads is checked again after symbolic links: those of a mounted Secret stay in its
 * folder. A file that is replaced between the check and its reading was so by something that may
 * write the folder. */
int config_file_read(const char *path, const char *root, struct strbuf *out, struct err *err)
{
	CLEANUP(xmalloc_freep) char *real_root = NULL;
	CLEANUP(xmalloc_freep) char *real = NULL;
	struct stat st;

	if (worker_config_check_path(path, root, err) < 0) {
		return -ERR_INVALID;
	}
	if (resolve(root, &real_root, err) < 0 || resolve(path, &real, err) < 0) {
		return -ERR_IO;
	}
	if (worker_config_check_path(real, real_root, err) < 0) {
		return err_wrap(err, "%s", path);
	}
	/* A pipe would keep the thread waiting. */
	if (stat(real, &st) < 0 || !S_ISREG(st.st_mode)) {
		return err_set(err, ERR_INVALID, "%s: not a regular file", path);
	}
	return file_read_all(real, KUBECONFIG_MAX_BYTES, out, err);
}
