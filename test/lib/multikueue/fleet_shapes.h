/* test/lib/multikueue/fleet_shapes.h: the generated fleets with their Jobs on which the rules of
 * preemption over clusters are compared (fleet_trace.h). They are the same each time. */
#ifndef TEST_LIB_MULTIKUEUE_FLEET_SHAPES_H
#define TEST_LIB_MULTIKUEUE_FLEET_SHAPES_H

#include <stdbool.h>
#include <stddef.h>

struct fleet_trace;

/* False: there are no more. */
bool fleet_shapes_get(size_t number, struct fleet_trace *ret);

#endif
