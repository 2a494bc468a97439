/* scheduler/multikueue/fleet/fleet_report.h: the orchestrator as people can see it: an event of the
 * local Workload for each grant and each end of one, with its reason in numbers; metrics; log
 * lines. Owner: the fleet thread. */
#ifndef SCHEDULER_MULTIKUEUE_FLEET_FLEET_REPORT_H
#define SCHEDULER_MULTIKUEUE_FLEET_FLEET_REPORT_H

#include <stdbool.h>
#include <stdint.h>

struct api_multikueue_cluster;
struct fleet_holders;
struct fleet_prices;
struct fleet_replica;
struct fleet_report;
struct fleet_view;
struct fleet_workload;
struct metric_registry;
struct orchestrate_options;
struct recorder;
struct sched_msg;
struct strmap;

/* recorder and options are borrowed. */
struct fleet_report *fleet_report_create(struct metric_registry *counters,
					 struct recorder *recorder,
					 const struct orchestrate_options *options);
void fleet_report_destroy(struct fleet_report *t); /* NULL is fine */

/* The token as it was before the local object is read again. */
struct fleet_report_before {
	bool known; /* the object had been read before */
	int64_t epoch;
	int64_t last_began, last_ended; /* of the last attempt; REPLICA_NOT_SEEN: none */
};
struct fleet_report_before fleet_report_before(const struct fleet_workload *w);
/* The local object was read again: reports the grants and ends that its token shows. */
void fleet_report_change(struct fleet_report *t, struct fleet_workload *w,
			 const struct fleet_report_before *before);
/* Its token cannot be read. */
void fleet_report_lost(struct fleet_report *t, const struct fleet_workload *w, const char *error);
void fleet_report_token_refused(struct fleet_report *t, const struct fleet_workload *w,
				const char *error);
/* The token is about to be given to this cluster: keeps the reason for the event. */
void fleet_report_grant(struct fleet_report *t, struct fleet_workload *w,
			const struct fleet_view *view, const struct fleet_prices *prices,
			const char *cluster);
/* A gate is being opened or closed; and how that write has ended. */
void fleet_report_gate_sent(struct fleet_report *t, const struct fleet_workload *w,
			    struct fleet_replica *r, bool open);
void fleet_report_gate(struct fleet_report *t, const struct fleet_workload *w,
		       const struct fleet_replica *r, const struct sched_msg *m);
/* The CustomResourceDefinition of this worker cluster has no preemption gates. The object of the
 * cluster may be NULL. */
void fleet_report_no_gates(struct fleet_report *t, const struct api_multikueue_cluster *object,
			   const char *cluster);
/* A write of a token or of a gate has ended. */
void fleet_report_request(struct fleet_report *t, const struct sched_msg *m);
/* Reports each replica of the view that now waits for the gate of another controller; to be called
 * before each decision. now: wall ns. */
void fleet_report_view(struct fleet_report *t, struct fleet_workload *w,
		       const struct fleet_view *view, int64_t now);
/* Sets the gauges, every few seconds. workloads: struct fleet_workload by key. now: wall ns. */
void fleet_report_gauges(struct fleet_report *t, const struct strmap *workloads,
			 const struct fleet_holders *holders, int64_t now);

#endif
