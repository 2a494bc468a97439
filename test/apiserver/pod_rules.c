#include "apiserver/pod_rules.h"

#include "apiserver/kstatus.h"
#include "apiserver/validate.h"
#include "base/attrs.h"
#include "base/xmalloc.h"
#include "enc/jdoc.h"

static void check_containers(const struct jdoc *pod, struct jdoc *causes)
{
	const struct jdoc *list = jdoc_path(pod, "spec.containers");
	size_t i = 0;

	if (jdoc_first(list) == NULL) {
		kstatus_cause(causes, "FieldValueRequired", "spec.containers", "Required value");
	}
	for (const struct jdoc *c = jdoc_first(list); c != NULL; c = jdoc_next(c), i++) {
		CLEANUP(xmalloc_freep) char *at = xmalloc_printf("spec.containers[%zu].name", i);
		const char *name = jdoc_str_or(jdoc_get(c, "name"), "");

		if (name[0] == '\0') {
			kstatus_cause(causes, "FieldValueRequired", at, "Required value");
		} else if (!validate_is_dns_label(str_of(name))) {
			kstatus_cause_value(causes, at, jdoc_get(c, "name"),
					    "a lowercase RFC 1123 label must consist of lower case "
					    "alphanumeric characters or '-', and must start and "
					    "end with an alphanumeric character");
		}
		for (const struct jdoc *b = jdoc_first(list); b != c; b = jdoc_next(b)) {
			if (jdoc_is_str(jdoc_get(b, "name"), name)) {
				kstatus_cause(causes, "FieldValueDuplicate", at,
					      "Duplicate value: \"%s\"", name);
			}
		}
	}
}

static void check_gates(const struct jdoc *pod, struct jdoc *causes)
{
	const struct jdoc *gates = jdoc_path(pod, "spec.schedulingGates");
	size_t i = 0;

	for (const struct jdoc *g = jdoc_first(gates); g != NULL; g = jdoc_next(g), i++) {
		CLEANUP(xmalloc_freep) char *at = xmalloc_printf("spec.schedulingGates[%zu]", i);
		const char *name = jdoc_str_or(jdoc_get(g, "name"), "");

		if (!validate_is_qualified_name(str_of(name))) {
			kstatus_cause_value(causes, at, jdoc_get(g, "name"),
					    "name part must consist of alphanumeric characters, "
					    "'-', '_' or '.'");
		}
		for (const struct jdoc *b = jdoc_first(gates); b != g; b = jdoc_next(b)) {
			if (jdoc_is_str(jdoc_get(b, "name"), name)) {
				kstatus_cause(causes, "FieldValueDuplicate", at,
					      "Duplicate value: \"%s\"", name);
			}
		}
	}
	if (i > 0 && jdoc_str_or(jdoc_path(pod, "spec.nodeName"), "")[0] != '\0') {
		kstatus_cause(causes, "FieldValueForbidden", "spec.nodeName",
			      "Forbidden: cannot be set until all schedulingGates have been "
			      "cleared");
	}
}

void pod_rules_check_create(const struct jdoc *pod, struct jdoc *causes)
{
	check_containers(pod, causes);
	check_gates(pod, causes);
}

static bool has_gate(const struct jdoc *gates, const char *name)
{
	for (const struct jdoc *g = jdoc_first(gates); g != NULL; g = jdoc_next(g)) {
		if (jdoc_is_str(jdoc_get(g, "name"), name)) {
			return true;
		}
	}
	return false;
}

static void check_gate_changes(const struct jdoc *pod, const struct jdoc *old, struct jdoc *causes)
{
	const struct jdoc *now = jdoc_path(pod, "spec.schedulingGates");
	const struct jdoc *before = jdoc_path(old, "spec.schedulingGates");

	for (const struct jdoc *g = jdoc_first(now); g != NULL; g = jdoc_next(g)) {
		const char *name = jdoc_str_or(jdoc_get(g, "name"), "");

		if (!has_gate(before, name)) {
			kstatus_cause(causes, "FieldValueForbidden", "spec.schedulingGates",
				      "Forbidden: only deletion is allowed, but found new "
				      "scheduling gate '%s'",
				      name);
		}
	}
}

