/* scheduler/app/options.h: command-line flags of headgate-scheduler: Volcano's names and defaults,
 * and ours. One table (options.c) drives parsing, help and defaults. Flags of Volcano that have no
 * meaning here are accepted and named in one log line. */
#ifndef SCHEDULER_APP_OPTIONS_H
#define SCHEDULER_APP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OPTIONS_MAX_NAMES 16

struct err;

struct sched_options {
	char *master, *kubeconfig, *scheduler_conf, *kueue_conf, *default_queue;
	char *listen_address, *healthz_address, *metrics_token, *cache_dump_dir, *controllers,
		*feature_gates, *log_format;
	char *lease_namespace, *lease_name;
	char *scheduler_names[OPTIONS_MAX_NAMES + 1]; /* NULL-terminated */
	size_t scheduler_name_count;
	double kube_api_qps;
	int64_t kube_api_burst, gate_workers, verbosity, reservation_attempts;
	int64_t schedule_period, sync_timeout, reservation_timeout, lease_duration, lease_renew,
		lease_retry; /* ns */
	bool gate_sticky, leader_elect, enable_metrics, enable_healthz, cache_dumper, version;
	/* Derived by options_parse: */
	bool gates_admission; /* feature gate SchedulingGatesQueueAdmission */
	/* From --controllers: */
	bool controller_podgroup, controller_queue;
	bool controller_workload; /* the Workload engine; not part of "*" */
	bool controller_cost;     /* preemption-cost, which needs it; not part of "*" either */
	char *ignored[64];        /* accepted flags without meaning here */
	size_t ignored_count;
};

/* 0; 1: help or version was printed, exit 0; -ERR_INVALID: message in err, exit 2. Main thread. */
int options_parse(int argc, char **argv, struct sched_options *ret, struct err *err);
void options_finish(struct sched_options *o);

#endif
