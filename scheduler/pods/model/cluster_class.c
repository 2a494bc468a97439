#include <assert.h>

#include "base/strbuf.h"
#include "collections/strmap.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/model/images.h"
#include "scheduler/pods/model/selectors.h"
#include "scheduler/pods/model/volumes.h"

/* The signature is the key: two candidates are equal exactly when their texts are. */
const struct pod_class *cluster_class_intern(struct cluster *c, const struct pod_class *candidate)
{
	CLEANUP(strbuf_finish) struct strbuf signature = STRBUF_INIT;
	struct pod_class *k;

	pod_class_format(candidate, &signature);
	k = strmap_get(c->classes, strbuf_str(&signature));
	if (k == NULL) {
		k = pod_class_copy(candidate, signature.p);
		k->id = slots_add(&c->class_by_id, k);
		strmap_set(c->classes, strbuf_str(&signature), k);
		selectors_add_class(c, k);
		volumes_enter_class(c, k);
		images_enter_class(c, k);
	}
	k->refs++;
	return k;
}

const struct pod_class *cluster_class_ref(struct cluster *c, const struct pod_class *klass)
{
	c->class_by_id.v[klass->id]->refs++;
	return klass;
}

void cluster_class_unref(struct cluster *c, const struct pod_class *klass)
{
	struct pod_class *k;

	if (klass == NULL) {
		return;
	}
	k = c->class_by_id.v[klass->id];
	assert(k == klass && k->refs > 0);
	if (--k->refs > 0) {
		return;
	}
	selectors_remove_class(c, k);
	strmap_remove(c->classes, str_of(k->signature));
	slots_remove(&c->class_by_id, k->id);
	volumes_leave_class(c, k);
	images_leave_class(c, k);
	pod_class_destroy(k);
}
