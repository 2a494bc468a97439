#include "apiserver/rules/pods.h"

#include "apiserver/kstatus.h"
#include "apiserver/rules/pod_rules.h"
#include "apiserver/server.h"
#include "apiserver/store/commit.h"
#include "apiserver/store/object.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "enc/json/jdoc.h"
#include "enc/quantity.h"
#include "schema/pod_amounts.h"

#define DEFAULT_TOLERATION_S 300

static void set_if_absent(struct jdoc *obj, const char *key, struct jdoc *value_take)
{
	if (obj == NULL || jdoc_get(obj, key) != NULL) {
		jdoc_destroy(value_take);
		return;
	}
	jdoc_set_take(obj, key, value_take);
}

/* Quantities are stored in canonical form, as a decode and encode by Kubernetes leaves them. */
static int canonical(struct call *c, struct jdoc *list)
{
	for (const struct jdoc *m = jdoc_first(list); m != NULL;) {
		const struct jdoc *next = jdoc_next(m);
		CLEANUP(strbuf_finish) struct strbuf raw = STRBUF_INIT;
		char text[QUANTITY_TEXT_MAX];
		struct quantity q;

		if (jdoc_kind(m) == JDOC_NUMBER) {
			jdoc_format(m, &raw);
		} else {
			strbuf_add_c(&raw, jdoc_str_or(m, ""));
		}
		if (quantity_parse(strbuf_str(&raw), &q, NULL) < 0) {
			return kstatus_bad_request(
				c->resp,
				"Pod in version \"v1\" cannot be handled as a Pod: quantities must "
				"match the regular expression "
				"'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
		}
		quantity_format(q, text);
		if (!jdoc_is_str(m, text)) {
			jdoc_set_str(list, jdoc_key(m), text);
		}
		m = next;
	}
	return 0;
}

static int default_resources(struct call *c, struct jdoc *container)
{
	struct jdoc *res = jdoc_ensure_object(container, "resources");
	struct jdoc *limits = jdoc_get_mut(res, "limits");
	struct jdoc *requests;
	int r;

	r = canonical(c, limits);
	if (r == 0 && jdoc_first(limits) != NULL && jdoc_kind(limits) == JDOC_OBJECT) {
		requests = jdoc_ensure_object(res, "requests");
		for (const struct jdoc *l = jdoc_first(limits); l != NULL; l = jdoc_next(l)) {
			set_if_absent(requests, jdoc_key(l), jdoc_copy(l));
		}
	}
	return r < 0 ? r : canonical(c, jdoc_get_mut(res, "requests"));
}

/* The tag "latest", or none, is pulled again each time. */
static const char *pull_policy(const char *image)
{
	const char *name = strrchr(image, '/') == NULL ? image : strrchr(image, '/');
	const char *tag = strrchr(name, ':');

	if (strchr(name, '@') != NULL) {
		return "IfNotPresent";
	}
	return tag == NULL || str_streq(tag, ":latest") ? "Always" : "IfNotPresent";
}

static int default_containers(struct call *c, struct jdoc *spec, const char *field)
{
	struct jdoc *list = jdoc_get_mut(spec, field);

	for (size_t i = 0; jdoc_kind(list) == JDOC_ARRAY && i < jdoc_count(list); i++) {
		struct jdoc *container = jdoc_at_mut(list, i);
		int r;

		if (jdoc_kind(container) != JDOC_OBJECT) {
			return kstatus_bad_request(c->resp,
						   "Pod in version \"v1\" cannot be "
						   "handled as a Pod: spec.%s[%zu] is not "
						   "an object",
						   field, i);
		}
		r = default_resources(c, container);
		if (r < 0) {
			return r;
		}
		set_if_absent(container, "terminationMessagePath",
			      jdoc_new_str("/dev/termination-log"));
		set_if_absent(container, "terminationMessagePolicy", jdoc_new_str("File"));
		set_if_absent(
			container, "imagePullPolicy",
			jdoc_new_str(pull_policy(jdoc_str_or(jdoc_get(container, "image"), ""))));
	}
	return 0;
}

/* The Priority admission plugin: class name to value, at creation. */
static int default_priority(struct call *c, const char *pod_name, struct jdoc *spec)
{
	struct resource *classes = resource_find(&c->s->resources, STR_LIT("scheduling.k8s.io"),
						 STR_LIT("v1"), STR_LIT("priorityclasses"));
	const char *name = jdoc_str_or(jdoc_get(spec, "priorityClassName"), "");
	struct object *o;
	CLEANUP(jdoc_destroyp) struct jdoc *pc = NULL;

	if (name[0] == '\0' || jdoc_get(spec, "priority") != NULL) {
		set_if_absent(spec, "priority", jdoc_new_int(0));
		set_if_absent(spec, "preemptionPolicy", jdoc_new_str("PreemptLowerPriority"));
		return 0;
	}
	o = commit_find(classes, (struct str){ NULL, 0 }, str_of(name));
	if (o == NULL) {
		return kstatus_forbidden(c->resp, c->res, str_of(pod_name),
					 "no PriorityClass with name %s was found", name);
	}
	pc = object_parse(o);
	jdoc_set_int(spec, "priority", jdoc_int(jdoc_get(pc, "value"), 0));
	set_if_absent(spec, "preemptionPolicy",
		      jdoc_new_str(jdoc_str_or(jdoc_get(pc, "preemptionPolicy"),
					       "PreemptLowerPriority")));
	return 0;
}

/* The DefaultTolerationSeconds admission plugin. */
static void default_tolerations(struct jdoc *spec)
{
	static const char *const keys[] = { "node.kubernetes.io/not-ready",
					    "node.kubernetes.io/unreachable" };
	struct jdoc *list = jdoc_ensure_array(spec, "tolerations");

	for (size_t i = 0; list != NULL && i < ARRAY_LEN(keys); i++) {
		bool found = false;
		struct jdoc *t;

		for (const struct jdoc *o = jdoc_first(list); o != NULL; o = jdoc_next(o)) {
			const char *key = jdoc_str_or(jdoc_get(o, "key"), "");

			found = found || key[0] == '\0' || str_streq(key, keys[i]);
		}
		if (!found) {
			t = jdoc_append_take(list, jdoc_new_object());
			jdoc_set_str(t, "key", keys[i]);
			jdoc_set_str(t, "operator", "Exists");
			jdoc_set_str(t, "effect", "NoExecute");
			jdoc_set_int(t, "tolerationSeconds", DEFAULT_TOLERATION_S);
		}
	}
}

/* Members that the API has no way to leave out. */
static void default_conditions(struct jdoc *status)
{
	struct jdoc *list = jdoc_get_mut(status, "conditions");

	for (size_t i = 0; jdoc_kind(list) == JDOC_ARRAY && i < jdoc_count(list); i++) {
		set_if_absent(jdoc_at_mut(list, i), "lastProbeTime", jdoc_new_null());
		set_if_absent(jdoc_at_mut(list, i), "lastTransitionTime", jdoc_new_null());
	}
}

int pods_default(struct call *c, struct jdoc *doc)
{
	struct jdoc *spec = jdoc_ensure_object(doc, "spec");
	int r;

	if (spec == NULL) {
		return kstatus_bad_request(c->resp, "Pod in version \"v1\" cannot be handled as a "
						    "Pod: spec is not an object");
	}
	r = default_containers(c, spec, "containers");
	r = r < 0 ? r : default_containers(c, spec, "initContainers");
	r = r < 0 ? r : canonical(c, jdoc_get_mut(spec, "overhead"));
	r = r < 0 || jdoc_get(spec, "resources") == NULL ? r : default_resources(c, spec);
	if (r < 0) {
		return r;
	}
	set_if_absent(spec, "restartPolicy", jdoc_new_str("Always"));
	set_if_absent(spec, "terminationGracePeriodSeconds", jdoc_new_int(30));
	set_if_absent(spec, "dnsPolicy", jdoc_new_str("ClusterFirst"));
	set_if_absent(spec, "serviceAccountName", jdoc_new_str("default"));
	set_if_absent(spec, "serviceAccount", jdoc_new_str("default"));
	set_if_absent(spec, "securityContext", jdoc_new_object());
	set_if_absent(spec, "schedulerName", jdoc_new_str("default-scheduler"));
	set_if_absent(spec, "enableServiceLinks", jdoc_new_bool(true));
	default_conditions(jdoc_get_mut(doc, "status"));
	if (jdoc_count(jdoc_get(spec, "schedulingGates")) == 0) {
		jdoc_remove(spec, "schedulingGates");
	}
	if (c->info.sub.len == 0) {
		default_tolerations(spec);
	}
	return c->creating
		       ? default_priority(c, jdoc_str_or(jdoc_path(doc, "metadata.name"), ""), spec)
		       : 0;
}

void pods_prepare_create(struct call *c, struct jdoc *doc)
{
	char at[CLOCK_RFC3339_MAX];
	struct jdoc *status, *cond;

	if (c->trusted && jdoc_get(doc, "status") != NULL) {
		return; /* a manifest for the demo may come with its state */
	}
	status = jdoc_set_take(doc, "status", jdoc_new_object());
	jdoc_set_str(status, "phase", "Pending");
	if (jdoc_first(jdoc_path(doc, "spec.schedulingGates")) != NULL) {
		clock_format_time(c->now, at);
		cond = jdoc_append_take(jdoc_ensure_array(status, "conditions"), jdoc_new_object());
		jdoc_set_str(cond, "type", "PodScheduled");
		jdoc_set_str(cond, "status", "False");
		jdoc_set_take(cond, "lastProbeTime", jdoc_new_null());
		jdoc_set_str(cond, "lastTransitionTime", at);
		jdoc_set_str(cond, "reason", "SchedulingGated");
		jdoc_set_str(cond, "message",
			     "Scheduling is blocked due to non-empty scheduling "
			     "gates");
	}
	jdoc_set_str(status, "qosClass", pod_amounts_class(doc));
}

void pods_prepare_update(struct call *c, const struct jdoc *old, struct jdoc *new)
{
	static const char *const parts[][2] = { { "resize", "containers" },
						{ "resize", "initContainers" },
						{ "ephemeralcontainers", "ephemeralContainers" } };
	struct jdoc *wanted;
	CLEANUP(jdoc_destroyp) struct jdoc *spec = NULL;

	if (!call_is_sub(c, "resize") && !call_is_sub(c, "ephemeralcontainers")) {
		return;
	}
	spec = jdoc_copy(jdoc_get(old, "spec"));
	wanted = jdoc_get_mut(new, "spec");
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		if (call_is_sub(c, parts[i][0]) && jdoc_get(wanted, parts[i][1]) != NULL) {
			jdoc_set_take(spec, parts[i][1], jdoc_copy(jdoc_get(wanted, parts[i][1])));
		}
	}
	jdoc_set_take(new, "metadata", jdoc_copy(jdoc_get(old, "metadata")));
	jdoc_set_take(new, "spec", take_ptr(&spec));
}

void pods_validate(struct call *c, const struct jdoc *doc, const struct jdoc *old,
		   struct jdoc *causes)
{
	if (old == NULL) {
		pod_rules_check_create(doc, causes);
	} else {
		pod_rules_check_update(doc, old, call_is_sub(c, "resize"), causes);
	}
}
