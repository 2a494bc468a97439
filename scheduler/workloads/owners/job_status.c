#include "scheduler/workloads/owners/job_status.h"

#include <stdlib.h>

#include "api/core/batch.h"
#include "api/kueue/kueue_workload.h"
#include "collections/vec.h"
#include "scheduler/workloads/owners/owner_spec.h"
#include "scheduler/workloads/owners/owner_status.h"

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

		/* Ranges may overlap: `next` is the first index that was not counted. The largest
		 * number cannot be passed. */
		if (r.v[i].to >= from && r.v[i].to < UINT64_MAX) {
			n += r.v[i].to - from + 1;
			next = r.v[i].to + 1;
		}
	}
	vec_finish(&r);
	return n > INT32_MAX ? INT32_MAX : (int64_t)n;
}

/* Kueue: when fewer completions are left than pods run at once, the others have nothing left to do.
 * Of an Indexed Job, indexes that failed for good count as well. */
int32_t job_status_reclaimable(const struct api_job *job)
{
	const struct api_job_status *s = &job->status;
	int32_t pods = batch_pod_count(job);
	bool indexed = str_streq(job->spec.completion_mode, "Indexed");
	int64_t terminal =
		indexed ? count_indexes(s->completed_indexes, s->failed_indexes) : s->succeeded;
	int64_t left;

	if (pods <= 1 || terminal <= 0 || job->spec.completions == FIELD_NO_I32) {
		return 0;
	}
	left = job->spec.completions > terminal ? job->spec.completions - terminal : 0;
	return left < pods ? (int32_t)(pods - left) : 0;
}

/* --- the status --------------------------------------------------------------------------------
 */

/* Kubernetes counts a pod that has succeeded when its finalizer is removed; until then it is among
 * the uncounted ones. */
bool job_status_is_ready(const struct api_job *job)
{
	const struct api_job_status *s = &job->status;

	return (int64_t)s->succeeded + s->ready + (int64_t)s->uncounted.succeeded.n >=
	       batch_pod_count(job);
}

bool job_status_apply(const struct api_job *job, const struct api_workload *w,
		      const struct job_status_options *opt, struct strbuf *body)
{
	bool runs = !batch_is_suspended(job);
	const struct api_condition *end = batch_finished(job);
	const struct owner_status_pods pods = { OWNER_SPEC_MAIN,
						runs ? job_status_reclaimable(job) : 0 };
	struct owner_status s = { .pods_ready = opt->pods_ready,
				  .ready = runs && job_status_is_ready(job),
				  .finished_reason = opt->finished_reason,
				  .finished_message = opt->finished_message,
				  .pods = &pods,
				  .npods = 1,
				  .now = opt->now };

	if (s.finished_reason == NULL && end != NULL) {
		s.finished_reason = str_streq(end->type, "Complete") ? "Succeeded" : "Failed";
		s.finished_message = end->message == NULL ? "" : end->message;
	}
	return owner_status_apply(&s, w, body);
}
