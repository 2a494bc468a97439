#include "webhook/admit/kueue/localqueue_validate.h"

#include "webhook/admit/admit_check.h"

int localqueue_validate(const struct admit_request *q, struct admit_answer *ret, struct err *err)
{
	const struct admit_check c = { q, ret };
	struct api_local_queue queue = { 0 }, old = { 0 };
	int verb = admit_check_read(q, &kueue_local_queue_fields, &queue, &old, err);

	if (verb > ADMIT_CHECK_OTHER) {
		admit_check_subdomain(&c, "spec.clusterQueue", queue.spec.cluster_queue);
		admit_check_stop_policy(&c, queue.spec.stop_policy);
		admit_check_weight(&c, &queue.spec.fair_sharing);
	}
	/* Kueue's rule: a LocalQueue keeps its ClusterQueue, in which its Workloads wait and
	 * hold quota. */
	if (verb == ADMIT_CHECK_UPDATE && old.spec.cluster_queue != NULL &&
	    !str_streq(queue.spec.cluster_queue, old.spec.cluster_queue)) {
		admit_check_deny(&c, "spec.clusterQueue", "field is immutable");
	}
	return verb < 0 ? verb : 0;
}
