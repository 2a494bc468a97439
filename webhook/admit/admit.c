#include "webhook/admit/admit.h"

#include <stdarg.h>
#include <stdlib.h>

#include "api/keys.h"
#include "api/status.h"
#include "base/arena.h"
#include "enc/patch.h"

void admit_answer_init(struct admit_answer *a)
{
	*a = (struct admit_answer){ .allowed = true };
	strbuf_init(&a->patch);
}

void admit_answer_finish(struct admit_answer *a)
{
	strbuf_finish(&a->patch);
}

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

static void open_operation(struct admit_answer *a, const char *op, const char *parent,
			   const char *token)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

	if (a->patch.len == 0) {
		json_out_init(&a->out, &a->patch);
		json_out_array(&a->out);
	}
	strbuf_add_c(&path, parent);
	if (token != NULL) {
		patch_pointer_add(&path, str_of(token));
	}
	json_out_object(&a->out);
	json_out_kv(&a->out, "op", op);
	json_out_key(&a->out, "path");
	json_out_slice(&a->out, strbuf_str(&path));
}

void admit_patch_add(struct admit_answer *a, const char *parent, const char *token)
{
	open_operation(a, "add", parent, token);
	json_out_key(&a->out, "value");
}

void admit_patch_end(struct admit_answer *a)
{
	json_out_object_end(&a->out);
}

void admit_patch_remove(struct admit_answer *a, const char *parent, const char *token)
{
	open_operation(a, "remove", parent, token);
	json_out_object_end(&a->out);
}

void admit_patch_close(struct admit_answer *a)
{
	if (a->patch.len > 0) {
		json_out_array_end(&a->out);
		json_out_end(&a->out);
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

bool admit_queue_is_open(const struct api_queue *queue)
{
	const char *state = queue->status.state;

	return state == NULL || state[0] == '\0' || str_streq(state, KEYS_QUEUE_OPEN);
}

bool admit_is_operation(const struct admit_request *q, const char *operation)
{
	return str_streq(q->review->operation, operation) &&
	       (q->review->sub_resource == NULL || q->review->sub_resource[0] == '\0');
}
