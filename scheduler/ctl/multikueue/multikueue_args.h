/* scheduler/ctl/multikueue/multikueue_args.h: the arguments of `headgatectl multikueue`. Texts are
 * borrowed from argv. One thread. */
#ifndef SCHEDULER_CTL_MULTIKUEUE_MULTIKUEUE_ARGS_H
#define SCHEDULER_CTL_MULTIKUEUE_MULTIKUEUE_ARGS_H

#include "process/flags.h"
#include "scheduler/ctl/cli/cluster_args.h"
#include "scheduler/ctl/multikueue/worker_role.h"

struct multikueue_args {
	struct cluster_args cluster; /* first: the rows of its tables store into it */
	const char *name;            /* of the MultiKueueCluster to make */
	const char *address;         /* of its API server; NULL: that of the kubeconfig */
	const char *account;         /* namespace of the account on the worker */
	const char *origin;          /* label of the replicas */
	enum worker_role_level level;
	struct flags_list frameworks; /* kinds that the manager carries besides */
	bool dry_run;
};

#endif
