#include "controllers/job_status.h"

#include <stdlib.h>

#include "api/batch.h"
#include "api/kueue.h"
#include "api/kueue_keys.h"
#include "api/kueue_workload.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "controllers/job_podset.h"
#include "enc/json_out.h"

#define WAIT_FOR_START "WaitForStart"
#define WAIT_FOR_RECOVERY "WaitForRecovery"
#define STARTED "Started"
#define RECOVERED "Recovered"

/* --- reclaimable pods --------------------------------------------------------------------------
 */

struct range {
	uint64_t from, to;
};
struct ranges VEC(struct range);

/* "1,3-5,7"; what is not understood counts for nothing. */
static void read_ranges(const char *text, struct ranges *out)
{
	struct str rest = str_of(text);

	while (rest.p != NULL) {
		struct str item = str_next(&rest, ','), second = item;
		struct str first = str_next(&second, '-');
		struct range r;

		if (!str_to_u64(first, &r.from)) {
			continue;
		}
		if (second.p == NULL) {
			r.to = r.from;
		} else if (!str_to_u64(second, &r.to) || r.to < r.from) {
			continue;
		}
		vec_push(out, r);
	}
}

static int by_from(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

/* How many indexes are in one of the two lists at least. */
static int64_t count_indexes(const char *a, const char *b)
{
	struct ranges r = VEC_INIT;
	uint64_t next = 0, n = 0;

	read_ranges(a, &r);
	read_ranges(b, &r);
	if (r.n > 1) {
		qsort(r.v, r.n, sizeof(r.v[0]), by_from);
	}
	for (size_t i = 0; i < r.n; i++) {
		uint64_t from = r.v[i].from > next ? r.v[i].from : next;

		if (r.v[i].to >= from && r.v[i].to < UINT64_MAX) {
			n += r.v[i].to - from + 1;
			next = r.v[i].to + 1;
		}
	}
	vec_finish(&r);
	return n > INT32_MAX ? INT32_MAX : (int64_t)n;
}

int32_t job_status_reclaimable(const struct api_job *job)
{
	const struct api_job_status *s = &job->status;
	int32_t parallelism = batch_parallelism(job);
	bool indexed = str_streq(job->spec.completion_mode, "Indexed");
	int64_t terminal =
		indexed ? count_indexes(s->completed_indexes, s->failed_indexes) : s->succeeded;
	int64_t left;

	if (parallelism <= 1 || terminal <= 0 || job->spec.completions == FIELD_NO_I32) {
		return 0;
	}
	left = job->spec.completions > terminal ? job->spec.completions - terminal : 0;
	return left < parallelism ? (int32_t)(parallelism - left) : 0;
}

/* --- pods ready --------------------------------------------------------------------------------
 */

bool job_status_is_ready(const struct api_job *job)
{
	const struct api_job_status *s = &job->status;

	return (int64_t)s->succeeded + s->ready + (int64_t)s->uncounted.succeeded.n >=
	       batch_pod_count(job);
}

static struct api_condition pods_ready(const struct api_job *job, const struct api_workload *w)
{
	const struct api_condition *old = meta_condition(&w->status.conditions, KUEUE_PODS_READY);
	bool recovers = old != NULL && (str_streq(old->reason, WAIT_FOR_RECOVERY) ||
					str_streq(old->reason, RECOVERED));
	bool was_ready = old != NULL && str_streq(old->status, "True");
	struct api_condition c = { .type = KUEUE_PODS_READY,
				   .status = "False",
				   .reason = WAIT_FOR_START,
				   .message = "Not all pods are ready or succeeded" };

	if (!kueue_condition_is_true(&w->status.conditions, KUEUE_ADMITTED)) {
		return c;
	}
	if (!batch_is_suspended(job) && job_status_is_ready(job)) {
		c.status = "True";
		c.reason = recovers ? RECOVERED : STARTED;
		c.message = "All pods reached readiness and the workload is running";
	} else if (was_ready || recovers) {
		c.reason = WAIT_FOR_RECOVERY;
		c.message = "At least one pod has failed, waiting for recovery";
	}
	return c;
}

/* --- the status --------------------------------------------------------------------------------
 */

static struct api_condition finished(const struct api_job *job,
				     const struct job_status_options *opt)
{
	const struct api_condition *end = batch_finished(job);
	struct api_condition c = { .type = KUEUE_FINISHED, .status = "True" };

	if (opt->finished_reason != NULL) {
		c.reason = opt->finished_reason;
		c.message = opt->finished_message;
	} else if (end != NULL) {
		c.reason = str_streq(end->type, "Complete") ? "Succeeded" : "Failed";
		c.message = end->message == NULL ? "" : end->message;
	}
	return c;
}

/* Says w this already? If so, its time stays. */
static bool settle(struct api_condition *c, const struct api_workload *w, int64_t now)
{
	const struct api_condition *old = meta_condition(&w->status.conditions, c->type);

	c->last_transition = now;
	c->observed_generation = w->meta.generation;
	if (old == NULL || !str_streq(old->status, c->status)) {
		return false;
	}
	if (old->last_transition != FIELD_NO_TIME) {
		c->last_transition = old->last_transition;
	}
	return str_streq(old->reason, c->reason) &&
	       str_streq(old->message == NULL ? "" : old->message,
			 c->message == NULL ? "" : c->message);
}

static int32_t reclaimable(const struct api_job *job, const struct api_workload *w)
{
	int32_t old = kueue_workload_reclaimable(w, JOB_PODSET_MAIN);
	int32_t now = batch_is_suspended(job) ? 0 : job_status_reclaimable(job);

	/* Kueue: never fewer while the quota is held. */
	return kueue_workload_is_reserving(w) && old > now ? old : now;
}

static void write_conditions(struct json_out *o, const struct api_condition *v, size_t n)
{
	json_out_key(o, "conditions");
	json_out_array(o);
	for (size_t i = 0; i < n; i++) {
		char at[CLOCK_RFC3339_MAX];

		clock_format_time(v[i].last_transition, at);
		json_out_object(o);
		json_out_kv(o, "type", v[i].type);
		json_out_kv(o, "status", v[i].status);
		json_out_kv(o, "reason", v[i].reason);
		json_out_kv(o, "message", v[i].message == NULL ? "" : v[i].message);
		json_out_kv(o, "lastTransitionTime", at);
		json_out_kv_int(o, "observedGeneration", v[i].observed_generation);
		json_out_object_end(o);
	}
	json_out_array_end(o);
}

static void write_apply(const struct api_workload *w, const struct api_condition *v, size_t n,
			int32_t pods, struct strbuf *body)
{
	struct json_out o;

	json_out_init(&o, body);
	json_out_object(&o);
	json_out_kv(&o, "apiVersion", KUEUE_API_VERSION);
	json_out_kv(&o, "kind", "Workload");
	json_out_key(&o, "metadata");
	json_out_object(&o);
	json_out_kv(&o, "namespace", w->meta.namespace_);
	json_out_kv(&o, "name", w->meta.name);
	json_out_kv(&o, "uid", w->meta.uid);
	json_out_object_end(&o);
	json_out_key(&o, "status");
	json_out_object(&o);
	write_conditions(&o, v, n);
	if (pods > 0) {
		json_out_key(&o, "reclaimablePods");
		json_out_array(&o);
		json_out_object(&o);
		json_out_kv(&o, "name", JOB_PODSET_MAIN);
		json_out_kv_int(&o, "count", pods);
		json_out_object_end(&o);
		json_out_array_end(&o);
	}
	json_out_object_end(&o);
	json_out_object_end(&o);
	json_out_end(&o);
}

bool job_status_apply(const struct api_job *job, const struct api_workload *w,
		      const struct job_status_options *opt, struct strbuf *body)
{
	struct api_condition v[2];
	size_t n = 0;
	int32_t pods = reclaimable(job, w);
	bool same = pods == kueue_workload_reclaimable(w, JOB_PODSET_MAIN);
	struct api_condition end = finished(job, opt);
	const struct api_condition *old = meta_condition(&w->status.conditions, KUEUE_PODS_READY);

	/* The readiness of what never got quota is no news, nor that of what has ended. */
	if (opt->pods_ready && (kueue_workload_is_reserving(w) || old != NULL)) {
		v[n] = end.reason != NULL && old != NULL ? *old : pods_ready(job, w);
		same &= settle(&v[n++], w, opt->now);
	}
	if (end.reason != NULL) {
		v[n] = end;
		same &= settle(&v[n++], w, opt->now);
	}
	if (same) {
		return false;
	}
	write_apply(w, v, n, pods, body);
	return true;
}
