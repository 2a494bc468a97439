#include "scheduler/ctl/manifest/core_values.h"

#include <stdbool.h>
#include <string.h>

#include "api/meta/validate.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "enc/quantity.h"
#include "schema/causes.h"

#define PRIORITY_MAX 1000000000 /* of classes that users make */

enum rule { /* of a value that is there */
	    RULE_PRESENT,
	    RULE_CHOICE, /* one of words */
	    RULE_COUNT,  /* an integer, 0 or more */
	    RULE_POSITIVE,
	    RULE_LABEL,     /* a DNS label */
	    RULE_SUBDOMAIN, /* a DNS subdomain */
	    RULE_QUALIFIED, /* a qualified name */
	    RULE_AMOUNTS,   /* a map of amounts, 0 or more */
};

struct row {
	const char *path; /* "a.b[].c": c of each item of the list a.b */
	enum rule rule;
	bool required; /* where the object around it is there */
	const char *words;
};

/* A value, and where it is. */
struct place {
	const struct jdoc *value;
	const char *path;
	struct jdoc *causes;
};

#define EFFECTS "NoExecute NoSchedule PreferNoSchedule"
#define RESTARTS "Always Never OnFailure"
#define NODE_TERMS "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
#define NODE_WISHES "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution"
#define POD_TERMS(kind) "affinity." kind ".requiredDuringSchedulingIgnoredDuringExecution[]"
#define POD_WISHES(kind) "affinity." kind ".preferredDuringSchedulingIgnoredDuringExecution[]"

static const struct row pod_spec[] = {
	{ "containers", RULE_PRESENT, true, NULL },
	{ "containers[].name", RULE_LABEL, false, NULL },
	{ "containers[].restartPolicy", RULE_CHOICE, false, RESTARTS },
	{ "initContainers[].name", RULE_LABEL, false, NULL },
	{ "initContainers[].restartPolicy", RULE_CHOICE, false, RESTARTS },
	{ "restartPolicy", RULE_CHOICE, false, RESTARTS },
	{ "overhead", RULE_AMOUNTS, false, NULL },
	{ "nodeName", RULE_SUBDOMAIN, false, NULL },
	{ "priorityClassName", RULE_SUBDOMAIN, false, NULL },
	{ "runtimeClassName", RULE_SUBDOMAIN, false, NULL },
	{ "preemptionPolicy", RULE_CHOICE, false, "Never PreemptLowerPriority" },
	{ "schedulingGates[].name", RULE_QUALIFIED, true, NULL },
	{ "tolerations[].key", RULE_QUALIFIED, false, NULL },
	{ "tolerations[].operator", RULE_CHOICE, false, "Equal Exists" },
	{ "tolerations[].effect", RULE_CHOICE, false, EFFECTS },
	{ NODE_TERMS ".nodeSelectorTerms", RULE_PRESENT, true, NULL },
	{ NODE_WISHES "[].weight", RULE_POSITIVE, true, NULL },
	{ POD_TERMS("podAffinity") ".topologyKey", RULE_QUALIFIED, true, NULL },
	{ POD_TERMS("podAntiAffinity") ".topologyKey", RULE_QUALIFIED, true, NULL },
	{ POD_WISHES("podAffinity") ".weight", RULE_POSITIVE, true, NULL },
	{ POD_WISHES("podAntiAffinity") ".weight", RULE_POSITIVE, true, NULL },
	{ "topologySpreadConstraints[].maxSkew", RULE_POSITIVE, true, NULL },
	{ "topologySpreadConstraints[].topologyKey", RULE_QUALIFIED, true, NULL },
	{ "topologySpreadConstraints[].whenUnsatisfiable", RULE_CHOICE, true,
	  "DoNotSchedule ScheduleAnyway" },
	{ "topologySpreadConstraints[].nodeAffinityPolicy", RULE_CHOICE, false, "Honor Ignore" },
	{ "topologySpreadConstraints[].nodeTaintsPolicy", RULE_CHOICE, false, "Honor Ignore" },
	{ NULL, RULE_PRESENT, false, NULL },
};

