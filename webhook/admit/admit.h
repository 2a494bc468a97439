/* webhook/admit/admit.h: requests and answers of the admission handlers. Handlers are pure
 * functions of options, a view of the cluster and one request; they are idempotent, since the API
 * server may call a mutating one twice. Everything they return lives in the request's arena or is
 * borrowed from the view and the request. Any thread. */
#ifndef WEBHOOK_ADMIT_ADMIT_H
#define WEBHOOK_ADMIT_ADMIT_H

#include <stdbool.h>
#include <stddef.h>

#include "api/admission.h"
#include "api/volcano/scheduling.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/json_out.h"

struct arena;
struct err;
struct gate_row;

/* A namespace, as far as handlers need it. */
struct admit_namespace {
	const char *name;
	const struct gate_row *gate; /* opted in by label; NULL: not */
	const char *queue;           /* annotation queue-name; NULL: none */
	struct field_map labels;
};

/* Queues and namespaces as last seen, immutable. Both sorted by name. */
struct admit_view {
	const struct api_queue *const *queues;
	size_t queue_count;
	const struct admit_namespace *const *namespaces;
	size_t namespace_count;
	/* Of the quota kinds: the namespaces that have a LocalQueue "default", sorted, and whether
	 * there is a WorkloadPriorityClass "default". */
	const char *const *default_queues;
	size_t default_queue_count;
	bool has_default_class;
	bool queues_known; /* false: without an API server; then queues are not checked */
};

struct admit_options {
	const char *const *scheduler_names; /* pods of these are ours */
	size_t scheduler_count;
	const char *const *gate_schedulers; /* pods of these are gated, and placed by others */
	size_t gate_scheduler_count;
	bool gate_feature; /* SchedulingGatesQueueAdmission */
	bool gate_sticky;  /* the annotation stays on pods that are gated or reserved */
	unsigned max_queue_depth;
	bool queue_allocated_pods_check;
	bool root_queue_protection;
	bool manage_jobs_without_queue; /* also hold Jobs and pods that name no LocalQueue */
	/* External frameworks, "Kind.version.group" separated by commas, and the user names under
	 * which their controllers act. NULL: none. */
	const char *integrations, *integration_users;
};

struct admit_request {
	const struct admit_options *options;
	const struct admit_view *view;
	const struct api_admission_request *review;
	const struct gate_row
		*namespace_gate; /* the label by which the API server selected the path; or NULL */
	struct arena *arena;
};

struct admit_answer {
	bool allowed;
	int code;            /* of a denial */
	const char *reason;  /* of a denial */
	const char *message; /* of a denial */
	struct strbuf patch; /* JSON Patch text, empty: none */
	struct json_out out; /* writes it */
	const char *warnings[ADMISSION_MAX_WARNINGS];
	size_t warning_count;
	bool gated; /* a gate was injected: for counting */
	/* The queue that led to a denial or a warning because the view does not have it or has it
	 * as not open. The view may lag behind the API server, so the caller may look the queue up
	 * and ask again. NULL: none. */
	const char *unconfirmed_queue;
};

/* 0 with *ret filled, or -ERR_INVALID naming the path in the object that does not decode. */
typedef int (*admit_fn)(const struct admit_request *q, struct admit_answer *ret, struct err *err);

void admit_answer_init(struct admit_answer *a); /* allowed, nothing else */
void admit_answer_finish(struct admit_answer *a);
/* Each returns 0, so that a handler can end with it. The first denial stays. */
int admit_deny_invalid(struct admit_answer *a, struct arena *arena, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
int admit_deny_forbidden(struct admit_answer *a, struct arena *arena, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
/* A warning, which kubectl prints. More than ADMISSION_MAX_WARNINGS are dropped. */
void admit_warn(struct admit_answer *a, struct arena *arena, const char *fmt, ...)
	PRINTF_LIKE(3, 4);

/* The patch: each opens one operation at parent + escaped(token) (token NULL: parent alone); for
 * admit_patch_add the caller writes the value to a->out and calls admit_patch_end. */
void admit_patch_add(struct admit_answer *a, const char *parent, const char *token);
void admit_patch_end(struct admit_answer *a);
void admit_patch_remove(struct admit_answer *a, const char *parent, const char *token);
/* Closes the list of operations; nothing may be added afterwards. */
void admit_patch_close(struct admit_answer *a);

const struct api_queue *admit_find_queue(const struct admit_view *v, const char *name);
const struct admit_namespace *admit_find_namespace(const struct admit_view *v, const char *name);
/* Whether the namespace has a LocalQueue "default". */
bool admit_has_default_queue(const struct admit_view *v, const char *ns);
/* An empty state counts as open. */
bool admit_queue_is_open(const struct api_queue *queue);
bool admit_is_operation(const struct admit_request *q, const char *operation);

#endif
