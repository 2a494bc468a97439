#include "apiserver/verbs/pod_subs.h"

#include "apiserver/kstatus.h"
#include "apiserver/server.h"
#include "apiserver/store/commit.h"
#include "apiserver/store/object.h"
#include "apiserver/store/selector.h"
#include "apiserver/verbs/body.h"
#include "apiserver/verbs/remove.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"

/* The condition becomes True, with the transition time of now. */
static void set_condition(struct jdoc *pod, const char *type, const char *reason,
			  const char *message, int64_t now)
{
	struct jdoc *list = jdoc_ensure_array(jdoc_ensure_object(pod, "status"), "conditions");
	char at[CLOCK_RFC3339_MAX];
	struct jdoc *cond = NULL;

	for (size_t i = 0; i < jdoc_count(list); i++) {
		if (jdoc_is_str(jdoc_get(jdoc_at(list, i), "type"), type)) {
			cond = jdoc_at_mut(list, i);
		}
	}
	if (cond == NULL) {
		cond = jdoc_append_take(list, jdoc_new_object());
		jdoc_set_str(cond, "type", type);
		jdoc_set_take(cond, "lastProbeTime", jdoc_new_null());
	}
	clock_format_time(now, at);
	jdoc_set_str(cond, "status", "True");
	jdoc_set_str(cond, "lastTransitionTime", at);
	jdoc_remove(cond, "reason");
	jdoc_remove(cond, "message");
	if (reason != NULL) {
		jdoc_set_str(cond, "reason", reason);
		jdoc_set_str(cond, "message", message);
	}
}

/* Each of the four answers 409, as the registry of Kubernetes wraps whatever assignPod refuses. */
static int check_bindable(struct call *c, const struct object *o, const struct jdoc *pod,
			  const struct jdoc *binding)
{
	const char *uid = jdoc_path_str(binding, "metadata.uid");
	const char *node = jdoc_str_or(jdoc_path(pod, "spec.nodeName"), "");

	if (uid != NULL && uid[0] != '\0' && !str_eq_c(o->uid, uid)) {
		return kstatus_other_uid(c->resp, c->res, o->ns, o->name, uid, o->uid);
	}
	if (o->terminating) {
		return kstatus_conflict(c->resp, c->res, "binding", o->name,
					"pod %s is being deleted, cannot be assigned to a host",
					o->name.p);
	}
	if (node[0] != '\0') {
		return kstatus_conflict(c->resp, c->res, "binding", o->name,
					"pod %s is already assigned to node \"%s\"", o->name.p,
					node);
	}
	if (jdoc_first(jdoc_path(pod, "spec.schedulingGates")) != NULL) {
		return kstatus_conflict(c->resp, c->res, "binding", o->name,
					"pod %s has non-empty .spec.schedulingGates", o->name.p);
	}
	return 0;
}

/* The body may leave its name out. */
static int check_body_name(struct call *c, const struct jdoc *body, const char *kind)
{
	const char *name = jdoc_str_or(jdoc_path(body, "metadata.name"), "");

	if (name[0] == '\0' || str_eq_c(c->info.name, name)) {
		return 0;
	}
	return kstatus_bad_request(c->resp, "name in URL does not match name in %s object", kind);
}

static int check_target(struct call *c, const struct jdoc *binding)
{
	const char *kind = jdoc_str_or(jdoc_path(binding, "target.kind"), "");
	const char *name = jdoc_str_or(jdoc_path(binding, "target.name"), "");

	if (kind[0] != '\0' && !str_streq(kind, "Node")) {
		return kstatus_fail(c->resp, 500, "",
				    "target.kind: Unsupported value: \"%s\": supported values: "
				    "\"Node\", \"<empty>\"",
				    kind);
	}
	if (name[0] == '\0') {
		return kstatus_fail(c->resp, 500, "", "target.name: Required value");
	}
	return 0;
}

static void bind(struct jdoc *pod, const struct jdoc *binding, int64_t now)
{
	const struct jdoc *annotations = jdoc_path(binding, "metadata.annotations");

	jdoc_set_str(jdoc_ensure_object(pod, "spec"), "nodeName",
		     jdoc_path_str(binding, "target.name"));
	for (const struct jdoc *a = jdoc_first(annotations); a != NULL; a = jdoc_next(a)) {
		jdoc_set_str(jdoc_ensure_object(jdoc_get_mut(pod, "metadata"), "annotations"),
			     jdoc_key(a), jdoc_str_or(a, ""));
	}
	set_condition(pod, "PodScheduled", NULL, NULL, now);
}

