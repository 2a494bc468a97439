#include "scheduler/ctl/sim/sim_group.h"

#include <stdlib.h>

#include "api/core/pod.h"
#include "api/core/resource_amount.h"
#include "api/volcano/keys.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "enc/quantity.h"
#include "scheduler/pods/model/cluster.h"

static bool is_text(const char *text)
{
	return text != NULL && text[0] != '\0';
}

static char *group_name(const struct api_pod *pod)
{
	const struct api_owner *owner = meta_controller(&pod->meta);

	/* Pods of one owner share the group: the name has to follow from the owner alone. */
	if (owner != NULL && is_text(owner->uid)) {
		return xmalloc_printf("podgroup-%s", owner->uid);
	}
	if (owner != NULL && is_text(owner->name)) {
		return xmalloc_printf("podgroup-%s", owner->name);
	}
	return xmalloc_printf("podgroup-%s",
			      is_text(pod->meta.uid) ? pod->meta.uid : pod->meta.name);
}

/* As Volcano's PodGroup controller: without the annotation it is 1, also where all replicas of
 * an owner share the group. So pods form a gang only when they ask for it. */
static int64_t min_member(const struct api_pod *pod)
{
	const char *text = field_map_get(&pod->meta.annotations, KEYS_GROUP_MIN_MEMBER);
	uint64_t n;

	return text != NULL && str_to_u64(str_of(text), &n) && n <= INT32_MAX ? (int64_t)n : 1;
}

/* Requests of one pod, times the members that must run: what the group is enqueued with. */
static void add_resources(const struct cluster *c, const struct task *t, int64_t members,
			  struct jdoc *spec)
{
	struct jdoc *min = jdoc_ensure_object(spec, "minResources");

	for (unsigned d = 0; d < res_names_count(c->res); d++) {
		const char *name = res_names_get(c->res, d);
		char text[QUANTITY_TEXT_MAX];
		int64_t total;

		if (res_get(&t->klass->request, d) <= 0) {
			continue;
		}
		/* More than any cluster has: saturated, it never fits. */
		if (__builtin_mul_overflow(res_get(&t->klass->request, d), members, &total)) {
			total = INT64_MAX;
		}
		quantity_format(resource_amount_quantity(name, total), text);
		/* Each name is there once: adding does not search. */
		jdoc_add_take(min, name, jdoc_new_str(text));
	}
}

struct jdoc *sim_group_make(const struct cluster *c, const struct task *t,
			    const struct api_pod *pod)
{
	CLEANUP(xmalloc_freep) char *name = group_name(pod);
	const char *queue = field_map_get(&pod->meta.annotations, KEYS_QUEUE_NAME);
	int64_t members = min_member(pod);
	struct jdoc *group = jdoc_new_object(), *meta, *spec;

	jdoc_set_str(group, "apiVersion", KEYS_VOLCANO_API_VERSION);
	jdoc_set_str(group, "kind", "PodGroup");
	meta = jdoc_ensure_object(group, "metadata");
	jdoc_set_str(meta, "namespace", t->namespace_);
	jdoc_set_str(meta, "name", name);
	jdoc_set_str(meta, "uid", "");
	spec = jdoc_ensure_object(group, "spec");
	jdoc_set_int(spec, "minMember", members);
	jdoc_set_str(spec, "queue", is_text(queue) ? queue : KEYS_DEFAULT_QUEUE);
	if (is_text(pod->spec.priority_class_name)) {
		jdoc_set_str(spec, "priorityClassName", pod->spec.priority_class_name);
	}
	add_resources(c, t, members, spec);
	jdoc_set_str(jdoc_ensure_object(group, "status"), "phase", "Pending");
	return group;
}
