/* test/play/job_fleet.h: a fleet on which Jobs run, as processes on loopback: a manager cluster
 * with Headgate as the core and as the manager of MultiKueue, and the worker clusters "worker1",
 * "worker2" and "worker3", connected to it, each with Headgate, a node of 4 CPU, and a Job
 * controller, kubelet and kube-scheduler that are played here. There are no queues yet. Owner: one
 * thread. */
#ifndef TEST_PLAY_JOB_FLEET_H
#define TEST_PLAY_JOB_FLEET_H

#include <stdbool.h>
#include <stddef.h>

#define JOB_FLEET_WORKERS 3

struct err;
struct jdoc;
struct job_fleet;
struct stack;

/* gated: replicas get a preemption gate, and the manager opens one at a time. */
int job_fleet_start(bool gated, struct job_fleet **ret, struct err *err);
void job_fleet_stop(struct job_fleet *f, bool keep_logs); /* NULL is fine */

struct stack *job_fleet_manager(const struct job_fleet *f);
struct stack *job_fleet_worker(const struct job_fleet *f, unsigned worker);
/* Restarts the manager of MultiKueue with gates or without. */
int job_fleet_set_gated(struct job_fleet *f, bool gated, struct err *err);
/* While it holds, Jobs on the worker that are evicted keep their pods, and so their quota. */
void job_fleet_hold_victims(struct job_fleet *f, unsigned worker, bool hold);
/* The manager reaches the worker with another kubeconfig from now on, and not with the one before.
 */
int job_fleet_rotate(struct job_fleet *f, unsigned worker, struct err *err);
/* In place of the worker there is a new one, with other certificates, its node and the objects of a
 * manifest; then the manager is given its kubeconfig. The functions below count
 * anew for it. */
int job_fleet_replace(struct job_fleet *f, unsigned worker, const char *manifest, struct err *err);
/* Ends the connections of the manager to a worker, and those that it tries to make. */
void job_fleet_cut(struct job_fleet *f, unsigned worker, bool cut);

/* On how many workers there ever was a Job of this name in namespace default. */
size_t job_fleet_count_jobs(struct job_fleet *f, const char *name);
/* On how many workers the preemption gate of a Workload of such a Job was ever open. */
size_t job_fleet_count_opened(struct job_fleet *f, const char *job);
/* Whether the object, of any kind, has the condition with status True. */
bool job_fleet_is_true(const struct jdoc *object, const char *type);

#endif
