/* scheduler/multikueue/manager/spec_sync.h: whether the replica of a Workload still says what the
 * local Workload says. Compared are the members that the field tables know: an API server of
 * another version may fill in defaults of others, and a replica must not be made anew for that
 * again and again. Preemption gates of manager and worker are independent of each other (Kueue
 * #12543: comparing them made an endless loop of deletion and creation). Pure. */
#ifndef SCHEDULER_MULTIKUEUE_MANAGER_SPEC_SYNC_H
#define SCHEDULER_MULTIKUEUE_MANAGER_SPEC_SYNC_H

struct api_workload;
struct strbuf;

enum spec_sync {
	SPEC_SYNC_SAME,
	SPEC_SYNC_PRIORITY, /* only the priority or its class differ: these can be written over */
	SPEC_SYNC_OTHER,    /* it stands for other pods or another queue, or is deactivated */
};

/* Appends the text by which the spec of the local Workload is compared with several replicas. */
void spec_sync_text(const struct api_workload *w, struct strbuf *out);
/* local_text: what spec_sync_text wrote for local. */
enum spec_sync spec_sync_of(const struct api_workload *local, const struct strbuf *local_text,
			    const struct api_workload *replica);

#endif
