/* Volcano's predicates plugin, as far as node properties, host ports, volumes, the pod count,
 * inter-pod affinity and topology spread go; what a class asks for beyond that (resource claims) is
 * refused visibly. Whether resources fit is not asked here. Texts are kube-scheduler's.
 *
 * Arguments: predicate.NodeAffinityEnable, predicate.NodePortsEnable, predicate.PodAffinityEnable,
 * predicate.PodTopologySpreadEnable, predicate.TaintTolerationEnable (all true). */
#include <stdlib.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "scheduler/pods/conf/conf_args.h"
#include "scheduler/pods/plugins/registry.h"
#include "scheduler/pods/predicates/predicates_affinity.h"
#include "scheduler/pods/predicates/predicates_match.h"
#include "scheduler/pods/predicates/predicates_spread.h"
#include "scheduler/pods/predicates/predicates_volumes.h"
#include "scheduler/pods/session/domains.h"
#include "scheduler/pods/values/pod_class.h"

struct predicates {
	bool affinity, ports, taints, pod_affinity, spread;
	struct volume_marks *marks;
};

static void predicates_destroy(void *state)
{
	struct predicates *p = state;

	predicates_volumes_marks_destroy(p->marks);
	free(p);
}

#define SWITCH(key, member)                                                                        \
	{                                                                                          \
		"predicate." key, CONF_ARGS_AT(struct predicates, SWITCH, member), .def = 1        \
	}
static const struct conf_args_row predicates_arguments[] = {
	SWITCH("NodeAffinityEnable", affinity),
	SWITCH("NodePortsEnable", ports),
	SWITCH("TaintTolerationEnable", taints),
	SWITCH("PodAffinityEnable", pod_affinity),
	SWITCH("PodTopologySpreadEnable", spread),
	{ "predicate.NodeVolumeLimitsEnable", .kind = CONF_ARGS_NO_EFFECT },
	{ "predicate.VolumeZoneEnable", .kind = CONF_ARGS_NO_EFFECT },
	{ "predicate.VolumeBindingEnable", .kind = CONF_ARGS_NO_EFFECT },
	{ "predicate.DynamicResourceAllocationEnable", .kind = CONF_ARGS_NO_EFFECT },
	{ "predicate.CacheEnable", .kind = CONF_ARGS_NO_EFFECT },
	{ "volumebinding.bindTimeoutSeconds", .kind = CONF_ARGS_NO_EFFECT },
	{ "volumebinding.shape", .kind = CONF_ARGS_NO_EFFECT },
	{ "volumebinding.weight", .kind = CONF_ARGS_NO_EFFECT },
	{ "dynamicresources.filterTimeoutSeconds", .kind = CONF_ARGS_NO_EFFECT },
	{ .name = NULL },
};

static int predicates_create(const struct plugin_args *args, void **ret_state, struct err *err)
{
	struct predicates *p = xmalloc_zero(1, sizeof(*p));
	int r = conf_args_read(predicates_arguments, args->v, args->n, p, err);

	if (r < 0) {
		free(p);
		return r;
	}
	p->marks = predicates_volumes_marks_create();
	*ret_state = p;
	return 0;
}

/* unresolvable: evicting pods from this node would not help. */
static bool refuse(struct reason *why, const char *code, const char *detail, bool unresolvable)
{
	if (why != NULL) {
		*why = (struct reason){ .code = code,
					.detail = detail,
					.unresolvable = unresolvable };
	}
	return false;
}

static const char *describe_taint(const struct session *s, const struct taint *t)
{
	return arena_printf(session_arena(s), "{%s: %s}", t->key, t->value == NULL ? "" : t->value);
}

static bool predicates_class_predicate(void *state, const struct session *s,
				       const struct pod_class *k, const struct node *n,
				       struct reason *why)
{
	const struct predicates *p = state;
	const struct taint *taint;

