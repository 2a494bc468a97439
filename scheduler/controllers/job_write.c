#include "controllers/job_write.h"

#include <stdlib.h>

#include "api/kueue_keys.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "controllers/job_workload.h"
#include "enc/jdoc.h"
#include "kube/recorder.h"
#include "kube/rest.h"

#define MERGE "application/merge-patch+json"
#define APPLY "application/apply-patch+yaml"

struct job_write {
	enum job_plan_kind kind;
	bool has_template; /* the body is complete */
	char *namespace_, *job, *job_uid, *workload;
	char *body, *tail, *event, *message;
};

static const struct {
	enum http_method method;
	bool about_job;
	const char *content_type, *sub, *query;
} how[JOB_PLAN_COUNT_] = {
	[JOB_PLAN_CREATE] = { HTTP_POST, false, "application/json", NULL, "" },
	[JOB_PLAN_UPDATE] = { HTTP_PATCH, false, MERGE, NULL, "" },
	[JOB_PLAN_SYNC] = { HTTP_PATCH, false, MERGE, NULL, "" },
	[JOB_PLAN_STATUS] = { HTTP_PATCH, false, APPLY, "status",
			      "?fieldManager=" JOB_WORKLOAD_MANAGER "&force=true" },
	[JOB_PLAN_RELEASE] = { HTTP_PATCH, false, MERGE, NULL, "" },
	[JOB_PLAN_DELETE] = { HTTP_DELETE, false, "application/json", NULL, "" },
	[JOB_PLAN_START] = { HTTP_PATCH, true, MERGE, NULL, "" },
	[JOB_PLAN_SUSPEND] = { HTTP_PATCH, true, MERGE, NULL, "" },
	[JOB_PLAN_RESET] = { HTTP_PATCH, true, MERGE, "status", "" },
	[JOB_PLAN_RESTORE] = { HTTP_PATCH, true, MERGE, NULL, "" },
};

static char *copy(const char *text)
{
	return text == NULL ? NULL : xmalloc_dup(text);
}

struct job_write *job_write_new(const struct job_write_job *job, const struct job_plan_write *w)
{
	struct job_write *new = xmalloc_zero(1, sizeof(*new));

	new->kind = w->kind;
	new->has_template = w->tail == NULL;
	new->namespace_ = copy(job->namespace_);
	new->job = copy(job->name);
	new->job_uid = copy(job->uid);
	new->workload = copy(w->workload);
	new->body = copy(w->body);
	new->tail = copy(w->tail);
	new->event = copy(w->event);
	new->message = copy(w->message);
	return new;
}

static void free_item(void *item)
{
	struct job_write *w = item;
	char *texts[] = { w->namespace_, w->job,  w->job_uid, w->workload,
			  w->body,       w->tail, w->event,   w->message };

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		free(texts[i]);
	}
	free(w);
}

static void add_path(const struct job_write *w, struct strbuf *out)
{
	const char *sub = how[w->kind].sub;

	if (how[w->kind].about_job) {
		rest_path(out, "batch", "v1", w->namespace_, "jobs", w->job, sub);
	} else {
		rest_path(out, KUEUE_GROUP, KUEUE_VERSION, w->namespace_, "workloads",
			  w->kind == JOB_PLAN_CREATE ? NULL : w->workload, sub);
	}
	strbuf_add_c(out, how[w->kind].query);
}

static bool start(void *ctx UNUSED, void *item, unsigned sends UNUSED, struct http_call *call,
		  struct strbuf *scratch)
{
	struct job_write *w = item;
	size_t body;

	if (!w->has_template) {
		rest_path(scratch, "batch", "v1", w->namespace_, "jobs", w->job, NULL);
		call->method = HTTP_GET;
		call->url = scratch->p;
		return true;
	}
	add_path(w, scratch);
	strbuf_add_ch(scratch, '\0');
	body = scratch->len;
	strbuf_add_c(scratch, w->body);
	rest_fill(call, scratch, body, how[w->kind].method, how[w->kind].content_type);
	return true;
}

/* The template as it is stored, with all that this program does not know of. */
static enum pool_verdict take_template(struct job_write *w, const struct http_result *result)
{
	CLEANUP(jdoc_destroyp) struct jdoc *job = NULL;
	CLEANUP(jdoc_destroyp) struct jdoc *template_ = NULL;
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	if (jdoc_parse(result->body, &job, NULL) < 0 ||
	    !str_streq(jdoc_path_str(job, "metadata.uid"), w->job_uid)) {
		return POOL_DONE; /* another Job of this name: it has a plan of its own */
	}
	template_ = job_podset_template(job);
	if (template_ == NULL) {
		return POOL_DONE;
	}
	strbuf_add_c(&body, w->body);
	jdoc_format(template_, &body);
	strbuf_add_c(&body, w->tail);
	free(w->body);
	w->body = strbuf_steal(&body, NULL);
	w->has_template = true;
	return POOL_AGAIN;
}

static void tell(const struct job_write_target *t, const struct job_write *w, bool warning,
		 const char *reason, const char *message)
{
	const struct recorder_object about = { "batch/v1", "Job", w->job, w->job_uid,
					       w->namespace_ };

	if (t->recorder != NULL && reason != NULL) {
		recorder_event(t->recorder, &about, warning, reason, message);
	}
}

static enum pool_verdict finish(void *ctx, void *item, const struct http_result *result)
{
	const struct job_write_target *t = ctx;
	struct job_write *w = item;
	struct err err = ERR_INIT;
	int code = rest_result(result, &err);

	/* Cancelled: writing is not allowed at present; nothing else would bring the Job back
	 * before it changes. */
	if (result->error == ERR_CANCELLED || result->status == 401) {
		return POOL_RETRY;
	}
	if (code == 0 && !w->has_template) {
		return take_template(w, result);
	}
	if (code == 0) {
		tell(t, w, false, w->event, w->message);
		return POOL_DONE;
	}
	if (code == -ERR_NOT_FOUND || code == -ERR_CONFLICT) {
		return POOL_DONE;
	}
	if (code == -ERR_INVALID || code == -ERR_FORBIDDEN) {
		tell(t, w, true, "WorkloadWriteRefused", err.text);
		return POOL_DONE;
	}
	return POOL_RETRY;
}

bool job_write_may_send(void *ctx)
{
	const struct job_write_target *t = ctx;

	return t->may_send == NULL || t->may_send(t->ctx);
}

const struct pool_ops job_write_ops = { .start = start, .finish = finish, .free_item = free_item };
