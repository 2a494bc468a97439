#include "scheduler/workloads/metrics/metric_families.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "base/attrs.h"
#include "base/str.h"
#include "base/xmalloc.h"
#include "obs/metric.h"
#include "process/version.h"
#include "scheduler/workloads/conf/kueue_conf.h"
#include "scheduler/workloads/metrics/metric_labels.h"

#define PREFIX "kueue_"
#define ROLE "replica_role"
#define MAX_NAME 80
#define MAX_LABEL_BYTES 120

#if defined(__aarch64__)
#define PLATFORM "linux/arm64"
#elif defined(__x86_64__)
#define PLATFORM "linux/amd64"
#else
#define PLATFORM "linux"
#endif

/* The option that must be on for the family to exist. */
enum condition { ALWAYS, CREATION, RESOURCES, COHORTS, LOCALS, LOCAL_RESOURCES };

#define QUEUE "cluster_queue"
#define CLASS "priority_class"
#define LOCAL "name, namespace"
#define GATE "name"

/* Kueue's bounds in seconds: 1, then from 2.5 each twice the one before. The first NBOUNDS are used
 * by most. */
#define NBOUNDS 14
static const double bounds[] = { 1,   2.5, 5,    10,   20,   40,    80,    160,
				 320, 640, 1280, 2560, 5120, 10240, 20480, 40960 };
/* The Prometheus client's own. */
static const double short_bounds[] = { 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10 };
static const double creation_bounds[] = { 0.01, 0.02, 0.04, 0.08, 0.16, 0.32,
					  0.64, 1.28, 2.56, 5.12, 10.24 };

#define C METRIC_COUNTER
#define G METRIC_GAUGE
#define H METRIC_HISTOGRAM

/* Which object a family describes, and the index of the label with its name; of a LocalQueue the
 * first two labels are its name. */
struct about {
	enum kueue_conf_metrics_kind kind; /* KUEUE_CONF_METRICS_KINDS_: none */
	size_t at;
};

