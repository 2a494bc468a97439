#include "unit/scheduler/pods/ingest/api_fixture.h"

#include "base/err.h"
#include "enc/decode.h"
#include "lib/unit.h"

void *api_fixture_decode(struct arena *arena, const struct field_table *table, const char *json)
{
	void *object = arena_zero(arena, 1, table->size);
	struct err err = ERR_INIT;

	if (decode_text(table, str_of(json), object, arena, &err) < 0) {
		fail_msg("%s: %s", err.text, json);
	}
	return object;
}