int pod_subs_bind(struct call *c)
{
	struct object *o = commit_find(c->res, c->info.ns, c->info.name);
	CLEANUP(jdoc_destroyp) struct jdoc *binding = NULL;
	CLEANUP(jdoc_destroyp) struct jdoc *pod = NULL;
	int r = body_parse(c, &binding);

	r = r < 0 ? r : check_body_name(c, binding, "Binding");
	r = r < 0 ? r : check_target(c, binding);
	if (r < 0) {
		return r;
	}
	if (o == NULL) {
		return kstatus_not_found(c->resp, c->res, c->info.name);
	}
	pod = object_parse(o);
	r = check_bindable(c, o, pod, binding);
	if (r < 0) {
		return r;
	}
	if (!c->info.dry_run) {
		bind(pod, binding, c->now);
		(void)commit_put(c->s, c->res, &pod, c->now);
	}
	kstatus_success(c->resp, 201, NULL, c->info.name, NULL);
	return 0;
}

/* The budgets that cover the pod; *ret: the last one of them. */
static unsigned find_budgets(struct call *c, const struct object *pod, struct object **ret)
{
	struct resource *budgets = resource_find(&c->s->resources, STR_LIT("policy"), STR_LIT("v1"),
						 STR_LIT("poddisruptionbudgets"));
	CLEANUP(jdoc_destroyp) struct jdoc *doc = object_parse(pod);
	struct sorted_pos pos = sorted_seek(&budgets->bucket.objects, pod->ns, false);
	struct object *b;
	unsigned n = 0;

	while ((b = sorted_next(&budgets->bucket.objects, &pos)) != NULL) {
		CLEANUP(jdoc_destroyp) struct jdoc *pdb = object_parse(b);

		if (str_eq(b->ns, pod->ns) && jdoc_path(pdb, "spec.selector") != NULL &&
		    selector_label_object_matches(jdoc_path(pdb, "spec.selector"),
						  jdoc_path(doc, "metadata.labels"))) {
			*ret = b;
			n++;
		}
	}
	return n;
}

/* Only pods that run, and are not on their way out, are what a budget protects. */
static bool is_protected(const struct object *pod)
{
	CLEANUP(jdoc_destroyp) struct jdoc *doc = object_parse(pod);
	const char *phase = jdoc_str_or(jdoc_path(doc, "status.phase"), "Pending");

	return !pod->terminating && !str_streq(phase, "Pending") &&
	       !str_streq(phase, "Succeeded") && !str_streq(phase, "Failed");
}

static bool is_ready(const struct object *pod)
{
	CLEANUP(jdoc_destroyp) struct jdoc *doc = object_parse(pod);

	for (const struct jdoc *c = jdoc_first(jdoc_path(doc, "status.conditions")); c != NULL;
	     c = jdoc_next(c)) {
		if (str_streq(jdoc_path_str(c, "type"), "Ready")) {
			return str_streq(jdoc_path_str(c, "status"), "True");
		}
	}
	return false;
}

static bool lets_unready_go(const struct jdoc *budget)
{
	int64_t desired = jdoc_int(jdoc_path(budget, "status.desiredHealthy"), 0);

	return str_streq(jdoc_path_str(budget, "spec.unhealthyPodEvictionPolicy"), "AlwaysAllow") ||
	       (desired > 0 && jdoc_int(jdoc_path(budget, "status.currentHealthy"), 0) >= desired);
}

/* One disruption less, which its status shows at once; the disruption controller counts anew when
 * it sees the pod go. */
static void take_disruption(struct call *c, const struct object *pod, struct jdoc **budget_take,
			    int64_t allowed)
{
	struct resource *budgets = resource_find(&c->s->resources, STR_LIT("policy"), STR_LIT("v1"),
						 STR_LIT("poddisruptionbudgets"));
	struct jdoc *status = jdoc_ensure_object(*budget_take, "status");
	char at[CLOCK_RFC3339_MAX];

	clock_format_time(c->now, at);
	jdoc_set_int(status, "disruptionsAllowed", allowed - 1);
	jdoc_set_str(jdoc_ensure_object(status, "disruptedPods"), pod->name.p, at);
	(void)commit_put(c->s, budgets, budget_take, c->now);
}

