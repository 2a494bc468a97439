/* scheduler/base/sentinel.h: values of ids and times that mean "none" and "never", the same in
 * both models. Any thread. */
#ifndef SCHEDULER_BASE_SENTINEL_H
#define SCHEDULER_BASE_SENTINEL_H

#include <stdint.h>

#define MODEL_NONE UINT32_MAX
#define MODEL_TIME_NEVER INT64_MAX
#define MODEL_TIME_NONE INT64_MIN /* wall times are ns since 1970 */

#endif
