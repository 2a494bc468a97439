#include "scheduler/multikueue/manager/spec_sync.h"

#include "api/kueue/kueue_workload.h"
#include "base/attrs.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "enc/decode.h"
#include "enc/encode.h"
#include "enc/json/jdoc.h"

/* NULL: nothing is left. Items of a list stay. */
static struct jdoc *without_empty_members(const struct jdoc *d)
{
	bool is_object = jdoc_kind(d) == JDOC_OBJECT;
	struct jdoc *copy;

	if (jdoc_kind(d) == JDOC_NULL ||
	    ((is_object || jdoc_kind(d) == JDOC_ARRAY) && jdoc_first(d) == NULL)) {
		return NULL;
	}
	if (!is_object && jdoc_kind(d) != JDOC_ARRAY) {
		return jdoc_copy(d);
	}
	copy = is_object ? jdoc_new_object() : jdoc_new_array();
	for (const struct jdoc *c = jdoc_first(d); c != NULL; c = jdoc_next(c)) {
		struct jdoc *value = without_empty_members(c);

		if (!is_object) {
			jdoc_append_take(copy, value != NULL ? value : jdoc_copy(c));
		} else if (value != NULL) {
			jdoc_add_take(copy, jdoc_key(c), value);
		}
	}
	if (jdoc_first(copy) == NULL) {
		jdoc_destroy(copy);
		return NULL;
	}
	return copy;
}

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

static void prune(const struct strbuf *text, struct strbuf *out)
{
	CLEANUP(jdoc_destroyp) struct jdoc *whole = NULL, *rest = NULL;

	if (jdoc_parse(strbuf_str(text), &whole, NULL) == 0) {
		rest = without_empty_members(whole);
	}
	if (rest != NULL) {
		jdoc_format(rest, out);
	} else {
		strbuf_add_str(out, strbuf_str(text)); /* nested too deeply to be read again */
	}
}

/* A client of Kueue's types, such as Kueue on the worker, adds members that are empty ("metadata":
 * {}) whenever it writes the object. Most replicas are equal without a look at these. */
static bool is_same_text(const struct strbuf *a, const struct strbuf *b)
{
	CLEANUP(strbuf_finish) struct strbuf x = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf y = STRBUF_INIT;

	if (str_eq(strbuf_str(a), strbuf_str(b))) {
		return true;
	}
	prune(a, &x);
	prune(b, &y);
	return str_eq(strbuf_str(&x), strbuf_str(&y));
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
	if (!is_same_text(local_text, &text)) {
		return SPEC_SYNC_OTHER;
	}
	return priority_of(local) == priority_of(replica) &&
			       same_class(local->spec.priority_class_ref,
					  replica->spec.priority_class_ref)
		       ? SPEC_SYNC_SAME
		       : SPEC_SYNC_PRIORITY;
}
