/* scheduler/app/options.h: command-line flags of headgate-scheduler: Volcano's names and defaults,
 * and ours. Tables (ours, Volcano's without effect, those of both daemons) drive parsing, help and
 * defaults. Texts are borrowed from argv.
 */
#ifndef SCHEDULER_APP_OPTIONS_H
#define SCHEDULER_APP_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "obs/daemon_flags.h"

struct err;

enum options_controller { /* bits */
			  OPTIONS_PODGROUP = 1,
			  OPTIONS_QUEUE = 2,
			  OPTIONS_WORKLOAD = 4, /* the Workload engine; not part of "*" */
			  OPTIONS_COST =
				  8, /* preemption-cost, which needs it; not part of "*" either */
			  OPTIONS_ORCHESTRATOR = 16, /* the orchestrator of preemption over
							clusters; runs alone */
			  OPTIONS_MULTIKUEUE = 32,   /* the manager of MultiKueue, with the
							orchestrator; runs alone */
};

struct sched_options {
	struct daemon_flags daemon; /* first */
	const char *scheduler_conf, *kueue_conf, *default_queue;
	const char *listen_address, *healthz_address, *cache_dump_dir;
	const char *lease_namespace, *lease_name, *multikueue_namespace;
	double kube_api_qps;
	int64_t kube_api_burst, gate_workers, reservation_attempts;
	int64_t schedule_period, sync_timeout, reservation_timeout, lease_duration, lease_renew,
		lease_retry; /* ns */
	bool gate_sticky, leader_elect, enable_metrics, enable_healthz, cache_dumper,
		podgroup_per_pod;
	unsigned controllers;            /* enum options_controller */
	unsigned on_reservation_timeout; /* 1: delete */
	unsigned gate_dialect;           /* enum preemption_gate_dialect */
};

/* The whole table, for the reference. */
const struct flags *options_flags(void);
/* 0; 1: help or version was printed, exit 0; -ERR_INVALID: message in err, exit 2. Main thread. */
int options_parse(int argc, char **argv, struct sched_options *ret, struct err *err);
/* After how many ns a request is given up: 5 s, or less with leader election, since a write that is
 * sent at the last moment must end before another replica may lead. */
int64_t options_request_timeout(const struct sched_options *o);

#endif