static const struct row pod[] = {
	{ "spec", RULE_PRESENT, true, NULL },
	{ "status.phase", RULE_CHOICE, false, "Failed Pending Running Succeeded Unknown" },
	{ NULL, RULE_PRESENT, false, NULL },
};

static const struct row job[] = {
	{ "spec", RULE_PRESENT, true, NULL },
	{ "spec.template", RULE_PRESENT, true, NULL },
	{ "spec.template.spec", RULE_PRESENT, true, NULL },
	{ "spec.template.spec.restartPolicy", RULE_CHOICE, true, "Never OnFailure" },
	{ "spec.parallelism", RULE_COUNT, false, NULL },
	{ "spec.completions", RULE_COUNT, false, NULL },
	{ "spec.backoffLimit", RULE_COUNT, false, NULL },
	{ "spec.activeDeadlineSeconds", RULE_COUNT, false, NULL },
	{ "spec.completionMode", RULE_CHOICE, false, "Indexed NonIndexed" },
	{ NULL, RULE_PRESENT, false, NULL },
};

/* Deployment, ReplicaSet, StatefulSet. */
static const struct row controller[] = {
	{ "spec", RULE_PRESENT, true, NULL },
	{ "spec.replicas", RULE_COUNT, false, NULL },
	{ "spec.selector", RULE_PRESENT, true, NULL },
	{ "spec.template", RULE_PRESENT, true, NULL },
	{ "spec.template.spec", RULE_PRESENT, true, NULL },
	{ "spec.template.spec.restartPolicy", RULE_CHOICE, false, "Always" },
	{ NULL, RULE_PRESENT, false, NULL },
};

static const struct row node[] = {
	{ "spec.taints[].key", RULE_QUALIFIED, true, NULL },
	{ "spec.taints[].effect", RULE_CHOICE, true, EFFECTS },
	{ "status.capacity", RULE_AMOUNTS, false, NULL },
	{ "status.allocatable", RULE_AMOUNTS, false, NULL },
	{ "status.conditions[].status", RULE_CHOICE, false, "False True Unknown" },
	{ NULL, RULE_PRESENT, false, NULL },
};

static const struct row namespace_[] = {
	{ "status.phase", RULE_CHOICE, false, "Active Terminating" },
	{ NULL, RULE_PRESENT, false, NULL },
};

static const struct row priority_class[] = {
	{ "value", RULE_PRESENT, true, NULL },
	{ "preemptionPolicy", RULE_CHOICE, false, "Never PreemptLowerPriority" },
	{ NULL, RULE_PRESENT, false, NULL },
};

static const struct row limit_range[] = {
	{ "spec.limits[].type", RULE_QUALIFIED, true, NULL },
	{ "spec.limits[].max", RULE_AMOUNTS, false, NULL },
	{ "spec.limits[].min", RULE_AMOUNTS, false, NULL },
	{ "spec.limits[].default", RULE_AMOUNTS, false, NULL },
	{ "spec.limits[].defaultRequest", RULE_AMOUNTS, false, NULL },
	{ NULL, RULE_PRESENT, false, NULL },
};

static const struct row runtime_class[] = {
	{ "handler", RULE_LABEL, true, NULL },
	{ "overhead.podFixed", RULE_AMOUNTS, false, NULL },
	{ NULL, RULE_PRESENT, false, NULL },
};

static const struct row topology[] = {
	{ "spec.levels", RULE_PRESENT, true, NULL },
	{ "spec.levels[].nodeLabel", RULE_QUALIFIED, true, NULL },
	{ NULL, RULE_PRESENT, false, NULL },
};

/* --- one value ---------------------------------------------------------------------------------*/

static void refuse(const struct place *p, const char *why)
{
	causes_add_value(p->causes, p->path, p->value, why);
}

static bool is_word(struct str words, const char *word)
{
	while (words.p != NULL) {
		if (str_eq_c(str_next(&words, ' '), word)) {
			return true;
		}
	}
	return false;
}

