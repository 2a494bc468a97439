/* webhook/admit/admit_check.h: rules that the handlers of several kinds share. Each check of a
 * value that breaks its rule denies the request with "<path>: <what is wrong>"; absent values pass.
 * The first denial stays, so that callers need not stop. Any thread. */
#ifndef WEBHOOK_ADMIT_ADMIT_CHECK_H
#define WEBHOOK_ADMIT_ADMIT_CHECK_H

#include "api/kueue/kueue.h"
#include "webhook/admit/admit.h"

struct admit_check {
	const struct admit_request *q;
	struct admit_answer *answer;
};

enum admit_check_verb { ADMIT_CHECK_OTHER, ADMIT_CHECK_CREATE, ADMIT_CHECK_UPDATE };

/* Decodes the object of a CREATE, or object and old object of an UPDATE, and returns the verb; sub-
 * resources and other operations are ADMIT_CHECK_OTHER and decode nothing. -ERR_INVALID names the
 * path that does not decode. */
int admit_check_read(const struct admit_request *q, const struct field_table *t, void *object,
		     void *old, struct err *err);

/* Denies with "<path>: <text>". */
void admit_check_deny(const struct admit_check *c, const char *path, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
/* A path in the request's arena. */
const char *admit_check_path(const struct admit_check *c, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Names of objects, of pod sets, of resources; list of allowed texts, ended by NULL. */
void admit_check_subdomain(const struct admit_check *c, const char *path, const char *value);
void admit_check_label(const struct admit_check *c, const char *path, const char *value);
void admit_check_qualified(const struct admit_check *c, const char *path, const char *value);
void admit_check_enum(const struct admit_check *c, const char *path, const char *value,
		      const char *const *allowed);
/* None, Hold or HoldAndDrain in spec.stopPolicy. */
void admit_check_stop_policy(const struct admit_check *c, const char *value);
/* spec.fairSharing.weight: 0, or more than a thousand-millionth. */
void admit_check_weight(const struct admit_check *c, const struct api_fair_sharing *f);
void admit_check_not_negative(const struct admit_check *c, const char *path,
			      const struct quantity *amount);
/* Keys and values of labels. */
void admit_check_labels(const struct admit_check *c, const char *path, const struct field_map *m);
/* The API server's rules for tolerations of pods. */
void admit_check_tolerations(const struct admit_check *c, const char *path,
			     const struct api_toleration *list, size_t n);
/* NoSchedule, PreferNoSchedule or NoExecute. */
void admit_check_effect(const struct admit_check *c, const char *path, const char *value);
/* Answers with a patch that adds the finalizer which keeps an object as long as it is used, unless
 * it is there. */
void admit_check_add_finalizer(const struct api_meta *meta, struct admit_answer *ret);

#endif
