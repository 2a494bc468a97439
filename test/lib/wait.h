/* test/lib/wait.h: the pause between two looks at what another thread or process does. Nothing else
 * in the tests lets time pass. Any thread. */
#ifndef TEST_LIB_WAIT_H
#define TEST_LIB_WAIT_H

#include <stdbool.h>
#include <stdint.h>

/* In so many ns, for wait_until. */
int64_t wait_deadline(int64_t ns);
/* do { look; } while (wait_until(deadline)); False: the deadline has passed. Else it pauses first.
 */
bool wait_until(int64_t deadline);

#endif
