#include "scheduler/workloads/status/workload_checks.h"

#include <stdlib.h>
#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "base/arena.h"
#include "base/clock.h"

void workload_checks_delay(struct workload_reconcile *l)
{
	/* Several checks may ask for a pause: the longest one counts, and none shortens it. */
	int64_t latest = l->s->requeue_at;

	for (size_t i = 0; i < l->status->checks.n; i++) {
		const struct workload_status_check *k = &l->status->checks.v[i];
		int64_t until;

		if (k->state != QUOTA_CHECK_RETRY || k->requeue_after <= 0 ||
		    __builtin_add_overflow(k->at, k->requeue_after * CLOCK_NS_PER_S, &until)) {
			continue;
		}
		if (latest == MODEL_TIME_NONE || until > latest) {
			latest = until;
		}
	}
	if (latest != l->s->requeue_at) {
		l->s->requeue_at = latest;
		l->out->changed = true;
	}
}

static bool is_wanted(const struct workload_reconcile_in *in, const char *name)
{
	for (size_t i = 0; i < in->nchecks; i++) {
		if (str_streq(in->checks[i], name)) {
			return true;
		}
	}
	return false;
}

static bool is_listed(const struct workload_status *status, const char *name)
{
	for (size_t i = 0; i < status->checks.n; i++) {
		if (str_streq(status->checks.v[i].name, name)) {
			return true;
		}
	}
	return false;
}

static int by_name(const void *a, const void *b)
{
	const struct workload_status_check *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static const struct workload_status_check *find_written(const struct workload_reconcile *l,
							const char *name)
{
	const struct workload_status *written = l->in->written;

	for (size_t i = 0; written != NULL && i < written->checks.n; i++) {
		if (str_streq(written->checks.v[i].name, name)) {
			return &written->checks.v[i];
		}
	}
	return NULL;
}

/* A check that its ClusterQueue asks for is pending at first. One that was taken off and asked for
 * again before that was written is as the API has it; an eviction resets it. */
static struct workload_status_check make_check(const struct workload_reconcile *l, const char *name)
{
	const struct workload_status_check *old = find_written(l, name);
	struct workload_status_check new = { .name = arena_dup(l->status->arena, name),
					     .message = "",
					     .state = QUOTA_CHECK_PENDING,
					     .at = l->now };

	if (old == NULL) {
		return new;
	}
	if (workload_status_is_true(l->status, KUEUE_EVICTED)) {
		new.retries = old->retries;
		new.drops_updates = old->has_updates;
		return new;
	}
	new.state = old->state;
	new.at = old->at;
	new.message = arena_dup(l->status->arena, old->message);
	new.retries = old->retries;
	new.requeue_after = old->requeue_after;
	new.has_updates = old->has_updates;
	new.drops_updates = old->drops_updates;
	return new;
}

void workload_checks_sync(struct workload_reconcile *l)
{
	struct workload_status *status = l->status;
	size_t kept = 0, had = status->checks.n;

	/* Flavors are not chosen yet, and the checks depend on them: none may be taken off. */
	if (!l->in->checks_known) {
		return;
	}
	for (size_t i = 0; i < had; i++) {
		if (is_wanted(l->in, status->checks.v[i].name)) {
			status->checks.v[kept++] = status->checks.v[i];
		}
	}
	status->checks.n = kept;
	for (size_t i = 0; i < l->in->nchecks; i++) {
		if (!is_listed(status, l->in->checks[i])) {
			vec_push(&status->checks, make_check(l, l->in->checks[i]));
		}
	}
	/* By name, as Kueue writes them: the order of the ClusterQueue's list does not change the
	 * status. */
	if (kept != had || status->checks.n != kept) {
		l->out->changed = true;
		qsort(status->checks.v, status->checks.n, sizeof(status->checks.v[0]), by_name);
	}
}

/* Those that are asked for must be there and all that are there must be Ready: a check that was
 * just added has no entry yet. */
bool workload_checks_ready(const struct workload_reconcile *l)
{
	for (size_t i = 0; i < l->in->nchecks; i++) {
		if (!is_listed(l->status, l->in->checks[i])) {
			return false;
		}
	}
	for (size_t i = 0; i < l->status->checks.n; i++) {
		if (l->status->checks.v[i].state != QUOTA_CHECK_READY) {
			return false;
		}
	}
	return true;
}

/* `"a" (message of a); "b"`, of the checks in a state; NULL: none is. Names are quoted as they are:
 * they are DNS names. */
static const char *describe(const struct workload_status *status, enum quota_check_state state,
			    size_t *ret_count)
{
	const char *text = NULL;

	*ret_count = 0;
	for (size_t i = 0; i < status->checks.n; i++) {
		const struct workload_status_check *k = &status->checks.v[i];
		bool has_message = k->message != NULL && k->message[0] != '\0';

		if (k->state != state) {
			continue;
		}
		text = arena_printf(status->arena, "%s%s\"%s\"%s%s%s", text == NULL ? "" : text,
				    text == NULL ? "" : "; ", k->name, has_message ? " (" : "",
				    has_message ? k->message : "", has_message ? ")" : "");
		(*ret_count)++;
	}
	return text;
}

/* A rejected check ends the Workload: it is marked, and deactivated in a later call. One that asks
 * for a retry ends this admission only: an eviction resets all checks. */
bool workload_checks_judge(struct workload_reconcile *l)
{
	struct workload_status *status = l->status;
	size_t n;
	const char *which = describe(status, QUOTA_CHECK_REJECTED, &n);

	if (which != NULL) {
		const char *message =
			arena_printf(status->arena, "AdmissionCheck%s in Rejected state: %s",
				     n > 1 ? "s" : "", which);

		if (workload_reconcile_set(l, KUEUE_DEACTIVATION_TARGET, true,
					   KUEUE_REASON_ADMISSION_CHECK, message)) {
			workload_reconcile_event(
				l, true, "AdmissionCheckRejected",
				arena_printf(status->arena, "Deactivated due to %s", message));
		}
		return true;
	}
	/* Rejected goes before Retry: it ends the Workload, so a retry would be in vain. */
	which = describe(status, QUOTA_CHECK_RETRY, &n);
	if (which == NULL) {
		return false;
	}
	workload_reconcile_evict(l, KUEUE_REASON_ADMISSION_CHECK, "",
				 arena_printf(status->arena,
					      "Evicted due to AdmissionCheck%s in Retry state: %s",
					      n > 1 ? "s" : "", which));
	return true;
}
