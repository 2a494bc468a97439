/* common/base/feature_gates.h: the feature gates that the daemons accept: one list for both, as
 * Volcano's daemons share theirs. Gates without effect here are noted, unknown ones refused.
 * Owner: main thread. */
#ifndef COMMON_BASE_FEATURE_GATES_H
#define COMMON_BASE_FEATURE_GATES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/flags.h"

struct err;

#define FEATURE_GATES_DEFAULT "SchedulingGatesQueueAdmission=true"

struct feature_gates {
	bool queue_admission;      /* SchedulingGatesQueueAdmission */
	struct flags_list ignored; /* gates given that have no effect, once each */
};

/* "NAME=BOOL,...": for a flag (FLAGS_CUSTOM_AT), on a struct feature_gates. -ERR_INVALID: err says
 * what is wrong with the value. */
int feature_gates_set(void *gates, const char *value, struct err *err);
/* Gate i, by name; NULL behind the last one. effect: what it does here; NULL: nothing. */
const char *feature_gates_at(size_t i, const char **ret_effect);

#endif
