#include "api/kueue/preemption_gate.h"

#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"

static const struct {
	const char *signal;
	unsigned field;
} dialects[PREEMPTION_GATE_DIALECT_COUNT_] = {
	[PREEMPTION_GATE_AUTO] = { NULL, PREEMPTION_GATE_POSITION },
	[PREEMPTION_GATE_KUEUE] = { PREEMPTION_GATE_BLOCKED, PREEMPTION_GATE_POSITION },
	[PREEMPTION_GATE_KEP_8303] = { "PreemptionBlocked", PREEMPTION_GATE_STATE },
	[PREEMPTION_GATE_KEP_8303_DRAFT] = { "QuotaReservationBlocked", PREEMPTION_GATE_STATE },
};

unsigned preemption_gate_fields_of(const struct jdoc *crd)
{
	const struct jdoc *v = jdoc_first(jdoc_path(crd, "spec.versions")), *entry;

	while (v != NULL && !jdoc_is_str(jdoc_get(v, "name"), KUEUE_VERSION)) {
		v = jdoc_next(v);
	}
	entry = v == NULL ? NULL
			  : jdoc_path(v, "schema.openAPIV3Schema.properties.status.properties."
					 "preemptionGates.items.properties");
	return (jdoc_get(entry, "position") != NULL ? PREEMPTION_GATE_POSITION : 0u) |
	       (jdoc_get(entry, "state") != NULL ? PREEMPTION_GATE_STATE : 0u);
}

unsigned preemption_gate_fields(enum preemption_gate_dialect d, unsigned served)
{
	return served != 0 ? served : dialects[d].field;
}

const char *preemption_gate_signal(enum preemption_gate_dialect d, unsigned served)
{
	if (d == PREEMPTION_GATE_AUTO) {
		d = served == PREEMPTION_GATE_STATE ? PREEMPTION_GATE_KEP_8303
						    : PREEMPTION_GATE_KUEUE;
	}
	return dialects[d].signal;
}

struct preemption_gate_reading preemption_gate_read(const struct api_preemption_gate_state *gate)
{
	bool position = str_streq(gate->position, PREEMPTION_GATE_OPEN),
	     state = str_streq(gate->state, PREEMPTION_GATE_OPEN);
	struct preemption_gate_reading r = { 0 };

	r.fields = (gate->position != NULL ? PREEMPTION_GATE_POSITION : 0u) |
		   (gate->state != NULL ? PREEMPTION_GATE_STATE : 0u);
	/* The one that differs from what was written last counts; until that is looked up the gate
	 * is closed. */
	r.disagree = gate->position != NULL && gate->state != NULL && position != state;
	r.open = !r.disagree && (position || state);
	return r;
}

void preemption_gate_write(struct api_preemption_gate_state *gate, bool open, unsigned fields)
{
	const char *value = open ? PREEMPTION_GATE_OPEN : PREEMPTION_GATE_CLOSED;

	gate->position = (fields & PREEMPTION_GATE_POSITION) != 0 ? value : NULL;
	gate->state = (fields & PREEMPTION_GATE_STATE) != 0 ? value : NULL;
}
