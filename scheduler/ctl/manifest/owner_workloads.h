/* scheduler/ctl/manifest/owner_workloads.h: the Workloads of Jobs and pods that queue, made by the
 * daemon's own plans (scheduler/workloads/owners). Owners that have one already keep it; an owner
 * without a uid gets one made of its name. One thread. */
#ifndef SCHEDULER_CTL_MANIFEST_OWNER_WORKLOADS_H
#define SCHEDULER_CTL_MANIFEST_OWNER_WORKLOADS_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct kueue_conf_owners;
struct sim_input;

struct owner_workloads_options {
	const struct kueue_conf_owners *owners;
	int64_t now;
	void (*warn)(void *ctx, const char *text);
	void *ctx;
};

/* Adds them to in. warn is called for owners that get none although they queue, with the reason;
 * *ret_without is their number. -ERR_INVALID: an owner cannot be read; the error names it and its
 * field. */
int owner_workloads_make(struct sim_input *in, const struct owner_workloads_options *opt,
			 size_t *ret_without, struct err *err);

#endif
