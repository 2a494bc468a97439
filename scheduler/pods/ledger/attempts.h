/* scheduler/pods/ledger/attempts.h: reservations that end because no node was found in time. A gang
 * that the autoscaler can never place would make it buy the most nodes that it may, each time. So
 * the pause lasts at least as long as the pod was published, and doubles with each attempt. Times
 * in ns. Pure. */
#ifndef SCHEDULER_PODS_LEDGER_ATTEMPTS_H
#define SCHEDULER_PODS_LEDGER_ATTEMPTS_H

#include <stdint.h>

#define ATTEMPTS_MAX_WAIT_NS (INT64_C(24) * 3600 * 1000000000)
/* From this attempt on, a condition of the PodGroup reports the repeated failure. */
#define ATTEMPTS_BEFORE_WARNING 3

/* The pause after that many attempts (1: the first), the last of which held its quota for held_ns.
 * min_ns: the least pause, after the first one. */
int64_t attempts_pause(int64_t min_ns, int64_t held_ns, uint32_t attempts);

#endif
