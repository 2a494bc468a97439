/* common/api/kueue/kueue_cost.h: the preemption cost of a Workload (KEP-7990): cost = base + weight
 * * number of its preemptions, with base and weight from annotations of its ClusterQueue. Pure. Any
 * thread. */
#ifndef COMMON_API_KUEUE_KUEUE_COST_H
#define COMMON_API_KUEUE_KUEUE_COST_H

#include "api/kueue/kueue_workload.h"
#include "enc/quantity.h"

#define KUEUE_COST_BASE "headgate.io/preemption-cost-base"     /* absent: 0 */
#define KUEUE_COST_WEIGHT "headgate.io/preemption-cost-weight" /* absent: 1 */
/* Bound on the magnitude of base and weight; a weight is not negative. So a cost is always exact.
 */
#define KUEUE_COST_MAX 1000000000

struct err;

struct kueue_cost {
	struct quantity base, weight;
};

/* Parses the value of one of the two annotations: 0, or -ERR_INVALID when it is not a quantity or
 * out of bounds. */
int kueue_cost_read(const struct field_map *annotations, const char *key, struct quantity *ret,
		    struct err *err);
/* The parameters of a ClusterQueue without annotations. */
struct kueue_cost kueue_cost_default(void);
/* The cost of a Workload with this number of preemptions, which is not negative. */
struct quantity kueue_cost_of(const struct kueue_cost *c, int32_t preemptions);
/* The number of preemptions by status.schedulingStats. */
int32_t kueue_cost_preemptions(const struct api_workload_status *status);

#endif
