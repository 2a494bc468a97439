#include "webhook/admit/volcano/podgroup_validate.h"

#include "api/volcano/keys.h"
#include "base/attrs.h"
#include "webhook/admit/admit_check.h"
#include "webhook/admit/volcano/queue_access.h"
#include "webhook/admit/volcano/queue_amounts.h"
#include "webhook/admit/volcano/queue_tree.h"

static const char *queue_of(const struct api_pod_group *group)
{
	return group->spec.queue != NULL ? group->spec.queue : KEYS_DEFAULT_QUEUE;
}

static void check_access(const struct admit_request *q, const char *ns,
			 const struct api_queue *queue, struct admit_answer *a)
{
	const struct api_queue *barring_queue = queue_access_bar(q, ns, queue);

	if (barring_queue != NULL) {
		admit_deny_forbidden(a, q->arena,
				     "spec.queue: namespace \"%s\" may not use queue \"%s\": its "
				     "labels do not match the annotation " KEYS_NAMESPACE_SELECTOR
				     " of queue \"%s\"",
				     ns, queue->meta.name, barring_queue->meta.name);
	}
}

static void check_queue(const struct admit_request *q, const struct api_pod_group *group,
			struct admit_answer *a)
{
	const char *ns =
		group->meta.namespace_ != NULL ? group->meta.namespace_ : q->review->namespace_;
	const char *name = queue_of(group);
	const struct api_queue *queue;

	if (!q->view->queues_known) {
		return;
	}
	queue = admit_find_queue(q->view, name);
	if (queue == NULL || !admit_queue_is_open(queue)) {
		a->unconfirmed_queue = name;
	}
	if (queue == NULL) {
		admit_deny_invalid(a, q->arena, "spec.queue: queue \"%s\" does not exist", name);
	} else if (!admit_queue_is_open(queue)) {
		admit_deny_invalid(a, q->arena, "spec.queue: queue \"%s\" is %s, not Open", name,
				   queue->status.state);
	} else {
		check_access(q, ns, queue, a);
	}
}

/* Only moves are refused: a new PodGroup in such a queue merely waits, but a move would bring
 * running members along. */
static void check_leaf(const struct admit_check *c, const char *queue)
{
	if (queue_tree_has_children(c->q->view, queue)) {
		admit_check_deny(c, "spec.queue",
				 "queue \"%s\" has children, so it cannot have PodGroups", queue);
	}
}

static bool equal_counts(const struct field_int_map *a, const struct field_int_map *b)
{
	if (a->n != b->n) {
		return false;
	}
	for (size_t i = 0; i < a->n; i++) {
		if (!str_streq(a->v[i].key, b->v[i].key) || a->v[i].value != b->v[i].value) {
			return false;
		}
	}
	return true;
}

/* old: NULL at creation. A value stored before these rules existed may stay as it is. */
static void check_minimums(const struct admit_check *c, const struct api_pod_group_spec *spec,
			   const struct api_pod_group_spec *old)
{
	const struct field_int_map *tasks = &spec->min_task_member;
	const struct field_resources *min = &spec->min_resources;

	if (spec->min_member < 0 && (old == NULL || old->min_member != spec->min_member)) {
		admit_check_deny(c, "spec.minMember", "%d is negative", spec->min_member);
	}
	for (size_t i = 0;
	     i < tasks->n && (old == NULL || !equal_counts(tasks, &old->min_task_member)); i++) {
		if (tasks->v[i].value < 0) {
			admit_check_deny(
				c, admit_check_path(c, "spec.minTaskMember.%s", tasks->v[i].key),
				"%d is negative", tasks->v[i].value);
		}
	}
	for (size_t i = 0;
	     i < min->n && (old == NULL || !queue_amounts_equal(min, &old->min_resources)); i++) {
		admit_check_not_negative(
			c, admit_check_path(c, "spec.minResources.%s", min->v[i].name),
			&min->v[i].amount);
	}
}

static bool names_two_tiers(const struct api_network_topology *t)
{
	return t != NULL && t->highest_tier_allowed != FIELD_NO_I32 &&
	       t->highest_tier_name != NULL && t->highest_tier_name[0] != '\0';
}

static void check_topology(const struct admit_request *q, const struct api_pod_group *group,
			   struct admit_answer *a)
{
	static const char why[] = "highestTierAllowed and highestTierName cannot both be set";

	if (names_two_tiers(group->spec.network_topology)) {
		admit_deny_invalid(a, q->arena, "spec.networkTopology: %s", why);
	}
	for (size_t i = 0; i < group->spec.sub_group_policy.n; i++) {
		if (names_two_tiers(group->spec.sub_group_policy.v[i].network_topology)) {
			admit_deny_invalid(a, q->arena,
					   "spec.subGroupPolicy[%zu].networkTopology: %s", i, why);
		}
	}
}

/* Hard is the default of the CRD's mode. */
static bool is_hard(const struct api_network_topology *t)
{
	return t != NULL && !str_streq(t->mode, "soft");
}

/* Not refused: a PodGroup names no scheduler, so another one may be meant. Headgate's own keeps
 * the pods back, with a condition and events. old: NULL at creation. */
static void warn_unsupported(const struct admit_request *q, const struct api_pod_group_spec *spec,
			     const struct api_pod_group_spec *old, struct admit_answer *a)
{
	if (is_hard(spec->network_topology) && (old == NULL || !is_hard(old->network_topology))) {
		admit_warn(a, q->arena,
			   "spec.networkTopology: Headgate does not keep topologies: it starts no "
			   "pod of a PodGroup with mode hard");
	}
	if (spec->sub_group_policy.n > 0 && (old == NULL || old->sub_group_policy.n == 0)) {
		admit_warn(a, q->arena,
			   "spec.subGroupPolicy: Headgate does not support sub-groups: it starts "
			   "no pod of such a PodGroup");
	}
}

int podgroup_validate(const struct admit_request *q, struct admit_answer *ret, struct err *err)
{
	struct admit_check c = { q, ret };
	struct api_pod_group group = { 0 }, old = { 0 };
	int verb = admit_check_read(q, &scheduling_pod_group_fields, &group, &old, err);
	bool update = verb == ADMIT_CHECK_UPDATE;

	if (verb <= ADMIT_CHECK_OTHER) {
		return verb;
	}
	/* A PodGroup in a queue that was closed or deleted meanwhile can still be edited: it has
	 * no status subresource, so each write of its status is such an update. */
	if (!update || !str_streq(queue_of(&group), queue_of(&old))) {
		check_queue(q, &group, ret);
		if (update) {
			check_leaf(&c, queue_of(&group));
		}
	}
	check_minimums(&c, &group.spec, update ? &old.spec : NULL);
	check_topology(q, &group, ret);
	if (ret->allowed) {
		warn_unsupported(q, &group.spec, update ? &old.spec : NULL, ret);
	}
	return 0;
}
