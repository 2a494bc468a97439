/* test/scenario/world_write.h: the writes of decisions to the objects of a world. For
 * scenario/world.c. Owner: the test. */
#ifndef TEST_SCENARIO_WORLD_WRITE_H
#define TEST_SCENARIO_WORLD_WRITE_H

#include "scenario/world.h"

/* Changes the objects as the API calls would, and collects the events. */
void world_write_decisions(struct world *w, const struct decisions *d);

#endif
