/* common/api/kueue_cost.h: what the preemption-cost controller makes of a Workload (KEP-7990):
 * cost = base + weight * number of times that it was preempted, with base and weight from
 * annotations of its ClusterQueue. Pure. Any thread. */
#ifndef COMMON_API_KUEUE_COST_H
#define COMMON_API_KUEUE_COST_H

#include "api/kueue_workload.h"
#include "enc/quantity.h"

#define KUEUE_COST_BASE "headgate.io/preemption-cost-base"     /* absent: 0 */
#define KUEUE_COST_WEIGHT "headgate.io/preemption-cost-weight" /* absent: 1 */
/* Neither is larger, in either direction; a weight is not negative. So a cost is always exact. */
#define KUEUE_COST_MAX 1000000000

struct err;

struct kueue_cost {
	struct quantity base, weight;
};

/* The value of one of the two annotations: 0, or -ERR_INVALID when it is no quantity or out of
 * bounds. */
int kueue_cost_read(const struct field_map *annotations, const char *key, struct quantity *ret,
		    struct err *err);
/* Without annotations. */
struct kueue_cost kueue_cost_default(void);
/* Of one that was preempted so often; not negative. */
struct quantity kueue_cost_of(const struct kueue_cost *c, int32_t preemptions);
/* By status.schedulingStats. */
int32_t kueue_cost_preemptions(const struct api_workload_status *status);

#endif
