/* test/unit/scheduler/pods/ingest/api_fixture.h: API structs from JSON, for tests of what reads
 * them. The object lives as long as the arena. Fails the test when the text does not decode. */
#ifndef TEST_UNIT_SCHEDULER_PODS_INGEST_API_FIXTURE_H
#define TEST_UNIT_SCHEDULER_PODS_INGEST_API_FIXTURE_H

#include "base/arena.h"
#include "enc/field.h"

/* A zeroed struct of the table's size, decoded from json. */
void *api_fixture_decode(struct arena *arena, const struct field_table *table, const char *json);

#endif
