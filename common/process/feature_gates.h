/* common/process/feature_gates.h: the feature gates that the daemons accept: one list for both, as
 * Volcano's daemons share theirs. Gates without effect here are recorded in `ignored`, unknown ones
 * are an error. Owner: main thread. */
#ifndef COMMON_PROCESS_FEATURE_GATES_H
#define COMMON_PROCESS_FEATURE_GATES_H

#include <stdbool.h>
#include <stddef.h>

#include "process/flags.h"

struct err;

#define FEATURE_GATES_DEFAULT "SchedulingGatesQueueAdmission=true"

struct feature_gates {
	bool queue_admission;      /* SchedulingGatesQueueAdmission */
	struct flags_list ignored; /* given gates that have no effect, each name once */
};

/* Parses "NAME=BOOL,..." into a struct feature_gates, for a flag (FLAGS_CUSTOM_AT). -ERR_INVALID:
 * err describes the error in the value. */
int feature_gates_set(void *gates, const char *value, struct err *err);
/* The name of gate i; NULL behind the last one. effect: its effect here; NULL: none. */
const char *feature_gates_at(size_t i, const char **ret_effect);

#endif
