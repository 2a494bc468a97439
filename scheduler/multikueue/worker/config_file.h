/* scheduler/multikueue/worker/config_file.h: the file with a kubeconfig that a MultiKueueCluster
 * names (locationType: Path). A right to write MultiKueueClusters must not become a right to read
 * the manager's container: only regular files below one folder are read, of which neither the path
 * nor a symbolic link leads out. The fleet thread. */
#ifndef SCHEDULER_MULTIKUEUE_WORKER_CONFIG_FILE_H
#define SCHEDULER_MULTIKUEUE_WORKER_CONFIG_FILE_H

struct err;
struct strbuf;

/* Appends the file, KUBECONFIG_MAX_BYTES at most. Errors name the path: -ERR_INVALID where it is
 * refused, -ERR_IO where it cannot be read. */
int config_file_read(const char *path, const char *root, struct strbuf *out, struct err *err);

#endif
