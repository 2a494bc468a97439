#include "scheduler/workloads/owners/owner_spec.h"

#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/digest.h"
#include "enc/encode.h"

#define HASH_DIGITS 5

/* Kueue's rule: the name is cut to what the API allows, and five digits of a SHA-1 keep owners with
 * equal beginnings, or of earlier UIDs, apart. */
const char *owner_spec_name(const char *prefix, const char *kind, const char *group,
			    const struct api_meta *m, struct arena *arena)
{
	size_t most = OWNER_SPEC_NAME_MAX - strlen(prefix) - 1 - HASH_DIGITS;
	const char *source = arena_printf(arena, "%s\n%s\n%s\n%s", kind, group, m->name,
					  m->uid == NULL ? "" : m->uid);
	size_t len = strlen(m->name);
	char hash[DIGEST_SHA1_HEX_SIZE];

	digest_sha1_hex(str_of(source), hash);
	return arena_printf(arena, "%s%.*s-%.*s", prefix, (int)(len < most ? len : most), m->name,
			    HASH_DIGITS, hash);
}

const char *owner_spec_prebuilt(const struct api_meta *m)
{
	const char *name = field_map_get(&m->labels, KUEUE_PREBUILT_WORKLOAD);

	if (name == NULL) {
		name = field_map_get(&m->annotations, KUEUE_PREBUILT_WORKLOAD);
	}
	return name == NULL || name[0] == '\0' ? NULL : name;
}

/* A text that is no such number is refused by the webhook; where it got past it, it counts as
 * absent. */
int32_t owner_spec_positive(const char *text)
{
	uint64_t n;

	return text != NULL && str_to_u64(str_of(text), &n) && n <= INT32_MAX ? (int32_t)n : 0;
}

/* Kueue's order: the WorkloadPriorityClass that the owner names; the PriorityClass of its pods; the
 * default PriorityClass of the cluster; 0. */
static bool find_priority(const struct api_meta *m, const char *wanted,
			  const struct owner_spec_classes *classes, struct owner_spec *s)
{
	const char *name = field_map_get(&m->labels, KUEUE_PRIORITY_CLASS);

	if (name != NULL && name[0] != '\0') {
		s->class_group = KUEUE_GROUP;
		s->class_kind = "WorkloadPriorityClass";
		s->class_name = name;
		return classes->queue_class(classes->ctx, name, &s->priority);
	}
	if (classes->pod_class(classes->ctx, wanted, &name, &s->priority)) {
		s->class_group = "scheduling.k8s.io";
		s->class_kind = "PriorityClass";
		s->class_name = name;
		return true;
	}
	return wanted == NULL; /* no class is the default: priority 0 without a reference */
}

bool owner_spec_read(const struct api_meta *m, const char *priority_class,
		     const struct owner_spec_classes *classes, struct owner_spec *ret)
{
	const char *queue = field_map_get(&m->labels, KUEUE_QUEUE_NAME);
	const char *gate = field_map_get(&m->annotations, KUEUE_ADMISSION_GATED_BY);

	*ret = (struct owner_spec){
		/* An owner without the label may be managed as well
		 * (manageJobsWithoutQueueName). */
		.queue = queue == NULL ? "" : queue,
		.max_execution =
			owner_spec_positive(field_map_get(&m->labels, KUEUE_MAX_EXEC_TIME)),
		.gated_by = gate == NULL || gate[0] == '\0' ? NULL : gate,
		.annotations = &m->annotations,
	};
	return find_priority(m, priority_class, classes, ret);
}

static const char *copy(const struct field_map *from, const struct field_strs *keys,
			struct arena *arena, struct field_map *to)
{
	struct field_pair *v =
		arena_zero(arena, to->n + (keys == NULL ? 0 : keys->n) + 1, sizeof(*v));
	const char *differs = NULL;
	size_t n = 0;

	for (; n < to->n; n++) {
		v[n] = to->v[n];
	}
	for (size_t i = 0; keys != NULL && i < keys->n; i++) {
		const char *value = field_map_get(from, keys->v[i]);
		const char *has = field_map_get(to, keys->v[i]);

		/* The first value stays: the caller decides whether a different one matters. */
		if (value != NULL && has == NULL) {
			v[n++] = (struct field_pair){ keys->v[i], value };
		} else if (value != NULL && !str_streq(value, has)) {
			differs = keys->v[i];
		}
	}
	*to = (struct field_map){ .v = v, .n = n };
	return differs;
}

const char *owner_spec_copy_labels(const struct api_meta *m, const struct field_strs *keys,
				   struct arena *arena, struct owner_spec *s)
{
	return copy(&m->labels, keys, arena, &s->labels);
}

const char *owner_spec_copy_notes(const struct api_meta *m, const struct field_strs *keys,
				  struct arena *arena, struct owner_spec *s)
{
	return copy(&m->annotations, keys, arena, &s->notes);
}

bool owner_spec_same_pods(const struct api_pod_spec *a, const struct api_pod_spec *b,
			  bool with_tolerations)
{
	CLEANUP(strbuf_finish) struct strbuf ta = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf tb = STRBUF_INIT;
	struct api_pod_spec part;

	for (unsigned i = 0; i < 2; i++) {
		const struct api_pod_spec *from = i == 0 ? a : b;

		/* Kueue compares these alone. Admission adds tolerations, so they count only before
		 * it. */
		part = (struct api_pod_spec){ .priority = FIELD_NO_I32,
					      .containers = from->containers,
					      .init_containers = from->init_containers };
		if (with_tolerations) {
			part.tolerations.v = from->tolerations.v;
			part.tolerations.n = from->tolerations.n;
		}
		/* An empty list is as good as none. */
		if (part.init_containers.n == 0) {
			part.init_containers.v = NULL;
		}
		if (part.tolerations.n == 0) {
			part.tolerations.v = NULL;
		}
		/* Compared as text, which has every field that is read. */
		encode_text(&pod_spec_fields, &part, i == 0 ? &ta : &tb);
	}
	return str_eq(strbuf_str(&ta), strbuf_str(&tb));
}

bool owner_spec_is_synced(const struct owner_spec *s, const struct api_workload *w)
{
	const struct api_priority_ref *ref = w->spec.priority_class_ref;
	int32_t priority = w->spec.priority == FIELD_NO_I32 ? 0 : w->spec.priority;
	const char *gate = field_map_get(&w->meta.annotations, KUEUE_ADMISSION_GATED_BY);

	return str_streq(s->queue, w->spec.queue_name == NULL ? "" : w->spec.queue_name) &&
	       s->priority == priority &&
	       str_streq(s->class_name, ref == NULL ? NULL : ref->name) &&
	       str_streq(s->class_kind, ref == NULL ? NULL : ref->kind) &&
	       str_streq(s->gated_by == NULL ? "" : s->gated_by, gate == NULL ? "" : gate);
}

void owner_spec_fill(const struct owner_spec *s, struct api_priority_ref *ref,
		     struct api_workload_spec *ret)
{
	/* The empty name of an owner without a queue is no name of a LocalQueue. */
	ret->queue_name = s->queue[0] == '\0' ? NULL : s->queue;
	ret->priority = s->priority;
	if (s->class_name != NULL) {
		*ref = (struct api_priority_ref){ s->class_group, s->class_kind, s->class_name };
		ret->priority_class_ref = ref;
	}
	if (s->max_execution > 0) {
		ret->max_execution_time = s->max_execution;
	}
}
