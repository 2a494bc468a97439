/* scheduler/multikueue/check_active.h: the condition Active of an AdmissionCheck of MultiKueue:
 * whether its MultiKueueConfig and the clusters that this names can be used. Reasons and messages
 * are Kueue's: an inactive check makes the ClusterQueues that have it inactive. Pure. */
#ifndef SCHEDULER_MULTIKUEUE_CHECK_ACTIVE_H
#define SCHEDULER_MULTIKUEUE_CHECK_ACTIVE_H

#include <stdbool.h>
#include <stddef.h>

struct api_check_parameters;
struct strbuf;

enum check_active_cluster { CHECK_ACTIVE_MISSING, CHECK_ACTIVE_INACTIVE, CHECK_ACTIVE_USABLE };

struct check_active_config {
	const char *name;
	const char *const *clusters; /* in configured order */
	size_t n;
};

struct check_active_source {
	/* The MultiKueueConfig of that name; false: there is none. */
	bool (*config)(void *ctx, const char *name, struct check_active_config *ret);
	enum check_active_cluster (*cluster)(void *ctx, const char *name);
	void *ctx;
};

/* The status of the condition ("True", "False"), its reason (static), and its message, appended.
 * parameters: of the check's spec; NULL: none. */
const char *check_active(const struct api_check_parameters *parameters,
			 const struct check_active_source *source, const char **ret_reason,
			 struct strbuf *message);

#endif
