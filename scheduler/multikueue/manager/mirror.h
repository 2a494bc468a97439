/* scheduler/multikueue/manager/mirror.h: how the status of a local Job follows that of its Job on
 * the worker cluster (Kueue: SyncJob of the batch/v1 adapter). The local Job has no pods: its
 * status is this copy, from which users and the local job reconciler read that it runs, that it has
 * stopped, and how it ended. Pure. */
#ifndef SCHEDULER_MULTIKUEUE_MANAGER_MIRROR_H
#define SCHEDULER_MULTIKUEUE_MANAGER_MIRROR_H

#include <stdbool.h>
#include <stdint.h>

struct api_job;
struct jdoc;
struct strbuf;

enum mirror {
	MIRROR_NOTHING,
	MIRROR_STATUS, /* the status of the remote Job is to be copied */
	/* The local Job is suspended and the remote one is not: startTime must not be set before
	 * the local one is resumed, since the API server refuses changes of the template of a Job
	 * that has it. Only the condition Suspended is missing, which it asks for (Kubernetes 1.36)
	 * before such a change. When the local Job is resumed the status is copied. */
	MIRROR_SUSPENDED,
};

/* The write that the status of the local Job needs. The remote status is copied while the local Job
 * is not suspended, while both are (so that the number of active pods reaches 0 during an
 * eviction), and when the remote Job has ended. */
enum mirror mirror_due(const struct api_job *local, const struct api_job *remote);
/* It has ended, or is sure to, by the last status that was copied: started again it would do its
 * work twice. */
bool mirror_has_ended(const struct api_job *local);

/* Merge patches of jobs/status of the local Job, of this version of it. */
void mirror_copy(const struct jdoc *local, const struct jdoc *remote, struct strbuf *out);
/* With the condition Suspended at `now`, wall ns. */
void mirror_suspended(const struct jdoc *local, int64_t now, struct strbuf *out);
/* No pod runs any more: its cluster is lost, or the remote Job is gone. */
void mirror_reset(const struct jdoc *local, struct strbuf *out);

#endif
