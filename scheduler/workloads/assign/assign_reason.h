/* scheduler/workloads/assign/assign_reason.h: why flavors were passed over: the texts that people
 * read, and the one reason that sums them up (Kueue: NoFitReason). Owner: the sched thread. Pure.
 */
#ifndef SCHEDULER_WORKLOADS_ASSIGN_ASSIGN_REASON_H
#define SCHEDULER_WORKLOADS_ASSIGN_ASSIGN_REASON_H

#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "scheduler/workloads/model/quota.h"

#define ASSIGN_REASON_AMOUNT_MAX 32 /* longest text of an amount, with its end */

struct arena;

struct assign_reasons { /* of one group of pod sets; texts live in the arena */
	struct arena *arena;
	const char **v;
	size_t n, cap;
};

/* Notes one more text. */
void assign_reason_add(struct assign_reasons *r, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The same, of parts; for what is noted often. */
void assign_reason_add_parts(struct assign_reasons *r, const char *const *parts, size_t n);
/* All texts, sorted, without repetitions, joined by ", "; NULL when there is none. */
const char *assign_reason_join(struct assign_reasons *r);
/* What keeps a workload out when both do: the more severe one. NONE is the least severe. */
enum nofit_reason assign_reason_both(enum nofit_reason a, enum nofit_reason b);
/* What keeps a workload out when each would do alone: the less severe one; NONE is no answer. */
enum nofit_reason assign_reason_either(enum nofit_reason a, enum nofit_reason b);
/* The amount as a quantity: "2500m" of cpu, "5Mi" of memory, "3" of anything. */
void assign_reason_amount(const char *resource, int64_t amount, char out[ASSIGN_REASON_AMOUNT_MAX]);

#endif