static const struct row {
	const char *name;
	enum metric_type type;
	enum condition condition;
	const char *labels, *help;
} rows[QF_COUNT_] = {
	[QF_ATTEMPTS] = { "admission_attempts_total", C, ALWAYS, "result",
			  "Scheduling cycles by whether a Workload was admitted: success, "
			  "inadmissible" },
	[QF_ATTEMPT_DURATION] = { "admission_attempt_duration_seconds", H, ALWAYS, "result",
				  "How long such a cycle took" },
	[QF_CREATION_LATENCY] = { "workload_creation_latency_seconds", H, CREATION, "job_kind",
				  "From the creation of a Job or pod to that of its Workload" },
	[QF_GATE_REMOVAL] = { "pod_scheduling_gate_removal_seconds", H, ALWAYS,
			      GATE ", " QUEUE ", is_group",
			      "From the admission until a pod is without its scheduling gate" },
	[QF_PENDING] = { "pending_workloads", G, ALWAYS, QUEUE ", status",
			 "Workloads that wait: active (to be tried), inadmissible (for a change)" },
	[QF_HASHES] = { "pending_scheduling_hashes", G, ALWAYS, QUEUE ", status",
			"Distinct scheduling hashes among pending Workloads" },
	[QF_UNADMITTED] = { "unadmitted_workloads", G, ALWAYS, QUEUE ", reason, underlying_cause",
			    "Workloads that do not run, by reasons of Admitted and QuotaReserved" },
	[QF_PREEMPTION_GATED] = { "preemption_gated_workloads", G, ALWAYS, QUEUE ", status",
				  "Workloads that wait and have a closed preemption gate: blocked "
				  "(preemption would admit them, and they ask that the gate be "
				  "opened), gated (it would not, or they have not tried)" },
	[QF_RESERVED_TOTAL] = { "quota_reserved_workloads_total", C, ALWAYS, QUEUE ", " CLASS,
				"Reservations of quota" },
	[QF_RESERVED_WAIT] = { "quota_reserved_wait_time_seconds", H, ALWAYS, QUEUE ", " CLASS,
			       "From creation or requeueing to the reservation" },
	[QF_ADMITTED_TOTAL] = { "admitted_workloads_total", C, ALWAYS, QUEUE ", " CLASS,
				"Admissions" },
	[QF_ADMITTED_WAIT] = { "admission_wait_time_seconds", H, ALWAYS, QUEUE ", " CLASS,
			       "From creation or requeueing to the admission" },
	[QF_CHECKS_WAIT] = { "admission_checks_wait_time_seconds", H, ALWAYS, QUEUE ", " CLASS,
			     "From the reservation to the admission, where there are checks" },
	[QF_READY_WAIT] = { "ready_wait_time_seconds", H, ALWAYS, QUEUE ", " CLASS,
			    "From creation or requeueing until all pods are ready" },
	[QF_ADMITTED_READY_WAIT] = { "admitted_until_ready_wait_time_seconds", H, ALWAYS,
				     QUEUE ", " CLASS, "From admission until all pods are ready" },
	[QF_FINISHED_TOTAL] = { "finished_workloads_total", C, ALWAYS, QUEUE ", " CLASS,
				"Workloads that have finished" },
	[QF_FINISHED] = { "finished_workloads", G, ALWAYS, QUEUE,
			  "Finished Workloads that are still there" },
	[QF_EXECUTION] = { "execution_time_seconds", H, ALWAYS, QUEUE ", " CLASS,
			   "How long finished Workloads were admitted, all times together" },
	[QF_EVICTED_TOTAL] = { "evicted_workloads_total", C, ALWAYS,
			       QUEUE ", reason, underlying_cause, " CLASS, "Evictions" },
	[QF_EVICTED_ONCE_TOTAL] = { "evicted_workloads_once_total", C, ALWAYS,
				    QUEUE ", reason, underlying_cause, " CLASS,
				    "Workloads evicted for the first time for this reason" },
	[QF_EVICTION_LATENCY] = { "workload_eviction_latency_seconds", H, ALWAYS, QUEUE ", reason",
				  "From the eviction until the quota is given back" },
	[QF_READY_TO_EVICTED] = { "pods_ready_to_evicted_time_seconds", H, ALWAYS,
				  QUEUE ", reason, underlying_cause",
				  "From ready pods to the eviction" },
	[QF_PREEMPTED_TOTAL] = { "preempted_workloads_total", C, ALWAYS,
				 "preempting_cluster_queue, reason",
				 "Workloads preempted for one of the queue" },
	[QF_PREEMPTION_SKIPS] = { "admission_cycle_preemption_skips", G, ALWAYS, QUEUE,
				  "Workloads of the last cycle that found victims but may not "
				  "preempt them now" },
	[QF_RECOMPUTATIONS] = { "preemption_target_recomputations_total", C, ALWAYS,
				QUEUE ", result",
				"Victims looked for again because others took the first ones" },
	[QF_RESERVING] = { "reserving_active_workloads", G, ALWAYS, QUEUE,
			   "Workloads that hold quota" },
	[QF_ADMITTED] = { "admitted_active_workloads", G, ALWAYS, QUEUE,
			  "Admitted Workloads that have not finished" },
	[QF_STATUS] = { "cluster_queue_status", G, ALWAYS, QUEUE ", status",
			"1 for the one of pending, active, terminating that it is" },
	[QF_INFO] = { "cluster_queue_info", G, ALWAYS, QUEUE ", parent_cohort, root_cohort",
		      "1; where it stands" },
	[QF_SHARE] = { "cluster_queue_weighted_share", G, ALWAYS, QUEUE ", cohort",
		       "Weighted share, with fair sharing" },
	[QF_RESERVATION] = { "cluster_queue_resource_reservation", G, RESOURCES,
			     "cohort, " QUEUE ", flavor, resource", "Quota that is held" },
	[QF_USAGE] = { "cluster_queue_resource_usage", G, RESOURCES,
		       "cohort, " QUEUE ", flavor, resource",
		       "Quota that admitted Workloads hold" },
	[QF_RESOURCE_PENDING] = { "cluster_queue_resource_pending", G, RESOURCES,
				  QUEUE ", resource", "What those that wait ask for" },
	[QF_NOMINAL] = { "cluster_queue_nominal_quota", G, RESOURCES,
			 "cohort, " QUEUE ", flavor, resource", "nominalQuota" },
	[QF_BORROWING_LIMIT] = { "cluster_queue_borrowing_limit", G, RESOURCES,
				 "cohort, " QUEUE ", flavor, resource",
				 "borrowingLimit, +Inf without" },
	[QF_LENDING_LIMIT] = { "cluster_queue_lending_limit", G, RESOURCES,
			       "cohort, " QUEUE ", flavor, resource",
			       "lendingLimit, +Inf without" },
	[QF_COHORT_SHARE] = { "cohort_weighted_share", G, ALWAYS, "cohort",
			      "Weighted share, with fair sharing" },
	[QF_COHORT_INFO] = { "cohort_info", G, COHORTS, "cohort, parent_cohort, root_cohort",
			     "1; where it stands" },
	[QF_COHORT_QUOTA] = { "cohort_subtree_quota", G, COHORTS, "cohort, flavor, resource",
			      "Quota of the cohort and of all below, as far as it is lent" },
	[QF_COHORT_RESERVATIONS] = { "cohort_subtree_resource_reservations", G, COHORTS,
				     "cohort, flavor, resource", "Quota held by all below" },
	[QF_COHORT_ADMITTED_TOTAL] = { "cohort_subtree_admitted_workloads_total", C, COHORTS,
				       "cohort, " CLASS, "Admissions in all queues below" },
	[QF_COHORT_ADMITTED] = { "cohort_subtree_admitted_active_workloads", G, COHORTS, "cohort",
				 "Admitted Workloads of all below" },
	[QF_LOCAL_PENDING] = { "local_queue_pending_workloads", G, LOCALS, LOCAL ", status",
			       "As kueue_pending_workloads" },
	[QF_LOCAL_UNADMITTED] = { "local_queue_unadmitted_workloads", G, LOCALS,
				  LOCAL ", " QUEUE ", reason, underlying_cause",
				  "As kueue_unadmitted_workloads" },
	[QF_LOCAL_RESERVED_TOTAL] = { "local_queue_quota_reserved_workloads_total", C, LOCALS,
				      LOCAL ", " CLASS, "Reservations of quota" },
	[QF_LOCAL_RESERVED_WAIT] = { "local_queue_quota_reserved_wait_time_seconds", H, LOCALS,
				     LOCAL ", " CLASS,
				     "From creation or requeueing to the reservation" },
	[QF_LOCAL_ADMITTED_TOTAL] = { "local_queue_admitted_workloads_total", C, LOCALS,
				      LOCAL ", " CLASS, "Admissions" },
	[QF_LOCAL_ADMITTED_WAIT] = { "local_queue_admission_wait_time_seconds", H, LOCALS,
				     LOCAL ", " CLASS,
				     "From creation or requeueing to the admission" },
	[QF_LOCAL_CHECKS_WAIT] = { "local_queue_admission_checks_wait_time_seconds", H, LOCALS,
				   LOCAL ", " CLASS,
				   "From the reservation to the admission, where there are "
				   "checks" },
	[QF_LOCAL_READY_WAIT] = { "local_queue_ready_wait_time_seconds", H, LOCALS,
				  LOCAL ", " CLASS,
				  "From creation or requeueing until all pods are ready" },
	[QF_LOCAL_ADMITTED_READY_WAIT] = { "local_queue_admitted_until_ready_wait_time_seconds", H,
					   LOCALS, LOCAL ", " CLASS,
					   "From admission until all pods are ready" },
	[QF_LOCAL_FINISHED_TOTAL] = { "local_queue_finished_workloads_total", C, LOCALS,
				      LOCAL ", " CLASS, "Workloads that have finished" },
	[QF_LOCAL_FINISHED] = { "local_queue_finished_workloads", G, LOCALS, LOCAL,
				"Finished Workloads that are still there" },
	[QF_LOCAL_EXECUTION] = { "local_queue_execution_time_seconds", H, LOCALS, LOCAL ", " CLASS,
				 "How long finished Workloads were admitted, all times "
				 "together" },
	[QF_LOCAL_EVICTED_TOTAL] = { "local_queue_evicted_workloads_total", C, LOCALS,
				     LOCAL ", reason, underlying_cause, " CLASS, "Evictions" },
	[QF_LOCAL_RESERVING] = { "local_queue_reserving_active_workloads", G, LOCALS, LOCAL,
				 "Workloads that hold quota" },
	[QF_LOCAL_ADMITTED] = { "local_queue_admitted_active_workloads", G, LOCALS, LOCAL,
				"Admitted Workloads that have not finished" },
	[QF_LOCAL_STATUS] = { "local_queue_status", G, LOCALS, LOCAL ", active",
			      "1 for the one of True, False, Unknown that its condition Active "
			      "is" },
	[QF_LOCAL_FAIR_USAGE] = { "local_queue_admission_fair_sharing_usage", G, LOCALS,
				  LOCAL ", " QUEUE, "Usage that admission fair sharing orders by" },
	[QF_LOCAL_RESERVATION] = { "local_queue_resource_reservation", G, LOCAL_RESOURCES,
				   LOCAL ", flavor, resource", "Quota that is held" },
	[QF_LOCAL_USAGE] = { "local_queue_resource_usage", G, LOCAL_RESOURCES,
			     LOCAL ", flavor, resource", "Quota that admitted Workloads hold" },
};

