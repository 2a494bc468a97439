/* scheduler/ctl/multikueue/worker_kubeconfig.h: `headgatectl multikueue kubeconfig`: makes the
 * account of a manager on a worker cluster, and prints what the manager needs to use it. Main
 * thread; blocks. */
#ifndef SCHEDULER_CTL_MULTIKUEUE_WORKER_KUBECONFIG_H
#define SCHEDULER_CTL_MULTIKUEUE_WORKER_KUBECONFIG_H

struct err;
struct multikueue_args;

/* Errors name the object and the right that is missing; running it again goes on. */
int worker_kubeconfig_run(const struct multikueue_args *a, struct err *err);

#endif
