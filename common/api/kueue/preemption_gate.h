/* common/api/kueue/preemption_gate.h: how the preemption gates of a Workload are spelled. The final
 * KEP-8303, its earlier draft and Kueue as it is shipped differ in two names: the field of
 * status.preemptionGates[] that says Open or Closed, and the condition by which a worker asks that
 * a gate be opened. Besides the table that decodes both fields (kueue_workload.c), no other
 * file knows these names. Any thread. */
#ifndef COMMON_API_KUEUE_PREEMPTION_GATE_H
#define COMMON_API_KUEUE_PREEMPTION_GATE_H

#include <stdbool.h>

struct api_preemption_gate_state;
struct jdoc;

/* The condition within this program, whatever its type is at the API server. */
#define PREEMPTION_GATE_BLOCKED "BlockedOnPreemptionGates"

/* The values of both fields. */
#define PREEMPTION_GATE_OPEN "Open"
#define PREEMPTION_GATE_CLOSED "Closed"

enum preemption_gate_dialect {
	PREEMPTION_GATE_AUTO, /* by the CustomResourceDefinition of Workloads */
	PREEMPTION_GATE_KUEUE,
	PREEMPTION_GATE_KEP_8303,
	PREEMPTION_GATE_KEP_8303_DRAFT,
	PREEMPTION_GATE_DIALECT_COUNT_
};

/* Fields of status.preemptionGates[], a set of bits. */
enum {
	PREEMPTION_GATE_POSITION = 1 << 0,
	PREEMPTION_GATE_STATE = 1 << 1,
};

/* The fields that version v1beta2 of this CustomResourceDefinition serves; 0: none of them. */
unsigned preemption_gate_fields_of(const struct jdoc *crd);
/* The fields to write: those that the API server serves; served 0: not known, then one that the
 * dialect has. With several, all are written, so that every reader finds its own. */
unsigned preemption_gate_fields(enum preemption_gate_dialect d, unsigned served);
/* The type of the condition to write. */
const char *preemption_gate_signal(enum preemption_gate_dialect d, unsigned served);

struct preemption_gate_reading {
	bool open;
	unsigned fields; /* those that the entry has */
	bool disagree;   /* it has both, and one says Open: open is false then */
};
/* Reads an entry of status.preemptionGates. */
struct preemption_gate_reading preemption_gate_read(const struct api_preemption_gate_state *gate);
/* Sets these fields of an entry, and no others. */
void preemption_gate_write(struct api_preemption_gate_state *gate, bool open, unsigned fields);

#endif