struct metric_families {
	struct metric_family *v[QF_COUNT_]; /* NULL: switched off */
	size_t nlabels[QF_COUNT_];          /* without the role and those that are added */
	struct about about[QF_COUNT_];
	struct metric_labels *added;
	const char *role;
};

static bool is_on(enum condition c, const struct kueue_conf_metrics *conf)
{
	switch (c) {
	case ALWAYS:
		return true;
	case CREATION:
		return conf->creation_latency;
	case RESOURCES:
		return conf->queue_resources;
	case COHORTS:
		return conf->cohorts;
	case LOCALS:
		return conf->local_queues;
	case LOCAL_RESOURCES:
		return conf->local_queues && conf->queue_resources;
	}
	return false;
}

/* Cuts "a, b" into names, which live in `text`. */
static size_t split(const char *labels, char text[MAX_LABEL_BYTES],
		    const char *out[METRIC_MAX_LABELS + 1])
{
	struct str rest = str_of(labels);
	size_t n = 0, at = 0;

	while (rest.len > 0) {
		struct str one = str_next(&rest, ',');

		while (one.len > 0 && one.p[0] == ' ') {
			one.p++;
			one.len--;
		}
		assert(at + one.len < MAX_LABEL_BYTES && n < METRIC_MAX_LABELS);
		memcpy(text + at, one.p, one.len);
		text[at + one.len] = '\0';
		out[n++] = text + at;
		at += one.len + 1;
	}
	assert(n > 0);
	return n;
}

