/* scheduler/pods/ledger/attempts.h: reservations that end because no node was found in time. A gang
 * that the autoscaler can never place would have its most nodes bought each time it is published:
 * so the time in which it is published not again grows with the time in which it was, and twice as
 * fast from attempt to attempt. Times in ns. Pure. */
#ifndef SCHEDULER_PODS_LEDGER_ATTEMPTS_H
#define SCHEDULER_PODS_LEDGER_ATTEMPTS_H

#include <stdint.h>

#define ATTEMPTS_MAX_WAIT_NS (INT64_C(24) * 3600 * 1000000000)
#define ATTEMPTS_TOLD 3 /* from then on the PodGroup says that it fails again and again */

/* How long a pod waits after that many attempts (1: the first), the last of which held its quota
 * for `held`; at least `least` after the first one. */
int64_t attempts_wait(int64_t least, int64_t held, uint32_t attempts);

#endif
