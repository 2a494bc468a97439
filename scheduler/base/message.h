/* scheduler/base/message.h: the one message type of the sched thread's queue. A message is made by
 * message_new, filled by its sender, pushed, and freed by the sched thread. It owns an arena that
 * holds all it points to. Any thread makes messages; once one is pushed, only the sched thread
 * counts references to it, and nothing of it changes. */
#ifndef SCHEDULER_BASE_MESSAGE_H
#define SCHEDULER_BASE_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "collections/mpsc_node.h"
#include "scheduler/base/sched_kinds.h"

struct arena;
struct sched_conf;

enum sched_msg_kind {
	SCHED_MSG_UPSERT,     /* an object */
	SCHED_MSG_DELETE,     /* the object with this key is gone */
	SCHED_MSG_BAD_OBJECT, /* an object that did not decode: text says why, object is the
				 readable part of it */
	SCHED_MSG_SYNCED,     /* the first LIST of the resource is complete */
	SCHED_MSG_REFRESHED,  /* all of the resource that was stored when the refresh was requested
				 has been sent */
	SCHED_MSG_REQUEST_DONE, /* outcome of a write to the object */
	SCHED_MSG_LEASE,        /* it is held, or lost */
	SCHED_MSG_CONF,         /* a new configuration */
	SCHED_MSG_SNAPSHOT,     /* a dump is wanted */
	SCHED_MSG_GATE_FIELDS,  /* the fields of preemption gates that the API server serves */
	SCHED_MSG_WATCH,        /* of a worker cluster: lists and watches of the resource fail
				   (status, text) or work again */
	SCHED_MSG_RESOURCE,     /* how an API server serves a kind of the configuration
				   (multikueue/worker/custom_watch.h) */
	SCHED_MSG_SURVEY, /* payload: a worker cluster was read (multikueue/worker/survey.h) */
	SCHED_MSG_STOP,
	SCHED_MSG_KIND_COUNT_
};

enum sched_request {
	SCHED_REQ_UNGATE,
	SCHED_REQ_BIND,
	SCHED_REQ_EVICT,
	SCHED_REQ_POD_STATUS,
	SCHED_REQ_PODGROUP,
	SCHED_REQ_QUEUE,
	SCHED_REQ_WORKLOAD,        /* status of a Workload */
	SCHED_REQ_QUOTA_STATUS,    /* status of a ClusterQueue, LocalQueue or Cohort */
	SCHED_REQ_QUOTA_FINALIZER, /* of a ClusterQueue, ResourceFlavor or AdmissionCheck */
	SCHED_REQ_PREEMPTION_COST, /* status.preemptionCost of a Workload */
	/* By the orchestrator: */
	SCHED_REQ_PREEMPTION_TOKEN, /* an annotation of a local Workload */
	SCHED_REQ_PREEMPTION_GATE,  /* in the status of a replica on a worker cluster */
	/* By the manager of MultiKueue: */
	SCHED_REQ_REPLICA,        /* a Workload on a worker cluster */
	SCHED_REQ_REPLICA_JOB,    /* a Job on a worker cluster */
	SCHED_REQ_DISPATCH,       /* status of the local Workload */
	SCHED_REQ_JOB_STATUS,     /* status of the local Job */
	SCHED_REQ_CLAIM,          /* the node for which the volume of a claim is to be made */
	SCHED_REQ_VOLUME,         /* the claim for which a volume is reserved */
	SCHED_REQ_CLUSTER_STATUS, /* status of a MultiKueueCluster or AdmissionCheck, by the manager
				     of MultiKueue */
	SCHED_REQ_COUNT_
};

/* How a write ended, after retries and after a GET where the outcome was unknown. SCHED_REJECTED
 * may come several times: once for each attempt that was refused. */
enum sched_outcome {
	SCHED_DONE,      /* acknowledged or found done */
	SCHED_GONE,      /* 404 or another UID: the object of the decision is no more */
	SCHED_REJECTED,  /* refused, code and text say why: only a change of the object or of rights
			    helps.  The sender or the cache retries, at growing intervals */
	SCHED_CANCELLED, /* not sent: leadership lost or stopping */
	SCHED_STALE,     /* found in a state that makes the write pointless (bound to another node,
			    being deleted, still gated) */
	SCHED_UNANSWERED, /* the server failed, or gave no answer: it may have had its effect */
};

struct sched_msg {
	struct mpsc_node node; /* first */
	enum sched_msg_kind kind;
	unsigned refs; /* references: the last message_free frees it */
	struct arena *arena;
	/* Where the object is, or was written: 0 for the cluster of this program, else the number
	 * of the connection to a worker cluster. */
	uint64_t source;
	enum sched_resource resource;
	int status;     /* HTTP status of a rejection or failure, 0: none */
	struct str key; /* "namespace/name" or "name" */
	int64_t resource_version;
	/* The api struct of the resource. REQUEST_DONE: what a create has found; NULL: nothing. */
	const void *object;
	const char *text; /* error text */
	/* Owned by the message, until its receiver takes it and sets it to NULL. */
	void *payload;
	void (*free_payload)(void *payload);
	/* CONF: its receiver takes it over. NULL: it did not load, text says why. */
	struct sched_conf *conf;
	/* By kind; all zero in the kinds that are not named. */
	union {
		/* UPSERT, BAD_OBJECT */
		struct {
			struct str json; /* the text, where it is kept (message_json.h) */
			bool reread;     /* by a GET of its own, not from the watch */
		};
		/* REQUEST_DONE */
		struct {
			enum sched_request request;
			enum sched_outcome outcome;
			const char *uid;
			/* To a pod: the queue, node or condition reason; NULL: none. */
			const char *written;
			/* To an object of a job: its key; NULL: it is another one. */
			const char *about;
			/* To a Workload: the number of the write. */
			uint64_t version;
		};
		/* WATCH */
		unsigned reason; /* enum reflector_reason */
		/* RESOURCE */
		const char *plural; /* NULL: the kind cannot be used, text says why */
		/* LEASE */
		struct {
			bool flag;          /* true: it is held */
			int64_t not_before; /* monotonic ns before which nothing may be written */
		};
		/* GATE_FIELDS */
		struct {
			bool known;           /* the definition was read */
			unsigned gate_fields; /* bits of api/kueue/preemption_gate.h */
		};
		/* SNAPSHOT: called for each part of the dump: "cluster", "quota". */
		struct {
			void (*reply)(void *ctx, const char *part, struct str json);
			void *ctx;
		};
	};
};

/* Labels of the metric headgate_requests_total: "ungate", "done". */
const char *message_request_name(enum sched_request r);
const char *message_outcome_name(enum sched_outcome o);
/* An empty message with its arena and one reference. Any thread. */
struct sched_msg *message_new(enum sched_msg_kind kind);
/* Returns m with one more reference: keeps the decoded object without a copy. */
struct sched_msg *message_ref(struct sched_msg *m);
void message_free(struct sched_msg *m); /* drops one reference; NULL is fine */

#endif
