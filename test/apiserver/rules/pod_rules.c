#include "apiserver/rules/pod_rules.h"

#include "apiserver/kstatus.h"
#include "base/attrs.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "schema/causes.h"
#include "schema/meta_rules.h"
#include "schema/pod_amounts.h"

#define TERMS "nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"

static void check_containers(const struct jdoc *pod, struct jdoc *causes)
{
	const struct jdoc *list = jdoc_path(pod, "spec.containers");
	size_t i = 0;

	if (jdoc_first(list) == NULL) {
		causes_add(causes, "FieldValueRequired", "spec.containers", "Required value");
	}
	for (const struct jdoc *c = jdoc_first(list); c != NULL; c = jdoc_next(c), i++) {
		CLEANUP(xmalloc_freep) char *at = xmalloc_printf("spec.containers[%zu].name", i);
		CLEANUP(xmalloc_freep)
		char *at_image = xmalloc_printf("spec.containers[%zu].image", i);
		const char *name = jdoc_str_or(jdoc_get(c, "name"), "");

		if (name[0] == '\0') {
			causes_add(causes, "FieldValueRequired", at, "Required value");
		} else {
			meta_rules_check_label_name(at, name, causes);
		}
		for (const struct jdoc *b = jdoc_first(list); b != c; b = jdoc_next(b)) {
			if (jdoc_is_str(jdoc_get(b, "name"), name)) {
				causes_add(causes, "FieldValueDuplicate", at,
					   "Duplicate value: \"%s\"", name);
			}
		}
		if (jdoc_str_or(jdoc_get(c, "image"), "")[0] == '\0') {
			causes_add(causes, "FieldValueRequired", at_image, "Required value");
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

		meta_rules_check_qualified(at, name, causes);
		for (const struct jdoc *b = jdoc_first(gates); b != g; b = jdoc_next(b)) {
			if (jdoc_is_str(jdoc_get(b, "name"), name)) {
				causes_add(causes, "FieldValueDuplicate", at,
					   "Duplicate value: \"%s\"", name);
			}
		}
	}
	if (i > 0 && jdoc_str_or(jdoc_path(pod, "spec.nodeName"), "")[0] != '\0') {
		causes_add(causes, "FieldValueForbidden", "spec.nodeName",
			   "Forbidden: cannot be set until all schedulingGates have been "
			   "cleared");
	}
}

static void check_policies(const struct jdoc *pod, struct jdoc *causes)
{
	static const char *const known[] = { "Always", "OnFailure", "Never" };
	const char *policy = jdoc_str_or(jdoc_path(pod, "spec.restartPolicy"), "");

	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		if (str_streq(policy, known[i])) {
			return;
		}
	}
	causes_add(causes, "FieldValueNotSupported", "spec.restartPolicy",
		   "Unsupported value: \"%s\": supported values: \"Always\", \"OnFailure\", "
		   "\"Never\"",
		   policy);
}

void pod_rules_check_create(const struct jdoc *pod, struct jdoc *causes)
{
	check_containers(pod, causes);
	check_policies(pod, causes);
	check_gates(pod, causes);
	pod_amounts_check(pod, causes);
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
	size_t i = 0;

	for (const struct jdoc *g = jdoc_first(now); g != NULL; g = jdoc_next(g), i++) {
		const char *name = jdoc_str_or(jdoc_get(g, "name"), "");
		CLEANUP(xmalloc_freep)
		char *at = xmalloc_printf("spec.schedulingGates[%zu].name", i);

		if (!has_gate(before, name)) {
			causes_add(causes, "FieldValueForbidden", at,
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

static void check_selector(const struct jdoc *now, const struct jdoc *before, struct jdoc *causes)
{
	if (!selector_is_narrowed(now, before)) {
		causes_add_value(causes, "spec.nodeSelector", now,
				 "only additions to spec.nodeSelector are allowed (no mutations "
				 "or deletions)");
	}
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

static bool term_is_narrowed(const struct jdoc *now, const struct jdoc *before, const char *what)
{
	const struct jdoc *n = jdoc_first(jdoc_get(now, what));

	for (const struct jdoc *b = jdoc_first(jdoc_get(before, what)); b != NULL;
	     b = jdoc_next(b)) {
		if (!jdoc_equal(n, b)) {
			return false;
		}
		n = jdoc_next(n);
	}
	return true;
}

/* Nothing but required node affinity may change. */
/* Required node affinity may be set while gated, and its terms may each gain expressions. */
static void check_affinity(const struct jdoc *now, const struct jdoc *before, struct jdoc *causes)
{
	const struct jdoc *n = jdoc_path(now, TERMS);
	const struct jdoc *b = jdoc_path(before, TERMS);
	size_t i = 0;

	if (jdoc_first(b) == NULL) {
		return;
	}
	if (jdoc_count(n) != jdoc_count(b)) {
		causes_add_value(causes, "spec.affinity." TERMS, n,
				 "no additions/deletions to non-empty NodeSelectorTerms list "
				 "are allowed");
		return;
	}
	for (; b != NULL && i < jdoc_count(b); i++) {
		CLEANUP(xmalloc_freep) char *at = xmalloc_printf("spec.affinity." TERMS "[%zu]", i);

		if (!term_is_narrowed(jdoc_at(n, i), jdoc_at(b, i), "matchExpressions") ||
		    !term_is_narrowed(jdoc_at(n, i), jdoc_at(b, i), "matchFields")) {
			causes_add_value(causes, at, jdoc_at(n, i),
					 "only additions are allowed (no mutations or "
					 "deletions)");
		}
	}
}

static void take_over_affinity(struct jdoc *to, const struct jdoc *from)
{
	static const char *const others[] = { "podAffinity", "podAntiAffinity" };
	const struct jdoc *before = jdoc_get(from, "affinity");
	const struct jdoc *now = jdoc_get(to, "affinity");

	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		if (!jdoc_equal(jdoc_get(now, others[i]), jdoc_get(before, others[i]))) {
			return;
		}
	}
	take_over(to, before == NULL ? NULL : from, "affinity");
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
	if (!tolerations_are_kept(jdoc_get(spec, "tolerations"), jdoc_get(before, "tolerations"))) {
		causes_add(causes, "FieldValueForbidden", "spec.tolerations",
			   "Forbidden: existing toleration can not be modified except its "
			   "tolerationSeconds");
	}
	take_over(spec, before, "tolerations");
	if (gated) {
		check_selector(jdoc_get(spec, "nodeSelector"), jdoc_get(before, "nodeSelector"),
			       causes);
		check_affinity(jdoc_get(spec, "affinity"), jdoc_get(before, "affinity"), causes);
		take_over(spec, before, "nodeSelector");
		take_over_affinity(spec, before);
	}
	if (!jdoc_equal(spec, before)) {
		causes_add(causes, "FieldValueForbidden", "spec",
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
	const char *nominated = jdoc_str_or(jdoc_path(pod, "status.nominatedNodeName"), "");

	check_gate_changes(pod, old, causes);
	if (is_resize) {
		pod_amounts_check(pod, causes);
		pod_amounts_check_resize(pod, old, causes);
	}
	if (nominated[0] != '\0' && jdoc_str_or(jdoc_path(old, "spec.nodeName"), "")[0] != '\0' &&
	    !jdoc_is_str(jdoc_path(old, "status.nominatedNodeName"), nominated)) {
		causes_add(causes, "FieldValueForbidden", "status.nominatedNodeName",
			   "Forbidden: may not be set on pods that are already bound to a node");
	}
	check_fixed(pod, old, is_resize, causes);
}