static struct about find_about(const char *const *labels, size_t n)
{
	if (str_streq(labels[0], "name") && n > 1 && str_streq(labels[1], "namespace")) {
		return (struct about){ KUEUE_CONF_METRICS_LOCAL_QUEUE, 0 };
	}
	for (size_t i = 0; i < n; i++) {
		if (str_has_suffix(str_of(labels[i]), QUEUE)) {
			return (struct about){ KUEUE_CONF_METRICS_CLUSTER_QUEUE, i };
		}
	}
	return (struct about){ str_streq(labels[0], "cohort") ? KUEUE_CONF_METRICS_COHORT
							      : KUEUE_CONF_METRICS_KINDS_,
			       0 };
}

/* Kueue's buckets of each family. */
static const double *choose_bounds(enum metric_families_id id, size_t *ret_n)
{
	if (id == QF_ATTEMPT_DURATION || id == QF_GATE_REMOVAL) {
		*ret_n = ARRAY_LEN(short_bounds);
		return short_bounds;
	}
	if (id == QF_CREATION_LATENCY) {
		*ret_n = ARRAY_LEN(creation_bounds);
		return creation_bounds;
	}
	*ret_n = id == QF_EXECUTION || id == QF_LOCAL_EXECUTION || id == QF_ADMITTED_WAIT
			 ? ARRAY_LEN(bounds)
			 : NBOUNDS;
	return bounds;
}

static struct metric_family *make(struct metric_registry *r, enum metric_families_id id,
				  const char *const *labels)
{
	const struct row *row = &rows[id];
	CLEANUP(xmalloc_freep) char *name = xmalloc_printf(PREFIX "%s", row->name);
	const double *list;
	size_t n;

	if (row->type != METRIC_HISTOGRAM) {
		return metric_register(r, name, row->help, row->type, labels);
	}
	list = choose_bounds(id, &n);
	return metric_register_histogram(r, name, row->help, labels, list, n);
}