/* While gated, a node selector may only be narrowed: no key goes, no value changes. */
static bool selector_is_narrowed(const struct jdoc *now, const struct jdoc *before)
{
	for (const struct jdoc *b = jdoc_first(before); b != NULL; b = jdoc_next(b)) {
		if (!jdoc_equal(jdoc_get(now, jdoc_key(b)), b)) {
			return false;
		}
	}
	return true;
}

static bool tolerations_are_kept(const struct jdoc *now, const struct jdoc *before)
{
	for (const struct jdoc *b = jdoc_first(before); b != NULL; b = jdoc_next(b)) {
		bool found = false;

		for (const struct jdoc *n = jdoc_first(now); n != NULL; n = jdoc_next(n)) {
			CLEANUP(jdoc_destroyp) struct jdoc *x = jdoc_copy(n);
			CLEANUP(jdoc_destroyp) struct jdoc *y = jdoc_copy(b);

			jdoc_remove(x, "tolerationSeconds");
			jdoc_remove(y, "tolerationSeconds");
			found = found || jdoc_equal(x, y);
		}
		if (!found) {
			return false;
		}
	}
	return true;
}

static void take_over(struct jdoc *to, const struct jdoc *from, const char *key)
{
	const struct jdoc *v = jdoc_get(from, key);

	if (v == NULL) {
		jdoc_remove(to, key);
	} else {
		jdoc_set_take(to, key, jdoc_copy(v));
	}
}

static void take_over_containers(struct jdoc *to, const struct jdoc *from, const char *list,
				 const char *key)
{
	struct jdoc *mine = jdoc_get_mut(to, list);
	const struct jdoc *theirs = jdoc_get(from, list);

	if (jdoc_count(mine) != jdoc_count(theirs)) {
		return;
	}
	for (size_t i = 0; i < jdoc_count(mine); i++) {
		take_over(jdoc_at_mut(mine, i), jdoc_at(theirs, i), key);
	}
}

/* Required node affinity may be set while gated, and its terms may each gain expressions. We accept
 * any change that keeps the number of terms (or had none). */
static bool affinity_is_narrowed(const struct jdoc *now, const struct jdoc *before)
{
	static const char path[] =
		"nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
	const struct jdoc *b = jdoc_path(before, path);

	return jdoc_first(b) == NULL || jdoc_count(jdoc_path(now, path)) == jdoc_count(b);
}

static void check_fixed(const struct jdoc *pod, const struct jdoc *old, bool is_resize,
			struct jdoc *causes)
{
	static const char *const lists[] = { "containers", "initContainers" };
	const struct jdoc *before = jdoc_get(old, "spec");
	bool gated = jdoc_first(jdoc_path(old, "spec.schedulingGates")) != NULL;
	CLEANUP(jdoc_destroyp) struct jdoc *spec = jdoc_copy(jdoc_get(pod, "spec"));

	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		take_over_containers(spec, before, lists[i], "image");
		if (is_resize) {
			take_over_containers(spec, before, lists[i], "resources");
		}
	}
	take_over(spec, before, "activeDeadlineSeconds");
	take_over(spec, before, "ephemeralContainers");
	take_over(spec, before, "schedulingGates");
	if (tolerations_are_kept(jdoc_get(spec, "tolerations"), jdoc_get(before, "tolerations"))) {
		take_over(spec, before, "tolerations");
	}
	if (gated && selector_is_narrowed(jdoc_get(spec, "nodeSelector"),
					  jdoc_get(before, "nodeSelector"))) {
		take_over(spec, before, "nodeSelector");
	}
	if (gated &&
	    affinity_is_narrowed(jdoc_get(spec, "affinity"), jdoc_get(before, "affinity"))) {
		take_over(spec, before, "affinity");
	}
	if (!jdoc_equal(spec, before)) {
		kstatus_cause(
			causes, "FieldValueForbidden", "spec",
			"Forbidden: pod updates may not change fields other than "
			"`spec.containers[*].image`,`spec.initContainers[*].image`,"
			"`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to "
			"existing tolerations),`spec.terminationGracePeriodSeconds` (allow it "
			"to be set to 1 if it was previously negative)");
	}
}

void pod_rules_check_update(const struct jdoc *pod, const struct jdoc *old, bool is_resize,
			    struct jdoc *causes)
{
	check_gate_changes(pod, old, causes);
	check_fixed(pod, old, is_resize, causes);
}
