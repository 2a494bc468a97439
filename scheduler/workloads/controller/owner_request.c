#include "scheduler/workloads/controller/owner_request.h"

#include <stdlib.h>

#include "api/kueue/kueue_keys.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "kube/recorder.h"
#include "kube/rest.h"
#include "process/log.h"
#include "scheduler/base/sched_kinds.h"
#include "scheduler/workloads/owners/owner_write.h"

#define MERGE "application/merge-patch+json"
#define APPLY "application/apply-patch+yaml"
#define JSON "application/json"
#define MANAGED "?fieldManager=" OWNER_WRITE_MANAGER "&force=true"

struct gap {
	char *name, *uid, *tail;
};

struct owner_request {
	enum owner_write_kind kind;
	bool pods;
	char *namespace_, *name, *uid, *workload;
	char *body, *event, *message;
	char *refused; /* the reason, for the log; NULL: it was not refused */
	struct gap *gaps;
	size_t ngaps, filled; /* filled: gaps with their template in the body */
};

enum subject { SUBJECT_WORKLOAD, SUBJECT_JOB, SUBJECT_POD };

static const struct {
	enum http_method method;
	enum subject subject;
	const char *content_type, *sub, *query;
	bool by_uid; /* the body names the object's UID and no version of it */
} how[OWNER_WRITE_COUNT_] = {
	[OWNER_CREATE] = { HTTP_POST, SUBJECT_WORKLOAD, JSON, NULL, "", false },
	[OWNER_UPDATE] = { HTTP_PATCH, SUBJECT_WORKLOAD, MERGE, NULL, "", false },
	[OWNER_SYNC] = { HTTP_PATCH, SUBJECT_WORKLOAD, MERGE, NULL, "", false },
	[OWNER_STATUS] = { HTTP_PATCH, SUBJECT_WORKLOAD, APPLY, "status", MANAGED, false },
	[OWNER_DROP_FINALIZER] = { HTTP_PATCH, SUBJECT_WORKLOAD, MERGE, NULL, "", false },
	[OWNER_DELETE] = { HTTP_DELETE, SUBJECT_WORKLOAD, JSON, NULL, "", true },
	[OWNER_JOB_START] = { HTTP_PATCH, SUBJECT_JOB, MERGE, NULL, "", false },
	[OWNER_JOB_SUSPEND] = { HTTP_PATCH, SUBJECT_JOB, MERGE, NULL, "", false },
	[OWNER_JOB_RESET] = { HTTP_PATCH, SUBJECT_JOB, MERGE, "status", "", false },
	[OWNER_JOB_RESTORE] = { HTTP_PATCH, SUBJECT_JOB, MERGE, NULL, "", false },
	[OWNER_JOB_DELETE] = { HTTP_DELETE, SUBJECT_JOB, JSON, NULL, "", true },
	[OWNER_POD_START] = { HTTP_PATCH, SUBJECT_POD, MERGE, NULL, "", false },
	[OWNER_POD_END] = { HTTP_PATCH, SUBJECT_POD, APPLY, "status", MANAGED, true },
	[OWNER_POD_DELETE] = { HTTP_DELETE, SUBJECT_POD, JSON, NULL, "", true },
	[OWNER_POD_DROP_FINALIZER] = { HTTP_PATCH, SUBJECT_POD, MERGE, NULL, "", false },
};

static char *copy(const char *text)
{
	return text == NULL ? NULL : xmalloc_dup(text);
}

struct owner_request *owner_request_new(const char *namespace_, const struct owner_write *w)
{
	struct owner_request *new = xmalloc_zero(1, sizeof(*new));

	new->kind = w->kind;
	new->pods = w->pods;
	new->namespace_ = copy(namespace_);
	new->name = copy(w->about.name);
	new->uid = copy(w->about.uid);
	new->workload = copy(w->workload);
	new->body = copy(w->body);
	new->event = copy(w->event);
	new->message = copy(w->message);
	new->ngaps = w->ngaps;
	new->gaps = xmalloc_zero(w->ngaps + 1, sizeof(*new->gaps));
	for (size_t i = 0; i < w->ngaps; i++) {
		new->gaps[i] = (struct gap){ copy(w->gaps[i].from.name), copy(w->gaps[i].from.uid),
					     copy(w->gaps[i].tail) };
	}
	return new;
}

static void free_item(void *item)
{
	struct owner_request *w = item;
	char *texts[] = { w->namespace_, w->name,  w->uid,     w->workload,
			  w->body,       w->event, w->message, w->refused };

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		free(texts[i]);
	}
	for (size_t i = 0; i < w->ngaps; i++) {
		free(w->gaps[i].name);
		free(w->gaps[i].uid);
		free(w->gaps[i].tail);
	}
	free(w->gaps);
	free(w);
}

static void add_owner_path(const struct owner_request *w, bool pod, const char *name,
			   const char *sub, struct strbuf *out)
{
	sched_kinds_path(pod ? SCHED_PODS : SCHED_JOBS, w->namespace_, name, sub, out);
}

