#include "webhook/admit/kueue/clusterqueue_mutate.h"

#include "webhook/admit/admit_check.h"

int clusterqueue_mutate(const struct admit_request *q, struct admit_answer *ret, struct err *err)
{
	struct api_cluster_queue queue = { 0 };
	int verb = admit_check_read(q, &kueue_cluster_queue_fields, &queue, &queue, err);

	if (verb == ADMIT_CHECK_CREATE) {
		admit_check_add_finalizer(&queue.meta, ret);
	}
	return verb < 0 ? verb : 0;
}
