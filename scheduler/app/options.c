#include "scheduler/app/options.h"

#include "api/kueue/preemption_gate.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"

#define REQUEST_TIMEOUT_NS (5 * CLOCK_NS_PER_S)
#define AT(kind, member) FLAGS_AT(struct sched_options, kind, member)

static const struct flags_choice controllers[] = {
	{ "podgroup", OPTIONS_PODGROUP },          { "queue", OPTIONS_QUEUE },
	{ "*", OPTIONS_PODGROUP | OPTIONS_QUEUE }, { "workload", OPTIONS_WORKLOAD },
	{ "preemption-cost", OPTIONS_COST },       { "multikueue", OPTIONS_MULTIKUEUE },
	{ "orchestrator", OPTIONS_ORCHESTRATOR },  { NULL, 0 },
};

static const struct flags_choice on_timeout[] = { { "keep", 0 }, { "delete", 1 }, { NULL, 0 } };

static const struct flags_choice gate_dialects[] = {
	{ "auto", PREEMPTION_GATE_AUTO },
	{ "kueue", PREEMPTION_GATE_KUEUE },
	{ "kep-8303", PREEMPTION_GATE_KEP_8303 },
	{ "kep-8303-draft", PREEMPTION_GATE_KEP_8303_DRAFT },
	{ NULL, 0 },
};

static const struct flags_row rows[] = {
	{ "Scheduling", .type = FLAGS_HEADING },
	{ "scheduler-conf", AT(TEXT, scheduler_conf), .arg = "FILE", .unset = "built in",
	  .help = "Actions and tiers; read again when it changes" },
	{ "schedule-period", AT(DURATION, schedule_period), .def = "1s",
	  .help = "Longest time between two scheduling cycles" },
	{ "default-queue", AT(TEXT, default_queue), .arg = "NAME", .def = "default",
	  .help = "Queue for PodGroups that name none" },
	{ "controllers", FLAGS_SET_AT(struct sched_options, controllers, controllers), .def = "*",
	  .help = "Controllers to run; * is podgroup and queue; preemption-cost needs workload; "
		  "multikueue and orchestrator run alone; -NAME disables one" },
	{ "podgroup-per-pod", AT(BOOL, podgroup_per_pod), .def = "false",
	  .help = "Create a PodGroup for each pod without PodGroup and owner, as Volcano does, "
		  "instead of treating it as a group of its own; for tools that read PodGroups" },
	{ "quota-conf", AT(TEXT, kueue_conf), .arg = "FILE", .unset = "built in",
	  .help = "Kueue's Configuration for the Workload engine, read at the start" },
	{ "Gates", .type = FLAGS_HEADING },
	{ "gate-removal-worker-num", AT(INT, gate_workers), .min = 1, .max = 64, .def = "5",
	  .help = "Number of threads that remove gates" },
	{ "reservation-timeout", AT(DURATION, reservation_timeout), .def = "30m",
	  .help = "How long a published pod without a node keeps its quota; 0: "
		  "no limit" },
	{ "on-reservation-timeout",
	  FLAGS_CHOICE_AT(struct sched_options, on_timeout, on_reservation_timeout), .def = "keep",
	  .help = "A pod that another scheduler does not place in that time, or that is beyond a "
		  "lowered limit: keep it, or delete it if a controller creates another one" },
	{ "reservation-attempts", AT(INT, reservation_attempts), .max = 1000000, .def = "0",
	  .help = "After this many reservations without a node, a gang waits until it changes or "
		  "nodes of another shape appear; 0: no limit" },
	{ "gate-sticky", AT(BOOL, gate_sticky), .def = "true",
	  .help = "Keep a pod that has been gated under quota even if its annotation is "
		  "removed" },
	{ "preemption-gate-dialect",
	  FLAGS_CHOICE_AT(struct sched_options, gate_dialects, gate_dialect), .def = "auto",
	  .help = "Names for the preemption gates of Workloads: Kueue's, or those of KEP-8303 or "
		  "its earlier draft; auto: by the CustomResourceDefinition" },
	{ "multikueue-namespace", AT(TEXT, multikueue_namespace), .arg = "NAME",
	  .unset = "the namespace of the process",
	  .help = "Namespace of the Secrets that MultiKueueClusters name" },
	{ "API server", .type = FLAGS_HEADING },
	{ "kube-api-qps", AT(DOUBLE, kube_api_qps), .def = "2000",
	  .help = "Requests per second to the API server; 0: no limit" },
	{ "kube-api-burst", AT(INT, kube_api_burst), .max = 1000000, .def = "2000",
	  .help = "Burst of requests above that rate" },
	{ "resource-sync-timeout", AT(DURATION, sync_timeout), .def = "60s",
	  .help = "Give up when the first lists make no progress for this long" },
	{ "Leader election", .type = FLAGS_HEADING },
	{ "leader-elect", AT(BOOL, leader_elect), .def = "true",
	  .help = "Run only while holding the Lease" },
	{ "leader-elect-lease-duration", AT(DURATION, lease_duration), .def = "15s",
	  .help = "A Lease that is not renewed for this long is lost" },
	{ "leader-elect-renew-deadline", AT(DURATION, lease_renew), .def = "10s",
	  .help = "Stop writing when the Lease is not renewed for this long" },
	{ "leader-elect-retry-period", AT(DURATION, lease_retry), .def = "2s",
	  .help = "Pause between two attempts to get or renew the Lease" },
	{ "leader-elect-resource-name", AT(TEXT, lease_name), .arg = "NAME",
	  .unset = "the first scheduler name, headgate-multikueue or headgate-orchestrator",
	  .help = "Name of the Lease" },
	{ "leader-elect-resource-namespace", AT(TEXT, lease_namespace), .arg = "NAME",
	  .unset = "the namespace of the process", .help = "Namespace of the Lease" },
	{ "lock-object-namespace", AT(TEXT, lease_namespace), .arg = "NAME",
	  .help = "Older name of --leader-elect-resource-namespace" },
	{ "Serving", .type = FLAGS_HEADING },
	{ "listen-address", AT(TEXT, listen_address), .arg = "HOST:PORT", .def = ":8080",
	  .help = "Address for /metrics" },
	{ "healthz-address", AT(TEXT, healthz_address), .arg = "HOST:PORT", .def = ":11251",
	  .help = "Address for /healthz, /livez and /readyz" },
	{ "enable-metrics", AT(BOOL, enable_metrics), .def = "true", .help = "Serve /metrics" },
	{ "enable-healthz", AT(BOOL, enable_healthz), .def = "true",
	  .help = "Serve /healthz, /livez and /readyz" },
	{ "cache-dumper", AT(BOOL, cache_dumper), .def = "true",
	  .help = "Write the cluster as JSON to a file on SIGUSR1" },
	{ "cache-dump-dir", AT(TEXT, cache_dump_dir), .arg = "DIR", .def = "/tmp",
	  .help = "Folder for these dumps" },
	{ .type = FLAGS_END },
};

