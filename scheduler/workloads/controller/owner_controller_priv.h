/* scheduler/workloads/controller/owner_controller_priv.h: shared by owner_controller*.c: the table
 * of owners, their pods and Workloads. Owner: the sched thread. */
#ifndef SCHEDULER_WORKLOADS_CONTROLLER_OWNER_CONTROLLER_PRIV_H
#define SCHEDULER_WORKLOADS_CONTROLLER_OWNER_CONTROLLER_PRIV_H

#include "collections/vec.h"
#include "scheduler/workloads/controller/owner_controller.h"
#include "scheduler/workloads/controller/owner_request.h"
#include "scheduler/workloads/owners/job_plan.h"
#include "scheduler/workloads/owners/owner_plan.h"

struct clock;
struct owner_world;
struct strbuf;
struct strmap;

/* Keys of owners: "job/namespace/name", "pod/..." of pods without group, "group/...". */
#define OWNERS_JOB "job"
#define OWNERS_POD "pod"
#define OWNERS_GROUP "group"

/* Hashes of the writes that the last plan had and this one has, per kind; 0: none. */
struct sent {
	uint64_t before[OWNER_WRITE_COUNT_], now[OWNER_WRITE_COUNT_];
};

/* A Workload that is linked to an owner, or that a Job or a pod names as its own. */
struct workload_entry {
	struct sched_msg *msg; /* of w */
	const struct api_workload *w;
	char *owner; /* key of the owner it is linked to; NULL: none */
	bool is_group;
	uint64_t retired; /* hash of the UID for which a DELETE was sent; 0: none */
};

struct pod_entry {
	struct sched_msg *msg; /* of pod */
	const struct api_pod *pod;
	char *owner; /* key */
	struct sent sent;
	uint64_t started; /* hash of the version of the pod that a start was sent for; 0: none */
};

/* An owner, or only its name, when Workloads of it are known. */
struct owner {
	bool is_job;
	struct sched_msg *msg;               /* of the Job */
	const struct api_job *job;           /* NULL: not there */
	struct VEC(struct pod_entry *) pods; /* oldest first */
	struct VEC(struct workload_entry *) workloads;
	struct sent sent;
	char *creating;   /* key in the pool of the creation that was sent last; NULL: none */
	uint64_t started; /* the same of the Job */
	uint64_t retired; /* hash of the UID of the Job that is to be deleted; 0: none */
};

struct owner_controller {
	struct owner_controller_options opt;
	struct pool *pool;
	const struct clock *clock;
	struct owner_request_target target;
	struct owner_world *world;
	struct owner_plan_env env;
	bool synced;
	char *lent; /* text of the Job that is handled; NULL: none */
	struct strmap *owners, *pods, *workloads;
	struct strmap *prebuilt; /* Workload key -> owner key */
	struct strmap *below;    /* key of a Job or pod -> the Jobs that belong to it */
	struct strmap *believed; /* pods that were judged by their labels alone; NULL: none */
	void (*watch)(void *ctx, struct str key);
	void *watch_ctx;
};

/* "namespace/name", and the key of an owner; they live in b. */
struct str owner_controller_plan_name(struct strbuf *b, const char *namespace_, const char *name);
struct str owner_controller_plan_owner(struct strbuf *b, const char *kind, const char *namespace_,
				       const char *name);

/* The Job, or the pod without group, if it names a prebuilt Workload; NULL: the owner does not. */
const struct api_meta *owner_controller_plan_namer(const struct owner *e);

/* Forgets what was said of the pod, which is gone. */
void owner_controller_hold_gone(struct owner_controller *o, struct str pod);

/* The Job reads as suspended, or the pod as gated, but a write that starts it may be in flight: the
 * object is still as it was when that was sent. */
bool owner_controller_plan_is_starting(const struct owner *e);
bool owner_controller_plan_is_pod_starting(const struct pod_entry *e);

/* Jobs that belong to others: the one that has come under `key` or changed, and before it changes
 * or goes; fn is called with those that belong to e directly. A value of `below`. */
typedef void (*owners_nest_fn)(struct owner_controller *o, struct str key, unsigned depth);
void owner_controller_nest_link(struct owner_controller *o, const struct owner *e, struct str key);
void owner_controller_nest_unlink(struct owner_controller *o, const struct owner *e,
				  struct str key);
void owner_controller_nest_each(struct owner_controller *o, const struct owner *e, struct str key,
				unsigned depth, owners_nest_fn fn);
void owner_controller_nest_free(void *value);
/* Which object queues for the Job of e; e->job is set. */
enum job_plan_place owner_controller_nest_place(const struct owner_controller *o,
						const struct owner *e);

/* Measures latencies: of a Workload of the owner that was not there before; of a pod that is about
 * to be replaced by `now`. */
void owner_controller_times_created(const struct owner_controller *o, const struct owner *e,
				    const struct api_workload *w);
void owner_controller_times_pod(const struct owner_controller *o, const struct owner *e,
				const struct pod_entry *before, const struct api_pod *now);

/* Plans for one owner, and forgets it when nothing is left of it; for all owners. No effect before
 * owner_controller_synced. */
void owner_controller_plan_key(struct owner_controller *o, struct str key);
void owner_controller_plan_all(struct owner_controller *o);

#endif
