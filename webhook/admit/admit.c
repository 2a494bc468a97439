#include "webhook/admit/admit.h"

#include <stdarg.h>
#include <stdlib.h>

#include "api/meta/status.h"
#include "api/volcano/keys.h"
#include "base/arena.h"
#include "enc/json/patch.h"

void admit_answer_init(struct admit_answer *a)
{
	*a = (struct admit_answer){ .allowed = true };
	strbuf_init(&a->patch);
}

void admit_answer_finish(struct admit_answer *a)
{
	strbuf_finish(&a->patch);
}

/* Handlers go on after a denial, and a later one may only follow from the first mistake: so the
 * first is reported. */
static void deny(struct admit_answer *a, int code, const char *reason, const char *message)
{
	if (a->allowed) {
		a->allowed = false;
		a->code = code;
		a->reason = reason;
		a->message = message;
	}
}

int admit_deny_invalid(struct admit_answer *a, struct arena *arena, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	deny(a, STATUS_INVALID, "Invalid", arena_vprintf(arena, fmt, args));
	va_end(args);
	return 0;
}

int admit_deny_forbidden(struct admit_answer *a, struct arena *arena, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	deny(a, STATUS_FORBIDDEN, "Forbidden", arena_vprintf(arena, fmt, args));
	va_end(args);
	return 0;
}

void admit_warn(struct admit_answer *a, struct arena *arena, const char *fmt, ...)
{
	va_list args;

	if (a->warning_count == ADMISSION_MAX_WARNINGS) {
		return;
	}
	va_start(args, fmt);
	a->warnings[a->warning_count++] = arena_vprintf(arena, fmt, args);
	va_end(args);
}

/* The list of operations is begun with the first one: an empty text stands for "no patch". */
static struct json_out *writer(struct admit_answer *a)
{
	if (a->patch.len == 0) {
		patch_begin(&a->out, &a->patch);
	}
	return &a->out;
}

void admit_patch_add(struct admit_answer *a, const char *parent, const char *token)
{
	patch_add(writer(a), parent, token);
}

void admit_patch_end(struct admit_answer *a)
{
	patch_add_end(&a->out);
}

void admit_patch_remove(struct admit_answer *a, const char *parent, const char *token)
{
	patch_remove(writer(a), parent, token);
}

void admit_patch_close(struct admit_answer *a)
{
	if (a->patch.len > 0) {
		patch_end(&a->out);
	}
}

static int cmp_queue(const void *name, const void *item)
{
	return strcmp(name, (*(const struct api_queue *const *)item)->meta.name);
}

const struct api_queue *admit_find_queue(const struct admit_view *v, const char *name)
{
	const struct api_queue *const *found = NULL;

	if (v->queue_count > 0) {
		found = bsearch(name, v->queues, v->queue_count, sizeof(v->queues[0]), cmp_queue);
	}
	return found != NULL ? *found : NULL;
}

static int cmp_namespace(const void *name, const void *item)
{
	return strcmp(name, (*(const struct admit_namespace *const *)item)->name);
}

const struct admit_namespace *admit_find_namespace(const struct admit_view *v, const char *name)
{
	const struct admit_namespace *const *found = NULL;

	if (v->namespace_count > 0 && name != NULL) {
		found = bsearch(name, v->namespaces, v->namespace_count, sizeof(v->namespaces[0]),
				cmp_namespace);
	}
	return found != NULL ? *found : NULL;
}

static int cmp_text(const void *name, const void *item)
{
	return strcmp(name, *(const char *const *)item);
}

bool admit_has_default_queue(const struct admit_view *v, const char *ns)
{
	return ns != NULL && v->default_queue_count > 0 &&
	       bsearch(ns, v->default_queues, v->default_queue_count, sizeof(v->default_queues[0]),
		       cmp_text) != NULL;
}

/* A new queue has no state until the scheduler writes one. Volcano takes it for closed until
 * then; here it can be used at once. */
bool admit_queue_is_open(const struct api_queue *queue)
{
	const char *state = queue->status.state;

	return state == NULL || state[0] == '\0' || str_streq(state, KEYS_QUEUE_OPEN);
}

/* Requests for subresources have the same operations, but other objects: a CREATE of
 * pods/binding brings a Binding. */
bool admit_is_operation(const struct admit_request *q, const char *operation)
{
	return str_streq(q->review->operation, operation) &&
	       (q->review->sub_resource == NULL || q->review->sub_resource[0] == '\0');
}
