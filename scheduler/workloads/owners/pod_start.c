#include "scheduler/workloads/owners/pod_start.h"

#include "api/core/pod.h"
#include "api/kueue/kueue_keys.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "enc/json/json_out.h"
#include "scheduler/workloads/owners/owner_plan.h"
#include "scheduler/workloads/owners/placement.h"

static void write_gates(struct json_out *o, const struct api_pod *pod)
{
	json_out_key(o, "schedulingGates");
	json_out_array(o);
	for (size_t i = 0; i < pod->spec.gates.n; i++) {
		const char *name = pod->spec.gates.v[i].name;

		if (!str_streq(name, KUEUE_GATE_ADMISSION)) {
			json_out_object(o);
			json_out_kv(o, "name", name);
			json_out_object_end(o);
		}
	}
	json_out_array_end(o);
}

int pod_start_patch(const struct api_pod *pod, const struct api_workload *w, const char *podset,
		    const struct placement_flavors *flavors, struct strbuf *body, struct err *err)
{
	CLEANUP(placement_finish) struct placement place = { 0 };
	const struct placement_of of = { &pod->meta, &pod->spec, w, podset };
	struct json_out o;
	int r = placement_make(&of, flavors, &place, err);

	if (r < 0) {
		return r;
	}
	owner_plan_open(&o, body, &pod->meta);
	placement_write_meta(&place, &o);
	json_out_object_end(&o);
	json_out_key(&o, "spec");
	json_out_object(&o);
	write_gates(&o, pod);
	placement_write_spec(&place, &pod->spec, &o);
	json_out_object_end(&o);
	json_out_object_end(&o);
	json_out_end(&o);
	return 0;
}

static void write_target(const struct api_pod *pod, const char *status, const char *reason,
			 const char *message, int64_t now, struct strbuf *body)
{
	char at[CLOCK_RFC3339_MAX];
	struct json_out o;

	clock_format_time(now, at);
	json_out_init(&o, body);
	json_out_object(&o);
	json_out_kv(&o, "apiVersion", "v1");
	json_out_kv(&o, "kind", "Pod");
	json_out_key(&o, "metadata");
	json_out_object(&o);
	json_out_kv(&o, "namespace", pod->meta.namespace_);
	json_out_kv(&o, "name", pod->meta.name);
	json_out_kv(&o, "uid", pod->meta.uid);
	json_out_object_end(&o);
	json_out_key(&o, "status");
	json_out_object(&o);
	json_out_key(&o, "conditions");
	json_out_array(&o);
	json_out_object(&o);
	json_out_kv(&o, "type", KUEUE_TERMINATION_TARGET);
	json_out_kv(&o, "status", status);
	json_out_kv(&o, "reason", reason);
	json_out_kv(&o, "message", message);
	json_out_kv(&o, "lastTransitionTime", at);
	json_out_object_end(&o);
	json_out_array_end(&o);
	json_out_object_end(&o);
	json_out_object_end(&o);
	json_out_end(&o);
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

void pod_start_release(const struct api_pod *pod, struct strbuf *body)
{
	struct json_out o;

	owner_plan_open(&o, body, &pod->meta);
	owner_plan_write_finalizers(&o, &pod->meta, KUEUE_POD_FINALIZER);
	json_out_object_end(&o);
	json_out_object_end(&o);
	json_out_end(&o);
}