/* Values that are no strings are found where they are decoded. */
static void check_choice(const struct place *p, const char *words)
{
	CLEANUP(strbuf_finish) struct strbuf known = STRBUF_INIT;
	struct str rest = str_of(words);
	const char *text = jdoc_str(p->value);

	if (text == NULL || is_word(rest, text)) {
		return;
	}
	while (rest.p != NULL) {
		struct str word = str_next(&rest, ' ');

		strbuf_printf(&known, "%s\"" STR_FMT "\"", known.len > 0 ? ", " : "",
			      STR_ARG(word));
	}
	causes_add(p->causes, "FieldValueNotSupported", p->path,
		   "Unsupported value: \"%s\": supported values: %s", text, known.p);
}

static void check_number(const struct place *p, int64_t least)
{
	/* A value of another type is found where the object is decoded. */
	if (jdoc_kind(p->value) == JDOC_NUMBER && jdoc_num(p->value, 0) < (double)least) {
		refuse(p, least == 0 ? "must be greater than or equal to 0"
				     : "must be greater than zero");
	}
}

static void check_name(const struct place *p, bool (*is_valid)(struct str), const char *why)
{
	const char *text = jdoc_str(p->value);

	if (text != NULL && text[0] != '\0' && !is_valid(str_of(text))) {
		refuse(p, why);
	}
}

static void check_amounts(const struct place *p)
{
	for (const struct jdoc *m = jdoc_first(p->value); m != NULL; m = jdoc_next(m)) {
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
		CLEANUP(xmalloc_freep)
		char *path = xmalloc_printf("%s[%s]", p->path, jdoc_key(m));
		const struct place at = { m, path, p->causes };
		struct quantity q;

		jdoc_format(m, &text);
		if (quantity_parse(jdoc_str(m) != NULL ? str_of(jdoc_str(m)) : strbuf_str(&text),
				   &q, NULL) < 0) {
			refuse(&at, "is no amount");
		} else if (q.nano < 0) {
			refuse(&at, "must be greater than or equal to 0");
		}
	}
}

/* For the API server null, an empty text and an empty list are the same as absence. */
static bool is_absent(const struct jdoc *value)
{
	return jdoc_kind(value) == JDOC_NULL || jdoc_is_str(value, "") ||
	       (jdoc_kind(value) == JDOC_ARRAY && jdoc_first(value) == NULL);
}

static void check_value(const struct place *p, const struct row *row)
{
	if (is_absent(p->value)) {
		if (row->required) {
			causes_add(p->causes, "FieldValueRequired", p->path, "Required value");
		}
		return;
	}
	switch (row->rule) {
	case RULE_PRESENT:
		break;
	case RULE_CHOICE:
		check_choice(p, row->words);
		break;
	case RULE_COUNT:
		check_number(p, 0);
		break;
	case RULE_POSITIVE:
		check_number(p, 1);
		break;
	case RULE_LABEL:
		check_name(p, validate_is_dns_label, "is not a DNS label (RFC 1123)");
		break;
	case RULE_SUBDOMAIN:
		check_name(p, validate_is_dns_subdomain, "is not a DNS subdomain (RFC 1123)");
		break;
	case RULE_QUALIFIED:
		check_name(p, validate_is_qualified_name, "is not a qualified name");
		break;
	case RULE_AMOUNTS:
		check_amounts(p);
		break;
	}
}

/* --- where values are --------------------------------------------------------------------------*/

/* Calls fn for each value at the rest of the path; an absent one is NULL where the object around it
 * is there. Recursion ends with the path. */
static void each_value(const struct place *p, const char *rest,
		       void (*fn)(const struct place *p, const void *ctx), const void *ctx)
{
	size_t n = strcspn(rest, ".["), i = 0;
	CLEANUP(xmalloc_freep) char *name = xmalloc_dup_n(rest, n);
	CLEANUP(xmalloc_freep)
	char *path = xmalloc_printf("%s%s%s", p->path, p->path[0] == '\0' ? "" : ".", name);
	const struct place at = { jdoc_get(p->value, name), path, p->causes };
	const char *behind = rest + n;

	if (behind[0] == '\0') {
		fn(&at, ctx);
	} else if (behind[0] == '.' && jdoc_kind(at.value) == JDOC_OBJECT) {
		each_value(&at, behind + 1, fn, ctx);
	} else if (behind[0] == '[' && jdoc_kind(at.value) == JDOC_ARRAY) {
		for (const struct jdoc *item = jdoc_first(at.value); item != NULL;
		     item = jdoc_next(item), i++) {
			CLEANUP(xmalloc_freep) char *where = xmalloc_printf("%s[%zu]", path, i);
			const struct place one = { item, where, p->causes };

			if (behind[2] == '\0') {
				fn(&one, ctx);
			} else if (jdoc_kind(item) == JDOC_OBJECT) {
				each_value(&one, behind + 3, fn, ctx);
			}
		}
	}
}

