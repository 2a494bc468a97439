/* webhook/admit/kueue/workload_mutate.h: preemption gates for new Workloads (KEP-8303): with a
 * closed gate a Workload is admitted when it fits and preempts nothing until its gate is opened.
 * Any thread. */
#ifndef WEBHOOK_ADMIT_KUEUE_WORKLOAD_MUTATE_H
#define WEBHOOK_ADMIT_KUEUE_WORKLOAD_MUTATE_H

#include "webhook/admit/admit.h"

/* CREATE: the gate that the annotation headgate.io/preemption-gate names. */
int workload_mutate(const struct admit_request *q, struct admit_answer *ret, struct err *err);
/* The same, and the gate kueue.x-k8s.io/multikueue: for Workloads that the API server selects by
 * their labels, such as those that the manager of several clusters creates here. */
int workload_mutate_selected(const struct admit_request *q, struct admit_answer *ret,
			     struct err *err);

#endif
