#include "scheduler/multikueue/manager/mirror.h"

#include "api/core/batch.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "enc/decode.h"
#include "enc/encode.h"
#include "enc/json/jdoc.h"

static const char *const counts[] = { "active", "ready", "terminating" };

static bool is_true(const struct api_job *job, const char *type)
{
	const struct api_condition *c = meta_condition(&job->status.conditions, type);

	return c != NULL && str_streq(c->status, "True");
}

static void status_text(const struct api_job *job, struct strbuf *out)
{
	struct api_job copy;

	decode_init(&batch_job_fields, &copy);
	copy.status = job->status;
	encode_text(&batch_job_fields, &copy, out);
}

static bool same_status(const struct api_job *a, const struct api_job *b)
{
	CLEANUP(strbuf_finish) struct strbuf x = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf y = STRBUF_INIT;

	status_text(a, &x);
	status_text(b, &y);
	return str_eq(strbuf_str(&x), strbuf_str(&y));
}

/* The API server refuses to take the time from a Job that is not suspended: it stays until the
 * local Job is, too. */
static bool keeps_start(bool suspended, bool has_start, bool remote_has_start)
{
	return !suspended && has_start && !remote_has_start;
}

enum mirror mirror_due(const struct api_job *local, const struct api_job *remote)
{
	if (batch_is_suspended(local) && !batch_is_suspended(remote) &&
	    batch_finished(remote) == NULL) {
		return is_true(local, "Suspended") ? MIRROR_NOTHING : MIRROR_SUSPENDED;
	}
	if (keeps_start(batch_is_suspended(local), local->status.start_time != FIELD_NO_TIME,
			remote->status.start_time != FIELD_NO_TIME)) {
		struct api_job with_start = *remote;

		with_start.status.start_time = local->status.start_time;
		return same_status(local, &with_start) ? MIRROR_NOTHING : MIRROR_STATUS;
	}
	return same_status(local, remote) ? MIRROR_NOTHING : MIRROR_STATUS;
}

/* With SuccessCriteriaMet and FailureTarget the end is decided, and only pods have to stop. */
bool mirror_has_ended(const struct api_job *local)
{
	return batch_finished(local) != NULL || is_true(local, "SuccessCriteriaMet") ||
	       is_true(local, "FailureTarget");
}

/* --- patches -----------------------------------------------------------------------------------*/

/* A patch is of the object as it was seen; the caller owns it. *ret_status is its status. */
static struct jdoc *new_patch(const struct jdoc *local, struct jdoc **ret_status)
{
	static const char *const same[] = { "uid", "resourceVersion" };
	struct jdoc *patch = jdoc_new_object();
	struct jdoc *meta = jdoc_ensure_object(patch, "metadata");

	for (size_t i = 0; i < ARRAY_LEN(same); i++) {
		const char *text = jdoc_str(jdoc_get(jdoc_get(local, "metadata"), same[i]));

		if (text != NULL) {
			jdoc_set_str(meta, same[i], text);
		}
	}
	*ret_status = jdoc_ensure_object(patch, "status");
	return patch;
}

/* Adds to the patch what makes `from` into `to`: a member that is gone is null, one that is equal
 * is left out. */
static void add_difference(const struct jdoc *from, const struct jdoc *to, struct jdoc *patch)
{
	for (const struct jdoc *m = jdoc_first(from); m != NULL; m = jdoc_next(m)) {
		if (jdoc_get(to, jdoc_key(m)) == NULL) {
			jdoc_set_take(patch, jdoc_key(m), jdoc_new_null());
		}
	}
	for (const struct jdoc *m = jdoc_first(to); m != NULL; m = jdoc_next(m)) {
		const struct jdoc *old = jdoc_get(from, jdoc_key(m));

		if (jdoc_equal(old, m)) {
			continue;
		}
		if (jdoc_kind(old) == JDOC_OBJECT && jdoc_kind(m) == JDOC_OBJECT) {
			add_difference(old, m, jdoc_ensure_object(patch, jdoc_key(m)));
		} else {
			jdoc_set_take(patch, jdoc_key(m), jdoc_copy(m));
		}
	}
}

void mirror_copy(const struct jdoc *local, const struct jdoc *remote, struct strbuf *out)
{
	const struct jdoc *to = jdoc_get(remote, "status");
	struct jdoc *status;
	CLEANUP(jdoc_destroyp) struct jdoc *patch = new_patch(local, &status);

	/* A worker cluster may send anything. */
	if (to == NULL || jdoc_kind(to) == JDOC_OBJECT) {
		add_difference(jdoc_get(local, "status"), to, status);
	}
	if (keeps_start(jdoc_bool(jdoc_path(local, "spec.suspend"), false),
			jdoc_path(local, "status.startTime") != NULL,
			jdoc_get(to, "startTime") != NULL)) {
		(void)jdoc_remove(status, "startTime");
	}
	jdoc_format(patch, out);
}

void mirror_suspended(const struct jdoc *local, int64_t now, struct strbuf *out)
{
	struct jdoc *status, *list, *c;
	CLEANUP(jdoc_destroyp) struct jdoc *patch = new_patch(local, &status);
	const struct jdoc *old = jdoc_path(local, "status.conditions");
	char time[CLOCK_RFC3339_MAX];

	/* A list is replaced as a whole: the others stay. */
	list = jdoc_ensure_array(status, "conditions");
	for (const struct jdoc *m = jdoc_first(old); m != NULL; m = jdoc_next(m)) {
		if (!jdoc_is_str(jdoc_get(m, "type"), "Suspended")) {
			jdoc_append_take(list, jdoc_copy(m));
		}
	}
	clock_format_time(now, time);
	c = jdoc_append_take(list, jdoc_new_object());
	jdoc_set_str(c, "type", "Suspended");
	jdoc_set_str(c, "status", "True");
	jdoc_set_str(c, "reason", "MultiKueueAdapter");
	jdoc_set_str(c, "message", "The Job is suspended on the manager cluster");
	jdoc_set_str(c, "lastTransitionTime", time);
	jdoc_format(patch, out);
}

void mirror_reset(const struct jdoc *local, struct strbuf *out)
{
	struct jdoc *status;
	CLEANUP(jdoc_destroyp) struct jdoc *patch = new_patch(local, &status);

	for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
		if (jdoc_get(jdoc_get(local, "status"), counts[i]) != NULL) {
			jdoc_set_int(status, counts[i], 0);
		}
	}
	jdoc_format(patch, out);
}
