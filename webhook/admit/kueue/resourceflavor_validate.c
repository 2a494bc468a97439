#include "webhook/admit/kueue/resourceflavor_validate.h"

#include "api/meta/validate.h"
#include "webhook/admit/admit_check.h"

#define MAX_ITEMS 8

static void check_taint(const struct admit_check *c, const struct api_resource_flavor_spec *s,
			size_t i)
{
	const struct api_taint *t = &s->node_taints.v[i];
	const char *path = admit_check_path(c, "spec.nodeTaints[%zu]", i);

	admit_check_qualified(c, admit_check_path(c, "%s.key", path), t->key != NULL ? t->key : "");
	admit_check_effect(c, admit_check_path(c, "%s.effect", path),
			   t->effect != NULL ? t->effect : "");
	if (t->value != NULL && !validate_is_label_value(str_of(t->value))) {
		admit_check_deny(c, admit_check_path(c, "%s.value", path),
				 "\"%s\" is not a valid label value", t->value);
	}
	for (size_t k = 0; k < i; k++) {
		if (str_streq(s->node_taints.v[k].key, t->key) &&
		    str_streq(s->node_taints.v[k].effect, t->effect)) {
			admit_check_deny(c, path, "same key and effect as spec.nodeTaints[%zu]", k);
		}
	}
}

static void check_spec(const struct admit_check *c, const struct api_resource_flavor_spec *s)
{
	if (s->node_labels.n > MAX_ITEMS) {
		admit_check_deny(c, "spec.nodeLabels", "%zu labels, at most %d are allowed",
				 s->node_labels.n, MAX_ITEMS);
	}
	if (s->node_taints.n > MAX_ITEMS) {
		admit_check_deny(c, "spec.nodeTaints", "%zu items, at most %d are allowed",
				 s->node_taints.n, MAX_ITEMS);
		return;
	}
	admit_check_labels(c, "spec.nodeLabels", &s->node_labels);
	for (size_t i = 0; i < s->node_taints.n; i++) {
		check_taint(c, s, i);
	}
	admit_check_tolerations(c, "spec.tolerations", s->tolerations.v, s->tolerations.n);
}

int resourceflavor_validate(const struct admit_request *q, struct admit_answer *ret,
			    struct err *err)
{
	const struct admit_check c = { q, ret };
	struct api_resource_flavor flavor = { 0 }, old = { 0 };
	int verb = admit_check_read(q, &kueue_resource_flavor_fields, &flavor, &old, err);
	const char *before = verb == ADMIT_CHECK_UPDATE ? old.spec.topology_name : NULL;

	if (verb > ADMIT_CHECK_OTHER) {
		check_spec(&c, &flavor.spec);
		if (before != NULL && !str_streq(flavor.spec.topology_name, before)) {
			admit_check_deny(&c, "spec.topologyName", "field is immutable once set");
		} else if (before == NULL && flavor.spec.topology_name != NULL) {
			/* Refused rather than ignored. A flavor that has one can still be edited.
			 */
			admit_check_deny(&c, "spec.topologyName",
					 "topology-aware scheduling is not supported");
		}
	}
	return verb < 0 ? verb : 0;
}