static int refuse_for_budget(struct call *c, const struct object *budget, const struct jdoc *doc,
			     bool is_old)
{
	CLEANUP(xmalloc_freep) char *cause = NULL;

	if (is_old) {
		c->resp->retry_after_s = 10;
		cause = xmalloc_printf("The disruption budget %s is still being processed by the "
				       "server.",
				       budget->name.p);
	} else {
		cause = xmalloc_printf(
			"The disruption budget %s needs %lld healthy pods and has "
			"%lld currently",
			budget->name.p,
			(long long)jdoc_int(jdoc_path(doc, "status.desiredHealthy"), 0),
			(long long)jdoc_int(jdoc_path(doc, "status.currentHealthy"), 0));
	}
	return kstatus_disruption_budget(c->resp, cause);
}

/* By the status of the one budget, which the test writes in place of the disruption controller. */
static int check_budget(struct call *c, const struct object *pod)
{
	struct object *budget = NULL;
	unsigned n = is_protected(pod) ? find_budgets(c, pod, &budget) : 0;
	CLEANUP(jdoc_destroyp) struct jdoc *doc = NULL;
	int64_t allowed;
	bool is_old;

	if (n > 1) {
		return kstatus_fail(c->resp, 500, "InternalError",
				    "This pod has more than one PodDisruptionBudget, which the "
				    "eviction subresource does not support.");
	}
	if (n == 0) {
		return 0;
	}
	doc = object_parse(budget);
	if (!is_ready(pod) && lets_unready_go(doc)) {
		return 0;
	}
	allowed = jdoc_int(jdoc_path(doc, "status.disruptionsAllowed"), 0);
	is_old = jdoc_int(jdoc_path(doc, "status.observedGeneration"), 0) <
		 jdoc_int(jdoc_path(doc, "metadata.generation"), 0);
	if (is_old || allowed <= 0) {
		return refuse_for_budget(c, budget, doc, is_old);
	}
	if (!c->info.dry_run) {
		take_disruption(c, pod, &doc, allowed);
	}
	return 0;
}

/* Writes the reason of the eviction into the status: the condition DisruptionTarget. */
static void set_disruption_target(struct call *c, const struct object *o)
{
	struct jdoc *pod = object_parse(o);

	set_condition(pod, "DisruptionTarget", "EvictionByEvictionAPI", "Eviction API: evicting",
		      c->now);
	(void)commit_put(c->s, c->res, &pod, c->now);
	jdoc_destroy(pod);
}

/* Before a budget pays for it. */
static int check_precondition(struct call *c, const struct object *o, const struct jdoc *eviction)
{
	const char *uid = jdoc_path_str(eviction, "deleteOptions.preconditions.uid");

	return uid == NULL || str_eq_c(o->uid, uid)
		       ? 0
		       : kstatus_other_uid(c->resp, c->res, o->ns, o->name, uid, o->uid);
}

int pod_subs_evict(struct call *c)
{
	struct object *o = commit_find(c->res, c->info.ns, c->info.name);
	CLEANUP(jdoc_destroyp) struct jdoc *eviction = NULL;
	CLEANUP(jdoc_destroyp) struct jdoc *none = jdoc_new_object();
	const struct jdoc *options;
	int r = body_parse(c, &eviction);

	r = r < 0 ? r : check_body_name(c, eviction, "Eviction");
	if (r < 0) {
		return r;
	}
	if (o == NULL) {
		return kstatus_not_found(c->resp, c->res, c->info.name);
	}
	r = check_precondition(c, o, eviction);
	r = r < 0 ? r : check_budget(c, o);
	if (r < 0) {
		return r;
	}
	if (!c->info.dry_run) {
		set_disruption_target(c, o);
	}
	options = jdoc_get(eviction, "deleteOptions");
	r = remove_with_options(c, options != NULL ? options : none);
	if (r == 0) {
		kstatus_success(c->resp, 201, NULL, c->info.name, NULL);
	}
	return r;
}