/* Flags of Volcano's scheduler. Selecting nodes is not supported: the nodes left out would be used
 * nevertheless. */
static const struct flags_row volcano[] = {
	{ "ca-cert-file", .type = FLAGS_IGNORED },
	{ "csi-storage", .type = FLAGS_IGNORED_BOOL },
	{ "disable-default-scheduler-config", .type = FLAGS_IGNORED_BOOL },
	{ "enable-pprof", .type = FLAGS_IGNORED_BOOL },
	{ "ignored-provisioners", .type = FLAGS_IGNORED },
	{ "leader-elect-resource-lock", .type = FLAGS_IGNORED },
	{ "minimum-feasible-nodes", .type = FLAGS_IGNORED },
	{ "minimum-percentage-nodes-to-find", .type = FLAGS_IGNORED },
	{ "node-selector", .type = FLAGS_UNSUPPORTED },
	{ "node-worker-threads", .type = FLAGS_IGNORED },
	{ "percentage-nodes-to-find", .type = FLAGS_IGNORED },
	{ "plugins-dir", .type = FLAGS_IGNORED },
	{ "priority-class", .type = FLAGS_IGNORED_BOOL },
	{ "resync-period", .type = FLAGS_IGNORED },
	{ "scheduler-sharding-mode", .type = FLAGS_UNSUPPORTED, .def = "none" },
	{ "scheduler-sharding-name", .type = FLAGS_IGNORED },
	{ "tls-cert-file", .type = FLAGS_IGNORED },
	{ "tls-private-key-file", .type = FLAGS_IGNORED },
	{ .type = FLAGS_END },
};

const struct flags *options_flags(void)
{
	static const struct flags_row *const tables[] = {
		rows, daemon_flags_rows, flags_help, flags_version, volcano, flags_klog, NULL
	};
	static const struct flags flags = {
		.program = "headgate-scheduler",
		.doc = "Schedules pods of Volcano's Queues and PodGroups and Kueue's Workloads: "
		       "reserves quota, removes scheduling gates, binds and preempts.",
		.tables = tables,
	};

	return &flags;
}

static int check(const struct sched_options *o, struct err *err)
{
	static const struct flags_choice alone[] = { { "multikueue", OPTIONS_MULTIKUEUE },
						     { "orchestrator", OPTIONS_ORCHESTRATOR } };

	if ((o->controllers & OPTIONS_COST) != 0 && (o->controllers & OPTIONS_WORKLOAD) == 0) {
		return err_set(err, ERR_INVALID, "--controllers: preemption-cost needs workload");
	}
	/* multikueue orchestrates, too, where the feature gate is on. */
	for (size_t i = 0; i < ARRAY_LEN(alone); i++) {
		if ((o->controllers & alone[i].value) != 0 && o->controllers != alone[i].value) {
			return err_set(err, ERR_INVALID,
				       "--controllers: %s runs alone, in a process of its own",
				       alone[i].name);
		}
	}
	if (o->lease_renew >= o->lease_duration || o->lease_retry >= o->lease_renew) {
		return err_set(
			err, ERR_INVALID,
			"leader election needs retry period < renew deadline < lease duration");
	}
	if (o->leader_elect && o->lease_duration - o->lease_renew < CLOCK_NS_PER_S) {
		return err_set(err, ERR_INVALID,
			       "--leader-elect-renew-deadline must be 1 s or more below "
			       "--leader-elect-lease-duration: the last write of a leader ends in "
			       "between");
	}
	return 0;
}

int options_parse(int argc, char **argv, struct sched_options *ret, struct err *err)
{
	struct sched_options o = { .daemon = { .master = NULL } };
	int r = daemon_flags_parse(options_flags(), argc, argv, &o.daemon, err);

	if (r == 0) {
		r = check(&o, err);
	}
	if (r == 0) {
		*ret = o;
	}
	return r;
}

int64_t options_request_timeout(const struct sched_options *o)
{
	int64_t spare = o->lease_duration - o->lease_renew;

	return o->leader_elect && spare < REQUEST_TIMEOUT_NS ? spare : REQUEST_TIMEOUT_NS;
}
