/* scheduler/workloads/conf/kueue_gates.h: feature gates by name, Kueue's and NominalQuotaFirst,
 * which Kueue does not have, and which switch of the configuration each one sets (defaults:
 * kueue_conf_read). A gate without a switch is known, and has no effect. Any thread. */
#ifndef SCHEDULER_WORKLOADS_CONF_KUEUE_GATES_H
#define SCHEDULER_WORKLOADS_CONF_KUEUE_GATES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct kueue_conf;

/* Sets the switch of one gate. False: no such gate. */
bool kueue_gates_set(struct str name, bool on, struct kueue_conf *c);
/* The i-th gate without which this one must not be on; NULL: there are no more. Those are all on by
 * default. */
const char *kueue_gates_needed(struct str name, size_t i);
/* Why a gate that is on or off does not do all that this does in Kueue; NULL: it does. */
const char *kueue_gates_missing(struct str name, bool on);

#endif
