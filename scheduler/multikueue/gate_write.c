#include "scheduler/multikueue/gate_write.h"

#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "api/kueue/preemption_gate.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "enc/decode.h"
#include "enc/encode.h"

void gate_write_format(const struct api_meta *replica, const char *gate, bool open, unsigned fields,
		       int64_t now, struct strbuf *out)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct api_preemption_gate_state *entry;
	struct api_workload object;

	decode_init(&kueue_workload_fields, &object);
	object.api_version = KUEUE_API_VERSION;
	object.kind = "Workload";
	object.meta.name = replica->name;
	object.meta.namespace_ = replica->namespace_;
	/* The UID keeps it from a namesake, the version from a replica that has changed since it
	 * was decided about: a worker's own write comes first then, and the decision is made again.
	 */
	object.meta.uid = replica->uid;
	object.meta.resource_version = replica->resource_version;
	FIELD_LIST_MAKE(&object.status.preemption_gates, 1, arena);
	entry = object.status.preemption_gates.v;
	entry->name = gate;
	entry->last_transition = now;
	preemption_gate_write(entry, open, preemption_gate_fields(PREEMPTION_GATE_AUTO, fields));
	encode_text(&kueue_workload_fields, &object, out);
}
