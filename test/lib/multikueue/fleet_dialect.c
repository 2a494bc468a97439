#include "lib/multikueue/fleet_dialect.h"

#include "api/kueue/kueue_keys.h"
#include "lib/multikueue/fleet_setup.h"

#define ENTRY(field)                                                                               \
	"{\"" field "\":{\"type\":\"string\"},\"lastTransitionTime\":{\"type\":\"string\"}}"
#define GATE(field, value)                                                                         \
	"{\"status\":{\"preemptionGates\":[{\"name\":\"" KUEUE_GATE_MULTIKUEUE "\",\"" field       \
	"\":\"" value "\",\"lastTransitionTime\":\"2027-01-15T08:00:00Z\"}]}}"

static enum preemption_gate_dialect current = PREEMPTION_GATE_AUTO;

static bool is_state(void)
{
	return current == PREEMPTION_GATE_KEP_8303 || current == PREEMPTION_GATE_KEP_8303_DRAFT;
}

void fleet_dialect_set(enum preemption_gate_dialect d)
{
	current = d;
}

const char *fleet_dialect_name(enum preemption_gate_dialect d)
{
	static const char *const names[PREEMPTION_GATE_DIALECT_COUNT_] = {
		[PREEMPTION_GATE_AUTO] = "all fields",
		[PREEMPTION_GATE_KUEUE] = "Kueue",
		[PREEMPTION_GATE_KEP_8303] = "KEP-8303",
		[PREEMPTION_GATE_KEP_8303_DRAFT] = "the draft of KEP-8303",
	};

	return names[d];
}

void fleet_dialect_define(struct fleet_world *w, unsigned worker)
{
	if (current != PREEMPTION_GATE_AUTO) {
		fleet_setup_gate_entry(w, (int)worker,
				       is_state() ? ENTRY("state") : ENTRY("position"));
	}
}

const char *fleet_dialect_field(void)
{
	return is_state() ? "state" : "position";
}

const char *fleet_dialect_signal(void)
{
	return preemption_gate_signal(current, 0);
}

const char *fleet_dialect_gate(bool open)
{
	static const char *const gates[2][2] = {
		{ GATE("position", "Closed"), GATE("position", "Open") },
		{ GATE("state", "Closed"), GATE("state", "Open") },
	};

	return gates[is_state()][open];
}
