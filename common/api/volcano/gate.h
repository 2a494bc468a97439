/* common/api/volcano/gate.h: the queue-allocation gate. Its spellings are stated here only. A pod
 * opts in by an annotation of value exactly "true" (a namespace by a label of the same key) and
 * carries a scheduling gate. Each row is one spelling; the gate injected has the spelling of the
 * annotation used. Any thread. */
#ifndef COMMON_API_VOLCANO_GATE_H
#define COMMON_API_VOLCANO_GATE_H

#include <stddef.h>

struct field_map;

struct gate_row {
	const char *annotation; /* also the key of the namespace label */
	const char *gate;       /* name in spec.schedulingGates */
};

#define GATE_NONE ((size_t)255)

const struct gate_row *gate_at(size_t i); /* NULL beyond the last row; row 0 is canonical */
size_t gate_index(const struct gate_row *row);
/* The first row with a key that is "true" in annotations (or in a namespace's labels); NULL: not
 * opted in. */
const struct gate_row *gate_opt_in(const struct field_map *annotations);
/* The row of a scheduling gate's name; NULL: not a queue-allocation gate. */
const struct gate_row *gate_by_name(const char *gate);

#endif
