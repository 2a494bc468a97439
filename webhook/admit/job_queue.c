#include "admit/job_queue.h"

#include "api/batch.h"
#include "api/kueue_keys.h"
#include "base/attrs.h"

static const char *label(const struct api_job *job, const char *key)
{
	const char *value = field_map_get(&job->meta.labels, key);

	return value != NULL && value[0] != '\0' ? value : NULL;
}

const char *job_queue_name(const struct api_job *job)
{
	return label(job, KUEUE_QUEUE_NAME);
}

const char *job_queue_class(const struct api_job *job)
{
	return label(job, KUEUE_PRIORITY_CLASS);
}

bool job_queue_has_managed_owner(const struct api_job *job)
{
	const struct api_owner *owner = meta_controller(&job->meta);

	return owner != NULL && str_streq(owner->api_version, "batch/v1") &&
	       str_streq(owner->kind, "Job");
}

bool job_queue_parse_bool(const char *text, bool *ret)
{
	static const char *const yes[] = { "1", "t", "T", "TRUE", "true", "True" };
	static const char *const no[] = { "0", "f", "F", "FALSE", "false", "False" };

	for (size_t i = 0; i < ARRAY_LEN(yes); i++) {
		if (str_streq(text, yes[i]) || str_streq(text, no[i])) {
			*ret = str_streq(text, yes[i]);
			return true;
		}
	}
	return false;
}
