#include "unit/scheduler/pods/ingest/api_fixture.h"

#include "base/err.h"
#include "enc/decode.h"
#include "lib/unit.h"
#include "scheduler/pods/model/cluster.h"

int api_fixture_setup(void **state)
{
	static struct api_fixture f;

	f.c = cluster_create();
	f.arena = arena_create(0);
	*state = &f;
	return 0;
}

int api_fixture_teardown(void **state)
{
	struct api_fixture *f = *state;

	cluster_destroy(f->c);
	arena_destroy(f->arena);
	return 0;
}

void *api_fixture_decode(struct arena *arena, const struct field_table *table, const char *json)
{
	void *object = arena_zero(arena, 1, table->size);
	struct err err = ERR_INIT;

	if (decode_text(table, str_of(json), object, arena, &err) < 0) {
		fail_msg("%s: %s", err.text, json);
	}
	return object;
}
