#include "scheduler/base/object_write.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "kube/rest.h"
#include "scheduler/base/message_decode.h"

struct object_write {
	enum sched_request request;
	enum sched_resource resource;
	enum http_method method;
	const char *content_type;
	bool keeps_foreign_fields, names_version, retries_refused, once;
	bool reads; /* the create found an object, which is read now */
	char *key, *about, *path, *body;
	char *item_path; /* of the object that a create makes; NULL: it is not read */
};

struct object_write *object_write_new(const struct object_write_spec *spec)
{
	struct object_write *w = xmalloc_zero(1, sizeof(*w));

	w->request = spec->request;
	w->resource = spec->resource;
	w->method = spec->method;
	w->content_type = spec->content_type;
	w->keeps_foreign_fields = spec->keeps_foreign_fields;
	w->names_version = spec->names_version;
	w->retries_refused = spec->retries_refused;
	w->once = spec->once;
	w->key = xmalloc_dup_n(spec->key.p, spec->key.len);
	w->about = spec->about.p == NULL ? NULL : xmalloc_dup_n(spec->about.p, spec->about.len);
	w->path = xmalloc_dup(spec->path);
	w->body = xmalloc_dup_n(spec->body.p, spec->body.len);
	if (spec->reads_existing) {
		/* The query of the create is none of a GET. */
		w->item_path = xmalloc_printf("%.*s/%s", (int)strcspn(spec->path, "?"), spec->path,
					      spec->name);
	}
	return w;
}

static void item_free(void *item)
{
	struct object_write *w = item;

	free(w->key);
	free(w->about);
	free(w->path);
	free(w->body);
	free(w->item_path);
	free(w);
}

static bool start(void *ctx UNUSED, void *item, unsigned sends UNUSED, struct http_call *call,
		  struct strbuf *scratch UNUSED)
{
	struct object_write *w = item;

	if (w->reads) {
		call->method = HTTP_GET;
		call->url = w->item_path;
		return true;
	}
	call->method = w->method;
	call->url = w->path;
	call->content_type = w->content_type;
	call->body = str_of(w->body);
	return true;
}

static bool may_send(void *ctx)
{
	const struct object_write_target *target = ctx;

	return target->may_send == NULL || target->may_send(target->ctx);
}

/* of: the object that the answer has; or a new message. */
static enum pool_verdict report_with(const struct object_write_target *target,
				     const struct object_write *w, enum sched_outcome outcome,
				     const struct http_result *result, const char *text,
				     struct sched_msg *m)
{
	m->kind = SCHED_MSG_REQUEST_DONE;
	m->resource = w->resource;
	m->request = w->request;
	m->outcome = outcome;
	m->key = arena_str(m->arena, str_of(w->key));
	m->about = w->about == NULL ? NULL : arena_dup(m->arena, w->about);
	m->status = result->status;
	m->text = arena_dup(m->arena, text);
	m->resource_version = outcome == SCHED_DONE || m->object != NULL ? rest_version(result) : 0;
	target->post(target->ctx, m);
	return POOL_DONE;
}

static enum pool_verdict report(const struct object_write_target *target,
				const struct object_write *w, enum sched_outcome outcome,
				const struct http_result *result, const char *text)
{
	return report_with(target, w, outcome, result, text, message_new(SCHED_MSG_REQUEST_DONE));
}

/* The object that has the name of the one to be created. */
static enum pool_verdict report_existing(const struct object_write_target *target,
					 const struct object_write *w,
					 const struct http_result *result)
{
	struct sched_msg *m =
		message_decode(w->resource, str_of(w->key), result->body, rest_version(result));

	if (m->kind != SCHED_MSG_UPSERT) {
		m->object = NULL;
	}
	return report_with(target, w, SCHED_STALE, result, "it exists", m);
}

/* 1. Unsent: it is decided again. Acknowledged: done.
 * 2. The object is gone, or another one has its name.
 * 3. The write was made for a state of the object that has changed: stale.
 * 4. A create finds that the object exists: it has its effect, or the object is read and
 *    reported; when it is gone by then, the create is sent again.
 * 5. Refused: reported, and sent again only where nothing that is watched would show when it is
 *    accepted.
 * 6. The rest is transient: sent again, or reported. */
static enum pool_verdict finish(void *ctx, void *item, const struct http_result *result)
{
	const struct object_write_target *target = ctx;
	struct object_write *w = item;
	struct err err = ERR_INIT;
	int code;

	if (result->error == ERR_CANCELLED) {
		return report(target, w, SCHED_CANCELLED, result, result->error_text);
	}
	code = rest_result(result, &err);
	if (w->reads && code == 0) {
		return report_existing(target, w, result);
	}
	if (w->reads && code == -ERR_NOT_FOUND) {
		w->reads = false;
		return POOL_RETRY;
	}
	if (code == 0) {
		return report(target, w, SCHED_DONE, result, "");
	}
	if (code == -ERR_NOT_FOUND || (w->keeps_foreign_fields && rest_is_other_uid(code, &err))) {
		return report(target, w, SCHED_GONE, result, err.text);
	}
	if (rest_is_failed_test(code, &err) ||
	    (w->keeps_foreign_fields && rest_is_other_manager(code, &err))) {
		return report(target, w, SCHED_STALE, result, err.text);
	}
	if (code == -ERR_CONFLICT && w->names_version && w->method != HTTP_POST) {
		return report(target, w, SCHED_STALE, result, err.text);
	}
	if (code == -ERR_CONFLICT && w->method == HTTP_POST && w->item_path != NULL && !w->reads) {
		w->reads = true;
		return POOL_AGAIN;
	}
	if (code == -ERR_CONFLICT && w->method == HTTP_POST) {
		return report(target, w, SCHED_DONE, result, err.text);
	}
	if (rest_is_refused(code, result)) {
		(void)report(target, w, SCHED_REJECTED, result, err.text);
		return w->retries_refused ? POOL_REFUSED : POOL_DONE;
	}
	return w->once ? report(target, w, SCHED_UNANSWERED, result,
				result->error != 0 ? result->error_text : err.text)
		       : POOL_RETRY;
}

static const struct pool_ops ops = { .start = start, .finish = finish, .free_item = item_free };

struct pool *object_write_pool(const struct pool_options *base, const char *name, unsigned slots,
			       void (*post)(void *ctx, struct sched_msg *msg),
			       struct object_write_target *target)
{
	struct pool_options po = *base;

	*target = (struct object_write_target){ post, base->may_send, base->ctx };
	po.name = name;
	po.ops = &ops;
	po.ctx = target;
	po.may_send = may_send;
	po.slots = slots;
	return pool_create(&po);
}