/* Of every replica, as long as it lives; dashboards ask for the labels of Kueue's. */
static void set_build_info(struct metric_registry *r)
{
	static const char *const labels[] = { "git_version", "git_commit", "build_date",
					      "go_version",  "compiler",   "platform",
					      NULL };
	static const char *const values[] = { "v" HEADGATE_VERSION, "",      "", "",
					      "C " __VERSION__,     PLATFORM };

	metric_cell_set(metric_cell(metric_register(r, PREFIX "build_info", "1; what was built",
						    METRIC_GAUGE, labels),
				    values),
			1);
}

struct metric_families *metric_families_create(struct metric_registry *r,
					       const struct kueue_conf_metrics *conf,
					       const char *role)
{
	struct metric_families *f = xmalloc_zero(1, sizeof(*f));

	f->role = role;
	f->added = metric_labels_create(conf);
	set_build_info(r);
	for (int i = 0; i < QF_COUNT_; i++) {
		char text[MAX_LABEL_BYTES];
		const char *labels[METRIC_MAX_LABELS + 1];
		size_t n = split(rows[i].labels, text, labels);

		f->nlabels[i] = n;
		f->about[i] = find_about(labels, n);
		labels[n++] = ROLE;
		n += metric_labels_names(f->added, f->about[i].kind, labels + n);
		if (i == QF_ADMITTED) {
			n += metric_labels_names(f->added, KUEUE_CONF_METRICS_WORKLOAD, labels + n);
		}
		labels[n] = NULL;
		if (is_on(rows[i].condition, conf)) {
			f->v[i] = make(r, (enum metric_families_id)i, labels);
		}
	}
	return f;
}

void metric_families_destroy(struct metric_families *f)
{
	if (f != NULL) {
		metric_labels_destroy(f->added);
		free(f);
	}
}

bool metric_families_has(const struct metric_families *f, enum metric_families_id id)
{
	return f->v[id] != NULL;
}

/* Values of the labels that the configuration adds. False: it is about a LocalQueue of which there
 * are no metrics. */
static bool add_values(const struct metric_families *f, const struct about *about,
		       const char *const *values, const char **ret)
{
	CLEANUP(xmalloc_freep) char *local = NULL;
	struct str key = str_of(values[about->at]);

	if (!metric_labels_matter(f->added, about->kind)) {
		return true;
	}
	if (about->kind == KUEUE_CONF_METRICS_LOCAL_QUEUE) {
		local = xmalloc_printf("%s/%s", values[1], values[0]);
		key = str_of(local);
	}
	(void)metric_labels_values(f->added, about->kind, key, ret);
	return about->kind != KUEUE_CONF_METRICS_LOCAL_QUEUE || metric_labels_shows(f->added, key);
}

/* NULL: the configuration switches it off. */
static struct metric_cell *cell(struct metric_families *f, enum metric_families_id id,
				const char *const *values)
{
	const char *all[METRIC_MAX_LABELS] = { NULL };
	size_t n = f->nlabels[id];

	if (f->v[id] == NULL) {
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		/* A value that is not known is an empty label. */
		all[i] = values[i] == NULL ? "" : values[i];
	}
	all[n] = f->role;
	return add_values(f, &f->about[id], all, all + n + 1) ? metric_cell(f->v[id], all) : NULL;
}

void metric_families_add(struct metric_families *f, enum metric_families_id id,
			 const char *const *values, double n)
{
	struct metric_cell *c = cell(f, id, values);

	if (c != NULL) {
		metric_cell_add(c, n);
	}
}

void metric_families_set(struct metric_families *f, enum metric_families_id id,
			 const char *const *values, double value)
{
	struct metric_cell *c = cell(f, id, values);

	assert(id != QF_ADMITTED);
	if (c != NULL) {
		metric_cell_set(c, value);
	}
}

size_t metric_families_sorts(const struct metric_families *f)
{
	return metric_labels_sorts(f->added);
}

size_t metric_families_sort(const struct metric_families *f, struct str key)
{
	return metric_labels_sort(f->added, key);
}

