/* scheduler/workloads/conf/kueue_conf.h: Kueue's configuration file (config.kueue.x-k8s.io/v1beta2,
 * Configuration). The table in kueue_conf.c has all its fields; those that decide nothing for the
 * Workload engine are accepted and ignored. Immutable after loading. Errors name the field. Any
 * thread. */
#ifndef SCHEDULER_WORKLOADS_CONF_KUEUE_CONF_H
#define SCHEDULER_WORKLOADS_CONF_KUEUE_CONF_H

#include <stdbool.h>
#include <stddef.h>

#include "api/kueue/custom_kinds.h"
#include "api/kueue/preemption_gate.h"
#include "base/str.h"
#include "scheduler/workloads/conf/kueue_conf_metrics.h"
#include "scheduler/workloads/conf/kueue_conf_owners.h"
#include "scheduler/workloads/conf/kueue_conf_resources.h"
#include "scheduler/workloads/model/quota_model.h"

struct arena;
struct err;
struct jdoc;

/* multiKueue */
struct kueue_conf_multikueue {
	const char *origin;     /* NULL: "multikueue" */
	const char *dispatcher; /* dispatcherName; NULL: all at once */
	/* externalFrameworks: kinds that the manager carries besides; distinct, none of those that
	 * it carries otherwise. */
	struct custom_kinds frameworks;
	bool custom_jobs;              /* the gate without which there are none of them */
	int32_t step_size;             /* of the incremental one; 0 counts as 1 */
	int64_t gc_ns;                 /* gcInterval; 0: never */
	int64_t worker_lost_ns;        /* workerLostTimeout */
	int64_t preemption_timeout_ns; /* singleClusterPreemptionTimeout */
	unsigned preemption_order;     /* enum kueue_conf_preemption_order */
	int64_t window_ns, progress_ns, probe_ns;
	int32_t per_queue; /* Workloads that may preempt at once in one ClusterQueue of a worker */
};
enum kueue_conf_preemption_order {
	KUEUE_CONF_FIRST_SIGNAL, /* as Kueue */
	KUEUE_CONF_CONFIG_ORDER,
	KUEUE_CONF_COST,
};

struct kueue_conf {
	struct arena *arena;          /* holds all below */
	struct quota_options options; /* defaults where the file says nothing */
	struct kueue_conf_resources resources;
	struct quota_times times;
	struct kueue_conf_owners owners;
	struct kueue_conf_metrics metrics;
	struct kueue_conf_multikueue multikueue;
	enum preemption_gate_dialect gate_dialect; /* of the command line, not of the file */
};

typedef void (*kueue_conf_warn_fn)(void *ctx, const char *text);

/* d NULL: defaults. warn is called for each unknown field, for each feature gate that is unknown
 * or not supported, and for each field without effect; may be NULL. */
int kueue_conf_read(const struct jdoc *d, kueue_conf_warn_fn warn, void *ctx,
		    struct kueue_conf **ret, struct err *err);
/* Unknown fields are errors: Kueue refuses such a file, since a mistyped field would be without
 * effect. */
int kueue_conf_read_strict(const struct jdoc *d, kueue_conf_warn_fn warn, void *ctx,
			   struct kueue_conf **ret, struct err *err);
void kueue_conf_destroy(struct kueue_conf *c); /* NULL is fine */
void kueue_conf_destroyp(struct kueue_conf **pc);

#endif
