/* test/lib/wait.h: pauses while polling the state of another thread or process. Nothing else in the
 * tests sleeps. Any thread. */
#ifndef TEST_LIB_WAIT_H
#define TEST_LIB_WAIT_H

#include <stdbool.h>
#include <stdint.h>

/* In so many ns, for wait_until. */
int64_t wait_deadline(int64_t ns);
/* do { check; } while (wait_until(deadline)); Pauses; false, without a pause: the deadline has
 * passed. */
bool wait_until(int64_t deadline);

#endif
