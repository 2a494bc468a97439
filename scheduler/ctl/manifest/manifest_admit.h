/* scheduler/ctl/manifest/manifest_admit.h: passes new objects through the handlers of the admission
 * webhook, as the API server does when they are created: first all that change objects, then all
 * that validate; an object that replaces another one, through those that validate. An object with a
 * uid has been in a cluster, and a pod that has a phase other than Pending has been created before:
 * they are left as they are. One thread. */
#ifndef SCHEDULER_CTL_MANIFEST_MANIFEST_ADMIT_H
#define SCHEDULER_CTL_MANIFEST_MANIFEST_ADMIT_H

struct kueue_conf_owners;
struct manifest_check;
struct sim_input;

/* Denials are problems of check; warn is called for warnings of handlers. owners: which objects
 * queue by themselves. gate_schedulers: of pods that are gated for others, NULL-terminated; NULL:
 * none. */
void manifest_admit(struct sim_input *in, struct manifest_check *check,
		    const struct kueue_conf_owners *owners, const char *const *gate_schedulers,
		    void (*warn)(void *ctx, const char *text), void *ctx);

#endif
