/* scheduler/ctl/manifest/owner_workloads.h: the Workloads of Jobs and pods that queue, made by the
 * daemon's own plans (scheduler/workloads/owners). Owners that have one already keep it; an owner
 * without a uid gets one made of its name. One thread. */
#ifndef SCHEDULER_CTL_MANIFEST_OWNER_WORKLOADS_H
#define SCHEDULER_CTL_MANIFEST_OWNER_WORKLOADS_H

#include <stdint.h>

#include "scheduler/base/sched_kinds.h"

struct err;
struct kueue_conf_owners;
struct sim_input;

struct owner_workloads_options {
	const struct kueue_conf_owners *owners;
	int64_t now;
	void (*warn)(void *ctx, const char *text);
	/* An owner that queues and gets no Workload; the texts are valid during the call. */
	void (*without)(void *ctx, enum sched_resource kind, const char *key, const char *reason);
	void *ctx;
};

/* Adds them to in. -ERR_INVALID: an owner cannot be read; the error names it and its field. */
int owner_workloads_make(struct sim_input *in, const struct owner_workloads_options *opt,
			 struct err *err);

#endif
