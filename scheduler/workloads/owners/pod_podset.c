#include "scheduler/workloads/owners/pod_podset.h"

#include <stdlib.h>

#include "api/core/pod.h"
#include "api/kueue/kueue_keys.h"
#include "base/arena.h"
#include "scheduler/workloads/owners/kueue_pod_group.h"
#include "scheduler/workloads/owners/owner_spec.h"

const char *pod_podset_mismatch(const struct pod_podset_of *of, struct arena *arena)
{
	const struct api_pod *first = of->pods[0];
	const char *queue = field_map_get(&first->meta.labels, KUEUE_QUEUE_NAME);
	int32_t total = kueue_pod_group_total(first);

	if (total == 0) {
		return KUEUE_POD_GROUP_COUNT " is not a number above 0";
	}
	for (size_t i = 0; i < of->n; i++) {
		const struct api_pod *pod = of->pods[i];

		/* Its place may be taken by a pod with other values. */
		if (str_streq(pod->status.phase, "Failed")) {
			continue;
		}
		if (kueue_pod_group_total(pod) != total) {
			return arena_printf(arena,
					    "pods '%s' and '%s' of the group have different values "
					    "of " KUEUE_POD_GROUP_COUNT,
					    first->meta.name, pod->meta.name);
		}
		if (!str_streq(field_map_get(&pod->meta.labels, KUEUE_QUEUE_NAME), queue)) {
			return arena_printf(arena,
					    "pods '%s' and '%s' of the group have different queues",
					    first->meta.name, pod->meta.name);
		}
	}
	return NULL;
}

/* The Workload has one value of each label, so all pods must agree (Kueue). */
const char *pod_podset_labels(const struct pod_podset_of *of, const struct field_strs *keys,
			      struct arena *arena, struct owner_spec *s)
{
	for (size_t i = 0; i < of->n; i++) {
		const char *key = owner_spec_copy_labels(&of->pods[i]->meta, keys, arena, s);

		if (key != NULL) {
			return arena_printf(arena,
					    "pods of the group have different values of the label "
					    "%s",
					    key);
		}
	}
	return NULL;
}

const char *pod_podset_notes(const struct pod_podset_of *of, const struct field_strs *keys,
			     struct arena *arena, struct owner_spec *s)
{
	for (size_t i = 0; i < of->n; i++) {
		const char *key = owner_spec_copy_notes(&of->pods[i]->meta, keys, arena, s);

		if (key != NULL) {
			return arena_printf(arena,
					    "pods of the group have different values of the "
					    "annotation %s",
					    key);
		}
	}
	return NULL;
}

static int by_name(const void *a, const void *b)
{
	const struct owner_spec_podset *x = a, *y = b;

	return str_cmp(str_of(x->name), str_of(y->name));
}

static void add(struct owner_spec *s, const char *name, const struct api_pod *pod, int32_t count)
{
	size_t i = 0;

	while (i < s->npodsets && !str_streq(s->podsets[i].name, name)) {
		i++;
	}
	if (i == s->npodsets) {
		s->podsets[s->npodsets++] =
			/* Any pod of a role will do: the role is a hash of what the pods need. */
			(struct owner_spec_podset){ .name = name,
						    .from = { pod->meta.name, pod->meta.uid } };
	}
	s->podsets[i].count += count;
}

bool pod_podset_fill(const struct pod_podset_of *of, struct arena *arena, struct owner_spec *s)
{
	const struct api_pod *first = of->pods[0];

	s->podsets = arena_zero(arena, of->n + 1, sizeof(*s->podsets));
	s->npodsets = 0;
	if (kueue_pod_group_name(first) == NULL) {
		s->name = owner_spec_name("pod-", "Pod", "", &first->meta, arena);
		add(s, OWNER_SPEC_MAIN, first, 1);
		return true;
	}
	s->name = kueue_pod_group_name(first);
	if (kueue_pod_group_is_fast(first)) {
		/* The others are not there yet and are taken to be like the first (Kueue: fast
		 * admission). */
		add(s, kueue_pod_group_role(first), first, kueue_pod_group_total(first));
		return true;
	}
	/* One more than a Workload may have shows that it cannot be made: the others, as many as
	 * pods where each has its own role, are not looked at. */
	for (size_t i = 0; i < of->n && s->npodsets <= OWNER_SPEC_PODSETS_MAX; i++) {
		add(s, kueue_pod_group_role(of->pods[i]), of->pods[i], 1);
	}
	/* By name, so that the Workload does not depend on the order in which pods came. */
	qsort(s->podsets, s->npodsets, sizeof(s->podsets[0]), by_name);
	return s->npodsets <= OWNER_SPEC_PODSETS_MAX;
}
