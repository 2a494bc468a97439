/* scheduler/multikueue/worker_config.h: the kubeconfig of a worker cluster, from the Secret or file
 * that a MultiKueueCluster names. It must stand for itself: Kueue refuses everything by which it
 * could make the manager read other files, run a program, or trust without a certificate, since
 * a right to write the Secret must not become the rights of the manager's container. Pure. */
#ifndef SCHEDULER_MULTIKUEUE_WORKER_CONFIG_H
#define SCHEDULER_MULTIKUEUE_WORKER_CONFIG_H

#include "base/str.h"

/* The folder below which files may be named, as in Kueue. */
#define WORKER_CONFIG_ROOT "/etc/multikueue/kubeconfigs"

struct err;
struct kubeconfig;

/* 0 and *ret, which the caller destroys; or -ERR_INVALID with the path of the member, and the
 * reason of the condition Active in *ret_reason: "BadKubeConfig", or "InsecureKubeConfig" where it
 * is refused. */
int worker_config_parse(struct str text, struct kubeconfig **ret, const char **ret_reason,
			struct err *err);
/* 0: the text may name a file below root: it is absolute, and has no "..". Symbolic links are the
 * reader's matter (worker/config_file.h). Else -ERR_INVALID. */
int worker_config_check_path(const char *path, const char *root, struct err *err);

#endif
