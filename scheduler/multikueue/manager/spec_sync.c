#include "scheduler/multikueue/manager/spec_sync.h"

#include "api/kueue/kueue_workload.h"
#include "base/attrs.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "enc/decode.h"
#include "enc/encode.h"

void spec_sync_text(const struct api_workload *w, struct strbuf *out)
{
	struct api_workload copy;

	decode_init(&kueue_workload_fields, &copy);
	copy.spec = w->spec;
	copy.spec.active = kueue_workload_is_active(w);
	copy.spec.priority = FIELD_NO_I32;
	copy.spec.priority_class_ref = NULL;
	copy.spec.preemption_gates.v = NULL;
	encode_text(&kueue_workload_fields, &copy, out);
}

static int32_t priority_of(const struct api_workload *w)
{
	return w->spec.priority == FIELD_NO_I32 ? 0 : w->spec.priority;
}

static bool same_class(const struct api_priority_ref *a, const struct api_priority_ref *b)
{
	if (a == NULL || b == NULL) {
		return a == b;
	}
	return str_streq(a->group, b->group) && str_streq(a->kind, b->kind) &&
	       str_streq(a->name, b->name);
}

enum spec_sync spec_sync_of(const struct api_workload *local, const struct strbuf *local_text,
			    const struct api_workload *replica)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	spec_sync_text(replica, &text);
	if (!str_eq(strbuf_str(local_text), strbuf_str(&text))) {
		return SPEC_SYNC_OTHER;
	}
	return priority_of(local) == priority_of(replica) &&
			       same_class(local->spec.priority_class_ref,
					  replica->spec.priority_class_ref)
		       ? SPEC_SYNC_SAME
		       : SPEC_SYNC_PRIORITY;
}
