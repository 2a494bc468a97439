#include "webhook/admit/kueue/workload_mutate.h"

#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "webhook/admit/admit_check.h"

static bool has_gate(const struct api_workload_spec *s, const char *name)
{
	for (size_t i = 0; i < s->preemption_gates.n; i++) {
		if (str_streq(s->preemption_gates.v[i].name, name)) {
			return true;
		}
	}
	return false;
}

/* names: without duplicates. Only the spec is written: a gate without an entry in the status
 * counts as closed. */
static void add_gates(const struct api_workload_spec *s, const char *const *names, size_t n,
		      struct admit_answer *ret)
{
	/* JSON Patch appends only to a list that exists. An empty list is replaced. */
	bool is_new = s->preemption_gates.n == 0;

	for (size_t i = 0; i < n; i++) {
		if (has_gate(s, names[i])) {
			continue;
		}
		admit_patch_add(ret, is_new ? "/spec/preemptionGates" : "/spec/preemptionGates/-",
				NULL);
		if (is_new) {
			json_out_array(&ret->out);
		}
		json_out_object(&ret->out);
		json_out_kv(&ret->out, "name", names[i]);
		json_out_object_end(&ret->out);
		if (is_new) {
			json_out_array_end(&ret->out);
		}
		admit_patch_end(ret);
		is_new = false;
	}
	admit_patch_close(ret);
}

static int mutate(const struct admit_request *q, bool selected, struct admit_answer *ret,
		  struct err *err)
{
	struct api_workload w = { 0 };
	int verb = admit_check_read(q, &kueue_workload_fields, &w, &w, err);
	const char *names[2], *asked;
	size_t n = 0;

	if (verb != ADMIT_CHECK_CREATE) {
		return verb < 0 ? verb : 0;
	}
	asked = field_map_get(&w.meta.annotations, KUEUE_ADD_PREEMPTION_GATE);
	if (asked != NULL && (asked[0] == '\0' || strlen(asked) > KUEUE_PREEMPTION_GATE_MAX)) {
		return admit_deny_invalid(ret, q->arena,
					  "metadata.annotations[" KUEUE_ADD_PREEMPTION_GATE
					  "]: must have 1 to %d characters",
					  KUEUE_PREEMPTION_GATE_MAX);
	}
	if (asked != NULL) {
		names[n++] = asked;
	}
	/* The list is a map by name: the same gate twice would be refused. */
	if (selected && !str_streq(asked, KUEUE_GATE_MULTIKUEUE)) {
		names[n++] = KUEUE_GATE_MULTIKUEUE;
	}
	if (n > 0) {
		add_gates(&w.spec, names, n, ret);
	}
	return 0;
}

int workload_mutate(const struct admit_request *q, struct admit_answer *ret, struct err *err)
{
	return mutate(q, false, ret, err);
}

int workload_mutate_selected(const struct admit_request *q, struct admit_answer *ret,
			     struct err *err)
{
	return mutate(q, true, ret, err);
}