	if (k->unsupported != NULL) {
		return refuse(why, k->unsupported, NULL, true);
	}
	if (!n->exists) {
		return refuse(why, "node(s) do not exist", NULL, true);
	}
	if (n->unschedulable && !predicates_match_cordoned(k)) {
		return refuse(why, "node(s) were unschedulable", NULL, true);
	}
	if (p->affinity && !predicates_match_affinity(k, n)) {
		return refuse(why, "node(s) didn't match Pod's node affinity/selector", NULL, true);
	}
	taint = p->taints ? predicates_match_taint(k, n) : NULL;
	if (taint != NULL) {
		return refuse(why, "node(s) had untolerated taint",
			      why == NULL ? NULL : describe_taint(s, taint), true);
	}
	return predicates_volumes_class(s, k, n, why);
}

static bool holds_ports(const struct session *s, const struct task *t)
{
	enum task_status status = session_task_status(s, t);

	return t->klass != NULL && t->klass->nports > 0 && status != TASK_SUCCEEDED &&
	       status != TASK_FAILED;
}

/* Terminating pods hold their ports until they are gone; later: they are. */
static bool ports_are_free(const struct session *s, const struct pod_class *k, const struct node *n,
			   bool later)
{
	const struct task *t;

	for (size_t i = 0; i < n->tasks.n; i++) {
		t = session_task(s, n->tasks.v[i]);
		if (holds_ports(s, t) && predicates_match_ports(k, t->klass) &&
		    !(later && session_task_status(s, t) == TASK_RELEASING)) {
			return false;
		}
	}
	for (size_t i = 0; (t = session_node_added(s, n, i)) != NULL; i++) {
		if (holds_ports(s, t) && predicates_match_ports(k, t->klass)) {
			return false;
		}
	}
	return true;
}

/* Terms about other pods, in both directions. */
static bool predicates_domain_predicate(void *state, const struct session *s, const struct task *t,
					const struct node *n, bool later, struct reason *why)
{
	const struct domain_view *v = domains_view(s, t);
	const struct predicates *p = state;
	const char *text = NULL;
	bool unresolvable = false;

	if (v != NULL && p->spread) {
		text = predicates_spread_refusal(s, v, t->klass, n, later, &unresolvable);
	}
	if (v != NULL && text == NULL && p->pod_affinity) {
		text = predicates_affinity_refusal(v, t->klass, n, later, &unresolvable);
	}
	return text == NULL || refuse(why, text, NULL, unresolvable);
}

static bool predicates_predicate(void *state, const struct session *s, const struct task *t,
				 const struct node *n, struct reason *why)
{
	const struct predicates *p = state;
	int64_t pods =
		session_node_used(s, n)->v[RES_PODS] + session_node_pipelined(s, n)->v[RES_PODS];

	/* The mask of a class leaves the pods out, so the check of resources does not see their
	 * number. */
	if (pods >= n->allocatable.v[RES_PODS]) {
		return refuse(why, "Too many pods", NULL, false);
	}
	if (p->ports && t->klass->nports > 0 && !ports_are_free(s, t->klass, n, false)) {
		return refuse(why, "node(s) didn't have free ports for the requested pod ports",
			      NULL, false);
	}
	return predicates_volumes_task(p->marks, s, t, n, false, why);
}

static bool predicates_predicate_later(void *state, const struct session *s, const struct task *t,
				       const struct node *n)
{
	const struct predicates *p = state;
	int64_t pods = session_node_used(s, n)->v[RES_PODS] +
		       session_node_pipelined(s, n)->v[RES_PODS] -
		       session_node_releasing(s, n)->v[RES_PODS];

	return pods < n->allocatable.v[RES_PODS] &&
	       (!p->ports || t->klass->nports == 0 || ports_are_free(s, t->klass, n, true)) &&
	       predicates_volumes_task(p->marks, s, t, n, true, NULL);
}

const struct plugin_ops predicates_ops = {
	.name = "predicates",
	.arguments = predicates_arguments,
	.create = predicates_create,
	.destroy = predicates_destroy,
	.class_predicate = predicates_class_predicate,
	.predicate = predicates_predicate,
	.predicate_later = predicates_predicate_later,
	.domain_predicate = predicates_domain_predicate,
};