static void add_path(const struct owner_request *w, struct strbuf *out)
{
	enum subject subject = how[w->kind].subject;
	const char *sub = how[w->kind].sub;

	if (subject == SUBJECT_WORKLOAD) {
		/* A creation is sent to the list. */
		sched_kinds_path(SCHED_WORKLOADS, w->namespace_,
				 w->kind == OWNER_CREATE ? NULL : w->workload, sub, out);
	} else {
		add_owner_path(w, subject == SUBJECT_POD, w->name, sub, out);
	}
	strbuf_add_c(out, how[w->kind].query);
}

static bool start(void *ctx UNUSED, void *item, unsigned sends UNUSED, struct http_call *call,
		  struct strbuf *scratch)
{
	struct owner_request *w = item;
	size_t body;

	/* It only took the place of a write that is not wanted any more. */
	if (w->kind == OWNER_NOTE) {
		return false;
	}
	/* Templates first: the decoded owner has only the fields that this program reads, and the
	 * Workload must have all. */
	if (w->filled < w->ngaps) {
		add_owner_path(w, w->pods, w->gaps[w->filled].name, NULL, scratch);
		call->method = HTTP_GET;
		call->url = scratch->p;
		return true;
	}
	add_path(w, scratch);
	/* Path and body share the scratch. */
	strbuf_add_ch(scratch, '\0');
	body = scratch->len;
	strbuf_add_c(scratch, w->body);
	rest_fill(call, scratch, body, how[w->kind].method, how[w->kind].content_type);
	return true;
}

/* The template as it is stored, with all that this program does not know of. */
static bool take_template(struct owner_request *w, struct str text)
{
	CLEANUP(jdoc_destroyp) struct jdoc *owner = NULL;
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	const struct gap *gap = &w->gaps[w->filled];

	if (jdoc_parse(text, &owner, NULL) < 0 ||
	    !str_streq(jdoc_path_str(owner, "metadata.uid"), gap->uid)) {
		return false; /* another object of this name, which has a plan of its own */
	}
	strbuf_add_c(&body, w->body);
	if (!owner_write_add_template(w->pods, owner, &body)) {
		return false;
	}
	strbuf_add_c(&body, gap->tail);
	free(w->body);
	w->body = strbuf_steal(&body, NULL);
	w->filled++;
	return true;
}

void owner_request_fill(struct owner_request *w, const char *uid, struct str owner)
{
	while (w->filled < w->ngaps && str_streq(w->gaps[w->filled].uid, uid) &&
	       take_template(w, owner)) {
	}
}

/* The owner is what users look at; a Workload without one has the event itself. */
static void record_event(const struct owner_request_target *t, const struct owner_request *w,
			 bool warning, const char *reason, const char *message)
{
	const struct recorder_object owner = { w->pods ? "v1" : "batch/v1", w->pods ? "Pod" : "Job",
					       w->name, w->uid, w->namespace_ };
	const struct recorder_object workload = { KUEUE_API_VERSION, "Workload", w->workload,
						  w->uid, w->namespace_ };

	if (t->recorder != NULL && reason != NULL && (w->name != NULL || w->workload != NULL)) {
		recorder_event(t->recorder, w->name != NULL ? &owner : &workload, warning, reason,
			       message);
	}
}

/* One line in the log, however often it is sent; the event counts repetitions. */
static void report_refusal(const struct owner_request_target *t, struct owner_request *w,
			   const char *why)
{
	record_event(t, w, true, "WorkloadWriteRefused", why);
	if (str_streq(w->refused, why)) {
		return;
	}
	free(w->refused);
	w->refused = xmalloc_dup(why);
	log_warn("write refused", LOG_STR("namespace", w->namespace_),
		 LOG_STR(w->pods ? "pod" : "job", w->name), LOG_STR("workload", w->workload),
		 LOG_STR("error", why));
}

static enum pool_verdict finish(void *ctx, void *item, const struct http_result *result)
{
	const struct owner_request_target *t = ctx;
	struct owner_request *w = item;
	struct err err = ERR_INIT;
	int code = rest_result(result, &err);

	/* Cancelled: this replica may not write at present. The owner is not planned again before
	 * it changes, so the write stays in the pool. */
	if (result->error == ERR_CANCELLED) {
		return POOL_RETRY;
	}
	/* An answer to a GET: the write itself is still to be sent. */
	if (code == 0 && w->filled < w->ngaps) {
		return take_template(w, result->body) ? POOL_AGAIN : POOL_DONE;
	}
	if (code == 0) {
		record_event(t, w, false, w->event, w->message);
		return POOL_DONE;
	}
	/* Gone, or another object of the name: nothing is left to be written. */
	if (code == -ERR_NOT_FOUND || rest_is_other_uid(code, &err)) {
		return POOL_DONE;
	}
	/* The watch delivers the newer version, for which a new plan is made; that is not so when
	 * the body named no version. */
	if (code == -ERR_CONFLICT && !how[w->kind].by_uid) {
		return POOL_DONE;
	}
	if (code == -ERR_CONFLICT || !rest_is_refused(code, result)) {
		return POOL_RETRY;
	}
	/* Retry: the missing right or quota may appear without a change of any watched object. */
	report_refusal(t, w, err.text);
	return POOL_REFUSED;
}

bool owner_request_may_send(void *ctx)
{
	const struct owner_request_target *t = ctx;

	return t->may_send == NULL || t->may_send(t->ctx);
}

const struct pool_ops owner_request_ops = { .start = start,
					    .finish = finish,
					    .free_item = free_item };
