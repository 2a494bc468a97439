#include "scheduler/ctl/manifest/builtin_admission.h"

#include "base/attrs.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "scheduler/ctl/manifest/manifest_check.h"
#include "scheduler/ctl/sim/sim_input.h"

/* Every cluster has these. */
static bool is_system_class(const char *name)
{
	return str_streq(name, "system-cluster-critical") ||
	       str_streq(name, "system-node-critical");
}

static void forbid(struct manifest_check *check, const struct sim_object *o, char *why_take)
{
	CLEANUP(xmalloc_freep) char *why = why_take;
	CLEANUP(xmalloc_freep)
	char *text = xmalloc_printf("%s: %s %s: is forbidden: %s", o->where,
				    sim_input_kind_name(o->kind), o->key, why);

	manifest_check_problem(check, text);
}

static void check_pod(const struct sim_input *in, struct manifest_check *check,
		      const struct sim_object *o)
{
	const char *priority = jdoc_path_str(o->json, "spec.priorityClassName");
	const char *runtime = jdoc_path_str(o->json, "spec.runtimeClassName");
	const struct jdoc *given = jdoc_path(o->json, "spec.priority");
	const struct sim_object *class =
		priority == NULL ? NULL : sim_input_find(in, SCHED_PRIORITY_CLASSES, priority);

	if (priority != NULL && priority[0] != '\0' && class == NULL &&
	    !is_system_class(priority)) {
		forbid(check, o,
		       xmalloc_printf("no PriorityClass with name %s was found", priority));
	}
	/* The API server fills the priority in from the class, and accepts a given one only if
	 * it is the same. */
	if (class != NULL && jdoc_kind(given) == JDOC_NUMBER &&
	    !jdoc_equal(given, jdoc_get(class->json, "value"))) {
		forbid(check, o,
		       xmalloc_printf("the integer value of priority (%lld) must not be provided "
				      "in pod spec; priority admission controller computed %lld "
				      "from the given PriorityClass name",
				      (long long)jdoc_int(given, 0),
				      (long long)jdoc_int(jdoc_get(class->json, "value"), 0)));
	}
	if (runtime != NULL && runtime[0] != '\0' &&
	    sim_input_find(in, SCHED_RUNTIME_CLASSES, runtime) == NULL) {
		forbid(check, o,
		       xmalloc_printf("pod rejected: RuntimeClass \"%s\" not found", runtime));
	}
}

void builtin_admission(struct sim_input *in, struct manifest_check *check)
{
	const struct sim_object *global = NULL;
	size_t n;
	struct sim_object *const *objects = sim_input_objects(in, &n);

	for (size_t i = 0; i < n; i++) {
		const struct sim_object *o = objects[i];

		if (o->kind == SCHED_PODS && sim_input_is_new(o)) {
			check_pod(in, check, o);
		}
		if (o->kind == SCHED_PRIORITY_CLASSES &&
		    jdoc_bool(jdoc_get(o->json, "globalDefault"), false)) {
			/* The first in the order of keys stands for the one that is there
			 * already. */
			if (global != NULL) {
				forbid(check, o,
				       xmalloc_printf("PriorityClass %s is already marked as "
						      "default. Only one default can exist",
						      global->key));
			}
			global = o;
		}
	}
}
