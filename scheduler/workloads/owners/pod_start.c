#include "scheduler/workloads/owners/pod_start.h"

#include "api/core/pod.h"
#include "api/kueue/kueue_keys.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "enc/decode.h"
#include "enc/encode.h"
#include "scheduler/workloads/owners/owner_plan.h"
#include "scheduler/workloads/owners/placement.h"

static void begin(const struct api_pod *pod, struct api_pod *ret)
{
	decode_init(&pod_fields, ret);
	owner_plan_same(&pod->meta, &ret->meta);
}

/* All but the one of the admission. The list is replaced as a whole; the version in the patch makes
 * sure that no other gate is lost. */
static void add_gates(const struct api_pod *pod, struct arena *arena, struct api_pod_spec *ret)
{
	FIELD_LIST_MAKE(&ret->gates, pod->spec.gates.n, arena);
	ret->gates.n = 0;
	for (size_t i = 0; i < pod->spec.gates.n; i++) {
		if (!str_streq(pod->spec.gates.v[i].name, KUEUE_GATE_ADMISSION)) {
			ret->gates.v[ret->gates.n++] = pod->spec.gates.v[i];
		}
	}
}

int pod_start_patch(const struct api_pod *pod, const struct api_workload *w, const char *podset,
		    const struct placement_flavors *flavors, struct strbuf *body, struct err *err)
{
	CLEANUP(placement_finish) struct placement place = { 0 };
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	const struct placement_of of = { &pod->meta, &pod->spec, w, podset };
	struct api_pod patch;
	int r = placement_make(&of, flavors, &place, err);

	if (r < 0) {
		return r;
	}
	begin(pod, &patch);
	/* The gate goes with the same patch that places the pod: it never runs elsewhere. */
	add_gates(pod, arena, &patch.spec);
	placement_fill(&place, &pod->spec, arena, &patch.meta, &patch.spec);
	encode_text(&pod_fields, &patch, body);
	return 0;
}

/* By UID and without a version: the reason for the end of a pod is to be written whatever else
 * changes. */
static void write_target(const struct api_pod *pod, const char *status, const char *reason,
			 const char *message, int64_t now, struct strbuf *body)
{
	struct api_condition target = { .type = KUEUE_TERMINATION_TARGET,
					.status = status,
					.reason = reason,
					.message = message,
					.last_transition = now };
	struct api_pod o;

	decode_init(&pod_fields, &o);
	o.api_version = "v1";
	o.kind = "Pod";
	o.meta.namespace_ = pod->meta.namespace_;
	o.meta.name = pod->meta.name;
	o.meta.uid = pod->meta.uid;
	o.status.conditions.v = &target;
	o.status.conditions.n = 1;
	encode_text(&pod_fields, &o, body);
}

void pod_start_end(const struct api_pod *pod, const char *reason, const char *message, int64_t now,
		   struct strbuf *body)
{
	write_target(pod, "True", reason, message, now, body);
}

void pod_start_stay(const struct api_pod *pod, int64_t now, struct strbuf *body)
{
	write_target(pod, "False", "Held", "The pod lost its quota before it was let go", now,
		     body);
}

void pod_start_drop_finalizer(const struct api_pod *pod, struct strbuf *body)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct api_pod patch;

	/* With the version that was seen: the list of finalizers is replaced. */
	begin(pod, &patch);
	patch.meta.finalizers = owner_plan_finalizers(&pod->meta, KUEUE_POD_FINALIZER, arena);
	encode_text(&pod_fields, &patch, body);
}
