/* scheduler/workloads/assign/assign_reason.h: the texts that say why flavors do not fit, and the
 * one reason that sums them up (Kueue: NoFitReason). Owner: the sched thread. Pure.
 */
#ifndef SCHEDULER_WORKLOADS_ASSIGN_ASSIGN_REASON_H
#define SCHEDULER_WORKLOADS_ASSIGN_ASSIGN_REASON_H

#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "scheduler/workloads/model/quota_model.h"

#define ASSIGN_REASON_AMOUNT_MAX 32 /* longest text of an amount, with its end */

struct arena;

struct assign_reasons { /* of one group of pod sets; texts live in the arena */
	struct arena *arena;
	const char **v;
	size_t n, cap;
};

/* Adds a text. */
void assign_reason_add(struct assign_reasons *r, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The same, joined from parts; for texts that most cycles add. */
void assign_reason_add_parts(struct assign_reasons *r, const char *const *parts, size_t n);
/* All texts, sorted, without repetitions, joined by ", "; NULL when there is none. */
const char *assign_reason_join(struct assign_reasons *r);
/* The reason when both hold: the more severe one. NONE is the least severe. */
enum nofit_reason assign_reason_both(enum nofit_reason a, enum nofit_reason b);
/* The reason when either could be avoided by the other way: the less severe one; NONE does not
 * count. */
enum nofit_reason assign_reason_either(enum nofit_reason a, enum nofit_reason b);
/* The amount as a quantity: "2500m" of cpu, "5Mi" of memory, "3" of anything. "unlimited"; an
 * amount beyond what is counted is "more than 9P", and not the number that it is counted as. */
void assign_reason_amount(const char *resource, int64_t amount, char out[ASSIGN_REASON_AMOUNT_MAX]);

#endif
