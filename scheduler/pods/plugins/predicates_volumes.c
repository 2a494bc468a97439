#include "scheduler/pods/plugins/predicates_volumes.h"

#include <string.h>

#include "base/arena.h"
#include "scheduler/pods/model/pod_class.h"
#include "scheduler/pods/model/volumes.h"
#include "scheduler/pods/session/session.h"

static bool refuse(struct reason *why, const char *code)
{
	if (why != NULL) {
		*why = (struct reason){ .code = code, .unresolvable = true };
	}
	return false;
}

/* It holds for every node. */
static bool refuse_all(struct reason *why, const char *code)
{
	if (why != NULL) {
		*why = (struct reason){ .code = code, .unresolvable = true, .everywhere = true };
	}
	return false;
}

/* Texts are made only where they are asked for. */
#define REFUSE_ALL(s, why, ...)                                                                    \
	refuse_all((why), (why) == NULL ? NULL : arena_printf(session_arena(s), __VA_ARGS__))

static bool refuse_missing(const struct session *s, const struct pod_claim *of, struct reason *why)
{
	/* Normal for a moment after the pod was created. */
	if (of->owner != NULL) {
		return REFUSE_ALL(s, why,
				  "waiting for ephemeral volume controller to create the "
				  "persistentvolumeclaim \"%s\"",
				  of->name);
	}
	return REFUSE_ALL(s, why, "persistentvolumeclaim \"%s\" not found", of->name);
}

/* Whether a pod may use the claim at all, whatever the node. */
static bool is_usable(const struct session *s, const struct pod_claim *of, const struct claim *cl,
		      struct reason *why)
{
	if (!cl->exists) {
		return refuse_missing(s, of, why);
	}
	if (cl->lost) {
		return REFUSE_ALL(s, why,
				  "persistentvolumeclaim \"%s\" bound to non-existent "
				  "persistentvolume \"%s\"",
				  of->name, cl->volume == NULL ? "" : cl->volume->name);
	}
	if (cl->deleting) {
		return REFUSE_ALL(s, why, "persistentvolumeclaim \"%s\" is being deleted",
				  of->name);
	}
	if (of->owner != NULL && (cl->owner == NULL || strcmp(of->owner, cl->owner) != 0)) {
		return REFUSE_ALL(s, why, "PVC %s was not created for this pod (pod is not owner)",
				  cl->key);
	}
	if (!cl->bound && cl->klass != NULL && cl->klass->waits && cl->volume == NULL) {
		return refuse_all(why, "PersistentVolumeClaims with volumeBindingMode "
				       "WaitForFirstConsumer are not supported yet");
	}
	return cl->bound || refuse_all(why, "pod has unbound immediate PersistentVolumeClaims");
}

static bool is_reachable(const struct claim *cl, const struct node *n, struct reason *why)
{
	if (!cl->volume->exists) {
		return refuse(why, "node(s) unavailable due to one or more pvc(s) bound to "
				   "non-existent pv(s)");
	}
	if (!volumes_fits_node(cl->volume, n)) {
		return refuse(why, "node(s) didn't match PersistentVolume's node affinity");
	}
	return volumes_fits_zone(cl->volume, n) ||
	       refuse(why, "node(s) had no available volume zone");
}

bool predicates_volumes_class(const struct session *s, const struct pod_class *k,
			      const struct node *n, struct reason *why)
{
	const struct cluster *c = session_cluster(s);

	for (size_t i = 0; i < k->nclaims; i++) {
		const struct claim *cl = c->claims.v[k->claims[i].id];

		if (!is_usable(s, &k->claims[i], cl, why)) {
			return false;
		}
	}
	for (size_t i = 0; i < k->nclaims; i++) {
		const struct claim *cl = c->claims.v[k->claims[i].id];

		if (cl->bound && !is_reachable(cl, n, why)) {
			return false;
		}
	}
	return true;
}
