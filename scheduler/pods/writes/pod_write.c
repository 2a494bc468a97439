#include "scheduler/pods/writes/pod_write.h"

#include <stdlib.h>
#include <string.h>

#include "api/meta/status.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/cut.h"
#include "enc/json/jdoc.h"
#include "enc/json/json_out.h"
#include "kube/rest.h"
#include "scheduler/pods/model/model.h"

struct pod_write *pod_write_new_for(const struct pod_write_kind *kind, struct str namespace_,
				    struct str name, const char *uid)
{
	struct pod_write *w = xmalloc_zero(1, sizeof(*w));

	w->kind = kind;
	w->namespace_ = namespace_.p == NULL ? NULL : xmalloc_dup_n(namespace_.p, namespace_.len);
	w->name = xmalloc_dup_n(name.p, name.len);
	w->uid = xmalloc_dup(uid);
	return w;
}

struct pod_write *pod_write_new(const struct pod_write_kind *kind, const struct task *t)
{
	return pod_write_new_for(kind, str_of(t->namespace_), str_of(t->name), t->uid);
}

static void pod_write_free(void *item)
{
	struct pod_write *w = item;

	for (size_t i = 0; i < ARRAY_LEN(w->texts); i++) {
		free(w->texts[i]);
	}
	free(w->refused_text);
	free(w->namespace_);
	free(w->name);
	free(w->uid);
	free(w);
}

bool pod_write_may_send(void *ctx)
{
	const struct pod_write_target *target = ctx;

	return target->may_send == NULL || target->may_send(target->ctx);
}

static bool pod_write_start(void *ctx UNUSED, void *item, unsigned sends UNUSED,
			    struct http_call *call, struct strbuf *scratch)
{
	struct pod_write *w = item;

	if (!w->first_done && w->kind->fill_first != NULL &&
	    w->kind->fill_first(w, call, scratch)) {
		return true;
	}
	w->first_done = true;
	if (!w->reading) {
		w->kind->fill(w, call, scratch);
		return true;
	}
	sched_kinds_path(w->kind->resource, w->namespace_, w->name, NULL, scratch);
	call->method = HTTP_GET;
	call->url = scratch->p;
	return true;
}

/* The version that an answer shows, so that older watch events are recognised; 0: it
 * shows none. */
static int64_t version_of(struct str body)
{
	struct cut_meta meta;
	int64_t version = 0;

	if (body.p != NULL && cut_meta(body, &meta) && meta.resource_version.p != NULL) {
		(void)str_to_i64(meta.resource_version, &version);
	}
	return version;
}

static struct sched_msg *make_outcome(const struct pod_write *w, enum sched_outcome outcome)
{
	struct sched_msg *m = message_new(SCHED_MSG_REQUEST_DONE);

	m->resource = w->kind->resource;
	m->request = w->kind->request;
	m->outcome = outcome;
	m->key = str_of(w->namespace_ == NULL
				? arena_dup(m->arena, w->name)
				: arena_printf(m->arena, "%s/%s", w->namespace_, w->name));
	m->uid = arena_dup(m->arena, w->uid);
	m->written = w->texts[0] == NULL ? NULL : arena_dup(m->arena, w->texts[0]);
	return m;
}

static enum pool_verdict report(const struct pod_write_target *target, const struct pod_write *w,
				enum sched_outcome outcome, int status, const char *text)
{
	struct sched_msg *m = make_outcome(w, outcome);

	m->status = status;
	m->text = arena_dup(m->arena, text == NULL ? "" : text);
	target->post(target->ctx, m);
	return POOL_DONE;
}

static enum pool_verdict report_done(const struct pod_write_target *target,
				     const struct pod_write *w, struct str body)
{
	struct sched_msg *m = make_outcome(w, SCHED_DONE);

	m->resource_version = version_of(body);
	m->text = "";
	target->post(target->ctx, m);
	return POOL_DONE;
}

/* Keeps the first refusal, in case reading the pod shows that it was final. */
static enum pool_verdict read_back(struct pod_write *w, int status, const char *text)
{
	w->reading = true;
	w->refused_status = status;
	free(w->refused_text);
	w->refused_text = xmalloc_dup(text);
	return POOL_AGAIN;
}

