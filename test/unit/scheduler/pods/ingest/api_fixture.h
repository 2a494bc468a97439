/* test/unit/scheduler/pods/ingest/api_fixture.h: API structs from JSON, for tests of what reads
 * them, and an empty cluster to read them into. Owner: the test. */
#ifndef TEST_UNIT_SCHEDULER_PODS_INGEST_API_FIXTURE_H
#define TEST_UNIT_SCHEDULER_PODS_INGEST_API_FIXTURE_H

#include "base/arena.h"
#include "enc/field.h"

struct cluster;

struct api_fixture {
	struct cluster *c;
	struct arena *arena;
};

/* For cmocka_unit_test_setup_teardown: *state is a struct api_fixture, one at a time. */
int api_fixture_setup(void **state);
int api_fixture_teardown(void **state);
/* A zeroed struct of the table's size, decoded from json; it lives as long as the arena. Fails the
 * test when the text does not decode. */
void *api_fixture_decode(struct arena *arena, const struct field_table *table, const char *json);

#endif
