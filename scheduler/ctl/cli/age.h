/* scheduler/ctl/cli/age.h: spans of time as kubectl prints them. Any thread. */
#ifndef SCHEDULER_CTL_CLI_AGE_H
#define SCHEDULER_CTL_CLI_AGE_H

#include <stdint.h>

#define AGE_MAX 32

/* "90s", "5m30s", "40m", "3h20m", "20h", "2d5h", "30d", "2y35d"; "0s" when negative. Returns out.
 */
const char *age_format(int64_t ns, char out[AGE_MAX]);

#endif