static enum pool_verdict judge(const struct pod_write_target *target, struct pod_write *w,
			       const struct http_result *result)
{
	CLEANUP(jdoc_destroyp) struct jdoc *pod = NULL;

	if (jdoc_parse(result->body, &pod, NULL) < 0) {
		return POOL_RETRY;
	}
	if (!jdoc_is_str(jdoc_path(pod, "metadata.uid"), w->uid)) {
		return report(target, w, SCHED_GONE, 0, "another object has taken the name");
	}
	switch (w->kind->judge(w, pod)) {
	case POD_WRITE_IS_DONE:
		return report_done(target, w, result->body);
	case POD_WRITE_IS_STALE:
		return report(target, w, SCHED_STALE, w->refused_status, w->refused_text);
	case POD_WRITE_REFUSED:
		/* A conflict of versions is transient; every other refusal is final. */
		if (w->refused_status != STATUS_CONFLICT && w->refused_status != 0) {
			return report(target, w, SCHED_REJECTED, w->refused_status,
				      w->refused_text);
		}
		break;
	case POD_WRITE_NOT_YET:
		break;
	}
	w->reading = w->unanswered = false;
	return POOL_RETRY;
}

/* 1. A write that was not sent is decided again later; a pod that is not there needs no write.
 * 2. The answer to a request that only goes before is not looked at.
 * 3. A success is the end, or, of a pod that was read back, goes to judge.
 * 4. A transient failure is retried, unless the kind knows it for a refusal. Where the request may
 * have been carried out, and repeating it is not harmless, the pod is read first.
 * 5. 409, 422 and 400 leave open whether the pod is another one, has changed, or shows the effect
 *    already: the pod is read.
 * 6. Every other refusal is final, unless an earlier attempt may have been carried out. */
static enum pool_verdict pod_write_finish(void *ctx, void *item, const struct http_result *result)
{
	const struct pod_write_target *target = ctx;
	struct pod_write *w = item;
	struct err err = ERR_INIT;

	if (result->error == ERR_CANCELLED) {
		return report(target, w, SCHED_CANCELLED, 0, result->error_text);
	}
	if (result->status == STATUS_NOT_FOUND) {
		return report(target, w, w->kind->gone_is_done ? SCHED_DONE : SCHED_GONE,
			      STATUS_NOT_FOUND, "not found");
	}
	if (!w->first_done) {
		w->first_done = true;
		return POOL_AGAIN;
	}
	(void)rest_result(result, &err);
	if (status_is_success(result->status)) {
		return w->reading ? judge(target, w, result) : report_done(target, w, result->body);
	}
	if (!w->reading && w->kind->refuses != NULL && w->kind->refuses(result, &err)) {
		return report(target, w, SCHED_REJECTED, result->status, err.text);
	}
	if (rest_is_transient(result->status)) {
		if (!w->reading && rest_is_unanswered(result)) {
			w->unanswered = true;
			return w->kind->read_after_unknown ? read_back(w, 0, err.text) : POOL_RETRY;
		}
		return POOL_RETRY;
	}
	/* The pod cannot be read either: it stays open what the write has done. */
	if (w->reading) {
		return report(target, w, SCHED_REJECTED, result->status, err.text);
	}
	if (result->status == STATUS_CONFLICT || result->status == STATUS_INVALID ||
	    result->status == STATUS_BAD_REQUEST || w->unanswered) {
		return read_back(w, result->status, err.text);
	}
	return report(target, w, SCHED_REJECTED, result->status, err.text);
}

void pod_write_put_metadata(const struct pod_write *w, const char *version, const char *annotation,
			    const char *value, struct json_out *o)
{
	json_out_key(o, "metadata");
	json_out_object(o);
	json_out_kv(o, "uid", w->uid);
	json_out_kv(o, "resourceVersion", version);
	json_out_key(o, "annotations");
	json_out_object(o);
	json_out_kv(o, annotation, value);
	json_out_object_end(o);
	json_out_object_end(o);
}

enum pod_write_judgement pod_write_judge_version(const struct jdoc *object, bool is_done,
						 const char *version)
{
	if (is_done) {
		return POD_WRITE_IS_DONE;
	}
	return jdoc_is_str(jdoc_path(object, "metadata.resourceVersion"), version)
		       ? POD_WRITE_REFUSED
		       : POD_WRITE_IS_STALE;
}

const struct pool_ops pod_write_pool_ops = {
	.start = pod_write_start,
	.finish = pod_write_finish,
	.free_item = pod_write_free,
};
