#include "admit/podgroup_validate.h"

#include "api/keys.h"
#include "enc/decode.h"

static const char *queue_of(const struct api_pod_group *group)
{
	return group->spec.queue != NULL ? group->spec.queue : KEYS_DEFAULT_QUEUE;
}

static void check_queue(const struct admit_request *q, const char *name, struct admit_answer *a)
{
	const struct api_queue *queue;

	if (!q->view->queues_known) {
		return;
	}
	queue = admit_find_queue(q->view, name);
	if (queue == NULL || !admit_queue_is_open(queue)) {
		a->doubt = name;
	}
	if (queue == NULL) {
		admit_deny_invalid(a, q->arena, "spec.queue: queue \"%s\" does not exist", name);
	} else if (!admit_queue_is_open(queue)) {
		admit_deny_invalid(a, q->arena, "spec.queue: queue \"%s\" is %s, not Open", name,
				   queue->status.state);
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
	static const char why[] = "highestTierAllowed and highestTierName exclude each other";

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

int podgroup_validate(const struct admit_request *q, struct admit_answer *ret, struct err *err)
{
	struct api_pod_group group = { 0 }, old = { 0 };
	bool update = admit_is_operation(q, "UPDATE");
	int r;

	if (!update && !admit_is_operation(q, "CREATE")) {
		return 0;
	}
	r = decode_text(&scheduling_pod_group_fields, q->review->object, &group, q->arena, err);
	if (r == 0 && update) {
		r = decode_text(&scheduling_pod_group_fields, q->review->old_object, &old, q->arena,
				err);
	}
	if (r < 0) {
		return r;
	}
	if (!update || !str_streq(queue_of(&group), queue_of(&old))) {
		check_queue(q, queue_of(&group), ret);
	}
	check_topology(q, &group, ret);
	return 0;
}
