/* test/unit/scheduler/workloads/status/workload_reconcile_fixture.h: one row of a test of
 * workload_reconcile: the state of a Workload before and after, as short texts. Times are seconds
 * from now; 0 is "none" where a time may be absent. */
#ifndef TEST_UNIT_SCHEDULER_WORKLOADS_STATUS_WORKLOAD_RECONCILE_FIXTURE_H
#define TEST_UNIT_SCHEDULER_WORKLOADS_STATUS_WORKLOAD_RECONCILE_FIXTURE_H

#include "scheduler/workloads/status/workload_reconcile.h"

struct workload_life_row {
	const char *name;
	/* "Type=Status/Reason[@seconds][!message]", blanks of the message as '~'. In `after` every
	 * condition must be named; times only where they matter. */
	const char *before, *after;
	const char *checks, *checks_after; /* "name:State[@seconds+delay]"; after: "name:State" */
	const char *checks_written;        /* in the API; NULL: as before */
	/* "name:open" or "name:closed", with ":disagrees", or ":bare" of one without fields */
	const char *gate_states, *gate_states_after;
	const char *wants, *gates; /* names */
	const char *evictions;     /* "reason[/cause]:count" afterwards */
	const char *events;        /* reasons */
	bool explicit_status, orphan, had_owner, deleted, inactive, checks_unknown;
	bool no_admission; /* although QuotaReserved is True */
	bool gates_off;    /* their feature gate */
	bool unchanged;    /* with gate_states: the status is not written */
	bool local_missing, queueless, cluster_missing, cluster_inactive, cluster_refuses;
	bool local_terminating, cluster_terminating;
	enum quota_stop local_stop, cluster_stop;
	const char *gated_by, *invalid;
	enum workload_reconcile_job job; /* NO_JOB here: it runs */
	int32_t requeues, ran, max_execution;
	int64_t requeue_at;
	int64_t ready, recovery, keep_finished, keep_deactivated; /* limits; 0: none */
	int32_t limit;                                            /* backoffLimitCount; 0: none */
	int32_t requeues_after, ran_after;
	int64_t requeue_at_after, next;
	bool deactivate, removed, owner_removed, released, finalizer_goes;
};

/* Runs each row, and once more on its own result, which must change nothing. */
void workload_reconcile_fixture_check(const struct workload_life_row *rows, size_t n);

#endif
