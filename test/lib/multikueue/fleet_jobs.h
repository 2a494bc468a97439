/* test/lib/multikueue/fleet_jobs.h: Jobs in a fleet_world with the manager of MultiKueue: the core
 * of Kueue on the manager's cluster, and Kueue with a Job controller on each worker, as far as the
 * manager can see them. They act when they are called, each on the objects of its own API server. A
 * Workload has the name of its Job. One thread. */
#ifndef TEST_LIB_MULTIKUEUE_FLEET_JOBS_H
#define TEST_LIB_MULTIKUEUE_FLEET_JOBS_H

#include <stdbool.h>
#include <stdint.h>

struct fleet_world;

struct fleet_job {
	int priority;
	unsigned pods;   /* of one CPU each */
	int64_t grace_s; /* terminationGracePeriodSeconds */
};

/* A Job of one pod and its Workload, which has the quota. */
void fleet_jobs_submit(struct fleet_world *w, const char *name);
void fleet_jobs_submit_as(struct fleet_world *w, const char *name, const struct fleet_job *job);
/* The next act of the core: it admits a Workload with a Ready check, and resumes its Job; evicts
 * one with a check in Retry, suspends its Job, releases the quota when no pod is active, and gives
 * it again; finishes one of which the Job has completed. */
void fleet_jobs_core(struct fleet_world *w, const char *name);
/* It evicts the Workload of its own accord. */
void fleet_jobs_evict(struct fleet_world *w, const char *name);
/* The next act of a worker: it resumes the Job of an admitted replica, and stops that of an evicted
 * one; one that is to be deactivated is evicted, and one of which the Job has completed is
 * finished. */
void fleet_jobs_work(struct fleet_world *w, unsigned worker, const char *name);
/* The replica is deleted, and made again as it was but for its status, as from a backup: another
 * UID. No effect where there is none. */
void fleet_jobs_restore(struct fleet_world *w, unsigned worker, const char *name);
/* The Job's pods have ended. */
void fleet_jobs_finish(struct fleet_world *w, unsigned worker, const char *name);

/* For owners of other kinds: the quota is given, or taken, and what belongs to it is written anew;
 * a condition of the Workload on a server becomes True; a worker deactivates and evicts its
 * replica.
 */
void fleet_jobs_reserve(struct fleet_world *w, const char *name);
void fleet_jobs_release(struct fleet_world *w, const char *name);
void fleet_jobs_set(struct fleet_world *w, int server, const char *name, const char *condition,
		    const char *reason);
void fleet_jobs_deactivate(struct fleet_world *w, unsigned worker, const char *name);

/* All of these are read from the API servers. */
bool fleet_jobs_exists(struct fleet_world *w, int server, const char *name);      /* the Job */
bool fleet_jobs_has_replica(struct fleet_world *w, int server, const char *name); /* the Workload */
bool fleet_jobs_is(struct fleet_world *w, int server, const char *name, const char *condition);
/* The Job has this condition. */
bool fleet_jobs_job_is(struct fleet_world *w, int server, const char *name, const char *condition);
/* The Job has pods: it is not suspended and has not ended. */
bool fleet_jobs_runs(struct fleet_world *w, int server, const char *name);
int fleet_jobs_active(struct fleet_world *w, int server, const char *name);
/* The number of the cluster that is recorded as the winner; -1: none. */
int fleet_jobs_winner(struct fleet_world *w, const char *name);
/* The state of the check is this, and its message contains part. */
bool fleet_jobs_check(struct fleet_world *w, const char *name, const char *state, const char *part);

#endif
