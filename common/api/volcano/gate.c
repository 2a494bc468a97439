#include "api/volcano/gate.h"

#include "base/attrs.h"
#include "base/str.h"
#include "enc/field.h"

/* The canonical spelling first: if a pod has both annotations, the first row applies. */
static const struct gate_row rows[] = {
	{ "scheduling.volcano.sh/queue-allocation-gate",
	  "scheduling.volcano.sh/queue-allocation-gate" },
	{ "volcano.sh/queue-allocation-gate", "volcano.sh/queue-allocation-gate" },
};

const struct gate_row *gate_at(size_t i)
{
	return i < ARRAY_LEN(rows) ? &rows[i] : NULL;
}

size_t gate_index(const struct gate_row *row)
{
	return row == NULL ? GATE_NONE : (size_t)(row - rows);
}

const struct gate_row *gate_opt_in(const struct field_map *annotations)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (field_map_is(annotations, rows[i].annotation, "true")) {
			return &rows[i];
		}
	}
	return NULL;
}

const struct gate_row *gate_by_name(const char *gate)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (str_streq(gate, rows[i].gate)) {
			return &rows[i];
		}
	}
	return NULL;
}