static void on_row_value(const struct place *p, const void *ctx)
{
	check_value(p, ctx);
}

static void check_rows(const struct place *p, const struct row *rows)
{
	for (const struct row *r = rows; jdoc_kind(p->value) == JDOC_OBJECT && r->path != NULL;
	     r++) {
		each_value(p, r->path, on_row_value, r);
	}
}

/* --- rules about several values ----------------------------------------------------------------*/

static void on_toleration(const struct place *p, const void *ctx UNUSED)
{
	bool exists = jdoc_is_str(jdoc_get(p->value, "operator"), "Exists");
	CLEANUP(xmalloc_freep) char *path = xmalloc_printf("%s.operator", p->path);
	const struct place at = { jdoc_get(p->value, "value"), path, p->causes };

	if (is_absent(jdoc_get(p->value, "key")) && !exists) {
		refuse(&(struct place){ jdoc_get(p->value, "operator"), path, p->causes },
		       "operator must be Exists when `key` is empty, which means \"match all "
		       "values and all keys\"");
	}
	if (exists && !is_absent(at.value)) {
		refuse(&at, "value must be empty when `operator` is 'Exists'");
	}
}

/* A requirement of node affinity; its operator is checked where it is decoded. */
static void on_expression(const struct place *p, const void *ctx UNUSED)
{
	const char *operator_ = jdoc_str_or(jdoc_get(p->value, "operator"), "");
	size_t n = jdoc_count(jdoc_get(p->value, "values"));
	CLEANUP(xmalloc_freep) char *path = xmalloc_printf("%s.values", p->path);

	if (is_word(STR_LIT("In NotIn"), operator_) && n == 0) {
		causes_add(p->causes, "FieldValueRequired", path,
			   "Required value: must be specified when `operator` is 'In' or 'NotIn'");
	} else if (is_word(STR_LIT("Exists DoesNotExist"), operator_) && n > 0) {
		causes_add(p->causes, "FieldValueForbidden", path,
			   "Forbidden: may not be specified when `operator` is 'Exists' or "
			   "'DoesNotExist'");
	} else if (is_word(STR_LIT("Gt Lt"), operator_) && n != 1) {
		causes_add(p->causes, "FieldValueRequired", path,
			   "Required value: must be specified single value when `operator` is 'Lt' "
			   "or 'Gt'");
	}
}

/* Items of a list with the same name; path: of the list. */
/* Each is compared with those before it, so that the second of two equal ones is reported. Pods
 * have few of each. */
static void check_duplicates(const struct place *p, const char *list)
{
	const struct jdoc *items = jdoc_get(p->value, list);
	size_t i = 0;

	for (const struct jdoc *a = jdoc_first(items); a != NULL; a = jdoc_next(a), i++) {
		const char *name = jdoc_str(jdoc_get(a, "name"));

		for (const struct jdoc *b = jdoc_first(items); name != NULL && b != a;
		     b = jdoc_next(b)) {
			CLEANUP(xmalloc_freep) char *path = NULL;

			if (jdoc_is_str(jdoc_get(b, "name"), name)) {
				path = xmalloc_printf("%s.%s[%zu].name", p->path, list, i);
				causes_add(p->causes, "FieldValueDuplicate", path,
					   "Duplicate value: \"%s\"", name);
				break;
			}
		}
	}
}

