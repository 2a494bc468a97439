#include "webhook/admit/jobs/plainpod_validate.h"

#include "api/core/pod.h"
#include "api/kueue/kueue_keys.h"
#include "webhook/admit/jobs/queueing.h"

static const char *group_of(const struct api_pod *pod)
{
	const char *name = field_map_get(&pod->meta.labels, KUEUE_POD_GROUP_NAME);

	return name == NULL || name[0] == '\0' ? NULL : name;
}

/* Neither without the other: a group is admitted when as many pods as its count says are there. */
static void check_group(const struct admit_check *c, const struct api_pod *pod)
{
	const char *group = group_of(pod);
	const char *count = field_map_get(&pod->meta.annotations, KUEUE_POD_GROUP_COUNT);
	int64_t n = 0;

	if (group == NULL && count != NULL) {
		admit_check_deny(c, QUEUEING_LABEL(KUEUE_POD_GROUP_NAME),
				 "required with annotation " KUEUE_POD_GROUP_COUNT);
	}
	if (group != NULL && count == NULL) {
		admit_check_deny(c, QUEUEING_ANNOTATION(KUEUE_POD_GROUP_COUNT),
				 "required with label " KUEUE_POD_GROUP_NAME);
	}
	/* The group's name becomes the name of a Workload. */
	admit_check_subdomain(c, QUEUEING_LABEL(KUEUE_POD_GROUP_NAME), group);
	if (count != NULL && (!str_to_i64(str_of(count), &n) || n < 1 || n > INT32_MAX)) {
		admit_check_deny(c, QUEUEING_ANNOTATION(KUEUE_POD_GROUP_COUNT),
				 "\"%s\" is not a number of pods from 1 to %d", count, INT32_MAX);
	}
}

static void check_write(const struct admit_check *c, const struct api_pod *old,
			const struct api_pod *pod)
{
	const char *managed = field_map_get(&pod->meta.labels, KUEUE_MANAGED);
	const char *prebuilt = field_map_get(&pod->meta.labels, KUEUE_PREBUILT_WORKLOAD);

	if (managed != NULL && !str_streq(managed, "true")) {
		admit_check_deny(c, QUEUEING_LABEL(KUEUE_MANAGED), "can only be \"true\"");
	}
	queueing_check_labels(c, &pod->meta);
	check_group(c, pod);
	/* The Workload of a group is found by the name of the group. */
	if (group_of(pod) != NULL && prebuilt != NULL && !str_streq(prebuilt, group_of(pod))) {
		admit_check_deny(c, QUEUEING_LABEL(KUEUE_PREBUILT_WORKLOAD),
				 "must be the name of the pod group");
	}
	queueing_check_unsupported(c, "metadata.annotations", &old->meta, &pod->meta);
}

static bool is_unretriable(const struct api_pod *pod)
{
	return field_map_is(&pod->meta.annotations, KUEUE_RETRIABLE_IN_GROUP, "false");
}

/* These two show the scheduler that the pod has a Workload. Without them the pod would go on
 * running when the Workload loses its quota. */
static void check_marks(const struct admit_check *c, const struct api_pod *old,
			const struct api_pod *pod)
{
	const char *role = field_map_get(&old->meta.annotations, KUEUE_ROLE_HASH);

	if (pod_is_finished(pod)) {
		return;
	}
	if (field_map_is(&old->meta.labels, KUEUE_MANAGED, "true") &&
	    field_map_get(&pod->meta.labels, KUEUE_MANAGED) == NULL) {
		admit_check_deny(c, QUEUEING_LABEL(KUEUE_MANAGED),
				 "cannot be removed before the pod has ended");
	}
	if (role != NULL &&
	    !str_streq(role, field_map_get(&pod->meta.annotations, KUEUE_ROLE_HASH))) {
		admit_check_deny(c, QUEUEING_ANNOTATION(KUEUE_ROLE_HASH), "field is immutable");
	}
}

static void check_change(const struct admit_check *c, const struct api_pod *old,
			 const struct api_pod *pod)
{
	check_marks(c, old, pod);
	if (group_of(old) != NULL && !queueing_is_same(group_of(old), group_of(pod))) {
		admit_check_deny(c, QUEUEING_LABEL(KUEUE_POD_GROUP_NAME), "field is immutable");
	}
	if (group_of(pod) != NULL && is_unretriable(old) && !is_unretriable(pod)) {
		admit_check_deny(c, QUEUEING_ANNOTATION(KUEUE_RETRIABLE_IN_GROUP),
				 "cannot change from false: the group is not retriable");
	}
	/* The gate is what keeps a pod from running, as `suspend` does for a Job. */
	if (!pod_has_gate(pod, KUEUE_GATE_ADMISSION)) {
		queueing_check_running(c, &old->meta, &pod->meta, "the pod is not gated");
	}
	queueing_check_removal(c, &old->meta, &pod->meta);
}

int plainpod_validate(const struct admit_request *q, struct admit_answer *ret, struct err *err)
{
	const struct admit_check c = { q, ret };
	struct api_pod pod = { 0 }, old = { 0 };
	int verb = admit_check_read(q, &pod_admission_fields, &pod, &old, err);

	if (verb <= ADMIT_CHECK_OTHER) {
		return verb;
	}
	check_write(&c, &old, &pod);
	if (verb == ADMIT_CHECK_UPDATE) {
		check_change(&c, &old, &pod);
	}
	return 0;
}
