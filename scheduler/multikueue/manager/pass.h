/* scheduler/multikueue/manager/pass.h: one call of manager_next: the reading of the objects that
 * its parts share, and the list of actions that they add to. Texts are as in manager.h. Pure. */
#ifndef SCHEDULER_MULTIKUEUE_MANAGER_PASS_H
#define SCHEDULER_MULTIKUEUE_MANAGER_PASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scheduler/multikueue/manager/manager.h"

#define PASS_NONE SIZE_MAX /* no cluster */

struct api_check_state;
struct api_meta;

struct pass {
	const struct manager_view *view;
	const struct api_workload *local;
	const struct api_check_state *check; /* of MultiKueue; NULL: the Workload has none */
	struct arena *arena;
	struct manager_action *v; /* with room for as many as the limits below say */
	size_t n;
	int64_t at;
};

#define PASS_ACTIONS_PER_CLUSTER 2
#define PASS_ACTIONS_PER_OBJECT 2 /* on each cluster; and one on each local object */
#define PASS_ACTIONS_BESIDES 8

/* Adds an action, of which the caller fills in the rest; one about an object of the job. */
struct manager_action *pass_add(struct pass *p, enum manager_act act, size_t cluster);
void pass_add_job(struct pass *p, enum manager_act act, size_t cluster, size_t job);
/* The step names no later time than this. */
void pass_look_again(struct pass *p, int64_t at);

/* --- reading -----------------------------------------------------------------------------------*/

/* Either Workload has finished: with this reason; because the Job did its work or failed at it. */
bool pass_finished_as(const struct api_workload *w, const char *reason);
bool pass_has_finished(const struct api_workload *w);
/* It has a deletionTimestamp. */
bool pass_is_deleted(const struct api_meta *m);
/* The check of MultiKueue has this state. */
bool pass_check_is(const struct pass *p, const char *state);
/* The replica on a cluster that can be reached, unless it is being deleted; NULL: there is none. */
const struct api_workload *pass_replica(const struct manager_cluster *c);
/* As far as is known the cluster has objects of the job. The same, and it can be reached. */
bool pass_knows_job(const struct manager_cluster *c);
bool pass_has_job(const struct manager_cluster *c);
/* Object k there was made for another local object of that name, which is gone. */
bool pass_is_stale(const struct pass *p, const struct manager_cluster *c, size_t k);
/* One of the names of these objects is taken there. */
bool pass_is_job_taken(const struct manager_cluster *c);
/* All local objects have ended; or are sure to, or have. */
bool pass_job_has_ended(const struct pass *p);
bool pass_job_is_ending(const struct pass *p);
/* The cluster of status.clusterName; PASS_NONE: it is not set, or the view does not have it. */
size_t pass_recorded(const struct pass *p);
/* When a cluster that cannot be reached counts as lost for good, wall ns. */
int64_t pass_lost_at(const struct manager_view *v, const struct manager_cluster *c);

/* --- actions that several parts have -----------------------------------------------------------*/

/* Deletes everything of the Workload on this cluster, or on all but one (PASS_NONE: on all), that
 * is not being deleted already. A replica that is needs another write while it holds our finalizer.
 */
void pass_take_back(struct pass *p, size_t i);
void pass_take_back_others(struct pass *p, size_t keep);
/* The message of the check becomes this text, unless it is: for a state that no write of the
 * manager can change. */
void pass_say(struct pass *p, const char *text);
/* The check is Rejected: the Workload can never run. */
void pass_reject(struct pass *p, const char *text);
/* The check is Retry, with a warning: the core evicts the Workload, and it is offered again. */
struct manager_action *pass_retry(struct pass *p, const char *message);
/* The same for a job that runs nowhere any more, so far as is known. One that has ended is not run
 * again (in Kueue it is): the job reconciler finishes the Workload, or the message of the check
 * says that an operator has to look (pass_say_ended). */
void pass_retry_unless_ended(struct pass *p, const char *text);
void pass_say_ended(struct pass *p);
/* The text with the state of the check, as Kueue writes it; the state alone, never NULL. */
const char *pass_with_previous(struct pass *p, const char *text);
const char *pass_state(const struct pass *p);

#endif
