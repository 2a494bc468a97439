/* scheduler/pods/ledger/attempts.h: reservations that end because no node was found in time. For a
 * gang that can never be placed, the autoscaler would add most of its nodes each time it is
 * published. So the pause before the next reservation grows with the length of the last one, and
 * doubles from attempt to attempt. Times in ns. Pure. */
#ifndef SCHEDULER_PODS_LEDGER_ATTEMPTS_H
#define SCHEDULER_PODS_LEDGER_ATTEMPTS_H

#include <stdint.h>

#define ATTEMPTS_MAX_WAIT_NS (INT64_C(24) * 3600 * 1000000000)
#define ATTEMPTS_TOLD 3 /* from then on the PodGroup says that it fails again and again */

/* The pause after this many attempts (1: the first); the last one held its quota for `held`; at
 * least `least` after the first one. */
int64_t attempts_wait(int64_t least, int64_t held, uint32_t attempts);

#endif