static void check_pod_spec(const struct place *p)
{
	static const char *const lists[] = { "containers", "initContainers", "schedulingGates" };
	CLEANUP(xmalloc_freep) char *path = xmalloc_printf("%s.nodeName", p->path);
	const struct jdoc *gates = jdoc_get(p->value, "schedulingGates");

	if (jdoc_kind(p->value) != JDOC_OBJECT) {
		return;
	}
	check_rows(p, pod_spec);
	each_value(p, "tolerations[]", on_toleration, NULL);
	each_value(p, NODE_TERMS ".nodeSelectorTerms[].matchExpressions[]", on_expression, NULL);
	each_value(p, NODE_WISHES "[].preference.matchExpressions[]", on_expression, NULL);
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		check_duplicates(p, lists[i]);
	}
	if (!is_absent(jdoc_get(p->value, "nodeName")) && !is_absent(gates)) {
		causes_add(p->causes, "FieldValueForbidden", path,
			   "Forbidden: cannot be set until all schedulingGates have been cleared");
	}
}

static void check_job(const struct place *p)
{
	if (jdoc_is_str(jdoc_path(p->value, "spec.completionMode"), "Indexed") &&
	    is_absent(jdoc_path(p->value, "spec.completions"))) {
		causes_add(p->causes, "FieldValueRequired", "spec.completions",
			   "Required value: when completion mode is Indexed");
	}
}

static void check_controller(const struct place *p)
{
	const struct jdoc *wanted = jdoc_path(p->value, "spec.selector.matchLabels");
	const struct jdoc *labels = jdoc_path(p->value, "spec.template.metadata.labels");

	for (const struct jdoc *l = jdoc_first(wanted); l != NULL; l = jdoc_next(l)) {
		if (!str_streq(jdoc_str_or(l, ""), jdoc_str(jdoc_get(labels, jdoc_key(l))))) {
			causes_add(p->causes, "FieldValueInvalid", "spec.template.metadata.labels",
				   "Invalid value: `selector` does not match template `labels`");
			return;
		}
	}
}

static void check_priority_class(const struct place *p)
{
	const struct jdoc *value = jdoc_get(p->value, "value");
	const char *name = jdoc_str_or(jdoc_path(p->value, "metadata.name"), "");
	bool system = str_has_prefix(str_of(name), "system-");

	if (system && !is_word(STR_LIT("system-cluster-critical system-node-critical"), name)) {
		causes_add(p->causes, "FieldValueForbidden", "metadata.name",
			   "Forbidden: priority class names with 'system-' prefix are reserved for "
			   "system use only");
	} else if (!system && jdoc_num(value, 0) > PRIORITY_MAX) {
		causes_add(p->causes, "FieldValueForbidden", "value",
			   "Forbidden: maximum allowed value of a user defined priority is %d",
			   PRIORITY_MAX);
	}
}

/* --- kinds -------------------------------------------------------------------------------------*/

static const struct {
	const char *kind;
	const struct row *rows;
	const char *pod_spec; /* where it has one; NULL: nowhere */
	void (*check)(const struct place *p);
} kinds[] = {
	{ "Pod", pod, "spec", NULL },
	{ "Job", job, "spec.template.spec", check_job },
	{ "Deployment", controller, "spec.template.spec", check_controller },
	{ "ReplicaSet", controller, "spec.template.spec", check_controller },
	{ "StatefulSet", controller, "spec.template.spec", check_controller },
	{ "Node", node, NULL, NULL },
	{ "Namespace", namespace_, NULL, NULL },
	{ "PriorityClass", priority_class, NULL, check_priority_class },
	{ "LimitRange", limit_range, NULL, NULL },
	{ "RuntimeClass", runtime_class, NULL, NULL },
	{ "Topology", topology, NULL, NULL },
};

void core_values_check(const char *kind, const struct jdoc *object, struct jdoc *causes)
{
	const struct place root = { object, "", causes };

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		if (!str_streq(kinds[i].kind, kind)) {
			continue;
		}
		check_rows(&root, kinds[i].rows);
		if (kinds[i].pod_spec != NULL) {
			check_pod_spec(&(struct place){ jdoc_path(object, kinds[i].pod_spec),
							kinds[i].pod_spec, causes });
		}
		if (kinds[i].check != NULL) {
			kinds[i].check(&root);
		}
	}
}