void metric_families_admitted(struct metric_families *f, const char *queue, size_t sort,
			      double value)
{
	const char *all[METRIC_MAX_LABELS] = { queue, f->role };
	size_t n = 2;

	n += metric_labels_values(f->added, KUEUE_CONF_METRICS_CLUSTER_QUEUE, str_of(queue),
				  all + n);
	(void)metric_labels_sort_values(f->added, sort, all + n);
	metric_cell_set(metric_cell(f->v[QF_ADMITTED], all), value);
}

void metric_families_observe(struct metric_families *f, enum metric_families_id id,
			     const char *const *values, double seconds)
{
	struct metric_cell *c = cell(f, id, values);

	if (c != NULL) {
		/* Times come from the clocks of several machines: an end may lie before its
		 * beginning. */
		metric_cell_observe(c, seconds < 0 ? 0 : seconds);
	}
}

/* Skips are of the last cycle and set by it, the other gauges by a pass over the model. */
static bool is_replaced_as_a_whole(const struct metric_families *f, int id)
{
	return f->v[id] != NULL && rows[id].type == METRIC_GAUGE && id != QF_PREEMPTION_SKIPS;
}

void metric_families_begin(struct metric_families *f)
{
	for (int i = 0; i < QF_COUNT_; i++) {
		if (is_replaced_as_a_whole(f, i)) {
			metric_begin(f->v[i]);
		}
	}
}

void metric_families_end(struct metric_families *f)
{
	for (int i = 0; i < QF_COUNT_; i++) {
		if (is_replaced_as_a_whole(f, i)) {
			metric_end(f->v[i]);
		}
	}
}

/* Gauges go with the next pass. */
static void forget(struct metric_families *f, const char *labels, const char *const *values,
		   size_t n)
{
	for (int i = 0; i < QF_COUNT_; i++) {
		if (f->v[i] != NULL && !is_replaced_as_a_whole(f, i) &&
		    str_has_prefix(str_of(rows[i].labels), labels)) {
			metric_remove_where(f->v[i], values, n);
		}
	}
}

static void forget_local(struct metric_families *f, struct str key)
{
	struct str name = key, space = str_next(&name, '/');
	CLEANUP(xmalloc_freep) char *n = xmalloc_dup_n(name.p, name.len);
	CLEANUP(xmalloc_freep) char *namespace_ = xmalloc_dup_n(space.p, space.len);

	forget(f, LOCAL, (const char *const[]){ n, namespace_ }, 2);
}

static void forget_object(struct metric_families *f, enum sched_resource r, struct str key)
{
	CLEANUP(xmalloc_freep) char *copy = xmalloc_dup_n(key.p, key.len);
	const char *name = copy;

	if (r == SCHED_LOCAL_QUEUES) {
		forget_local(f, key);
	} else if (r == SCHED_COHORTS) {
		forget(f, "cohort, " CLASS, &name, 1);
	} else {
		/* By the labels with which a family begins: the name of a ClusterQueue is in three
		 * of them. */
		forget(f, QUEUE, &name, 1);
		forget(f, "preempting_" QUEUE, &name, 1);
		forget(f, GATE ", " QUEUE, (const char *const[]){ KUEUE_GATE_ADMISSION, name }, 2);
	}
}

void metric_families_seen(struct metric_families *f, enum sched_resource r, struct str key,
			  const struct api_meta *m)
{
	enum kueue_conf_metrics_kind kind = r == SCHED_LOCAL_QUEUES ? KUEUE_CONF_METRICS_LOCAL_QUEUE
					    : r == SCHED_COHORTS    ? KUEUE_CONF_METRICS_COHORT
								 : KUEUE_CONF_METRICS_CLUSTER_QUEUE;

	if ((r == SCHED_CLUSTER_QUEUES || r == SCHED_COHORTS || r == SCHED_LOCAL_QUEUES) &&
	    metric_labels_seen(f->added, kind, key, m)) {
		forget_object(f, r, key);
	}
}

void metric_families_workload(struct metric_families *f, struct str key, const struct api_meta *m)
{
	metric_labels_workload(f->added, key, m);
}

struct metric_families_row metric_families_describe(enum metric_families_id id)
{
	static const char *const types[] = { [METRIC_COUNTER] = "counter",
					     [METRIC_GAUGE] = "gauge",
					     [METRIC_HISTOGRAM] = "histogram" };
	const struct row *row = &rows[id];

	return (struct metric_families_row){ row->name, types[row->type], row->labels, row->help };
}
