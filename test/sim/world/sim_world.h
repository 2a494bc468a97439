/* test/sim/world/sim_world.h: shared by all parts of a run: seed, virtual time, the API server,
 * faults, requests without a sender, the trace and the verdict. A run is a pure function of its
 * seed and options. Owner: the run. */
#ifndef TEST_SIM_WORLD_SIM_WORLD_H
#define TEST_SIM_WORLD_SIM_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "apiserver/apiserver.h"
#include "base/clock.h"
#include "base/rng.h"
#include "collections/list.h"
#include "collections/vec.h"
#include "sim/world/sim_faults.h"

#define SIM_TRACE_LINES 400
#define SIM_TRACE_WIDTH 240

struct sim_view;
struct sim_webhook;

/* Of the scheduler, since the last half step: an operator may have edited the file. */
enum sim_configuration {
	SIM_CONFIGURATION_SAME,
	SIM_CONFIGURATION_CHANGED,
	SIM_CONFIGURATION_BROKEN, /* it does not load */
};

enum sim_actor { SIM_USER, SIM_CLUSTER /* kubelets, autoscaler */, SIM_SCHEDULER };

/* A half step that could be done now. */
struct sim_choice {
	void (*run)(void *owner, void *arg);
	void *owner, *arg;
	unsigned weight;
};

struct sim_choices {
	struct VEC(struct sim_choice) list;
	uint64_t weight;
	int64_t wake_at; /* monotonic ns of the next step that becomes possible by time */
};

/* The clock of the machine of the schedulers: its wall time can be set, and its monotonic time can
 * jump ahead of the world's. */
struct sim_machine {
	struct clock base; /* first member */
	const struct sim_world *world;
	int64_t step_ns, ahead_ns;
	int64_t slack_ns; /* by how much its wall time was set back and forth in all */
};

struct sim_world {
	uint64_t seed, steps;
	struct rng rng;
	struct clock_fake clock;
	struct sim_machine machine;
	struct apiserver *api;
	struct sim_webhook *webhook;
	struct sim_view *view;
	struct sim_faults faults;
	struct list_node orphans; /* requests in flight after their sender gave up or died */
	uint64_t collected_at;    /* changes of the view after which there was no orphan */
	uint64_t budgets_at;      /* the same: the status of each budget was right */
	int64_t healthy_ns;       /* time during which a leader could write without faults */
	int64_t wrote_at; /* monotonic ns of the scheduler's last write, except to its lease */
	uint64_t lost_admissions; /* the scheduler died during a write that gives quota */
	enum sim_configuration configuration;
	uint64_t neighbours;  /* binds of pods with terms about others */
	bool crash;           /* the request that was just handled killed the scheduler */
	bool sticky;          /* --gate-sticky */
	uint8_t plugins;      /* of the scheduler: a row of lib/pods/configurations.h */
	bool quota;           /* the kinds of the Workload engine are served */
	bool plain;           /* nothing but users and faults: see actors/sim_actors.h */
	bool deletes_overdue; /* --on-reservation-timeout=delete, and controllers own the pods of
				 the other scheduler */
	bool contended;       /* nodes and queues are full, and pods are evicted: see
				 users/sim_contenders.h */
	bool mixed;           /* such a world, with gangs of unequal members, twins of them, and
				 two namespaces */
	uint8_t evicts;       /* enum configurations_evict. Not 0: users have priorities */
	bool budgets;         /* likewise the plugins pdb and cdp; the disruption controller runs */
	bool volumes;         /* users have PersistentVolumeClaims, and a provisioner runs */
	bool kube_groups;     /* users of another scheduler have PodGroups of Kubernetes */
	bool leader_elect;
	int64_t led_at;     /* monotonic ns of the machine from which on the last process leads */
	int64_t renewed_at; /* monotonic ns of the last write of a scheduler to the Lease */
	bool lease_edited;  /* an actor has, and no scheduler has written it since: nothing keeps a
			       second leader from writing at the same time */
	bool second;        /* there are two processes */
	bool statuses_edited; /* an actor has written statuses of Workloads */
	bool verbose;
	char failure[1024]; /* the first failure; empty: none */
	char (*trace)[SIM_TRACE_WIDTH];
	size_t trace_n;
	uint64_t trace_digest; /* of all lines so far */
};

/* A request on its way, copied. */
struct sim_message {
	struct list_node node;
	enum http_method method;
	enum sim_actor actor;
	char *url, *content_type, *accept;
	struct strbuf body;
	int64_t expires; /* orphans: lost when they have not arrived by then */
};

struct sim_world_options {
	uint64_t seed;
	bool verbose, quota, plain;
};

void sim_world_init(struct sim_world *w, const struct sim_world_options *opt);
void sim_world_finish(struct sim_world *w);
/* Lets the server handle a request, then calls the listeners of the view for its changes. */
void sim_world_handle(struct sim_world *w, const struct sim_message *m,
		      struct apiserver_response *resp);
/* A message that is about to be sent: without a renewal of its lease in time a scheduler sends no
 * writes but events. */
void sim_world_check_sender(struct sim_world *w, const struct sim_message *m);
struct sim_call {
	enum sim_actor actor;
	enum http_method method;
	const char *url, *content_type; /* content_type NULL: no body */
	const char *body;
};

/* A request that is answered at once. Returns the HTTP status. */
int sim_world_act(struct sim_world *w, const struct sim_call *call);
/* The same for a request of a user. */
int sim_world_call(struct sim_world *w, enum http_method method, const char *url,
		   const char *content_type, struct str body);
/* Changes the object first, so that a write with a resourceVersion gets a conflict. False: the
 * write has none. */
bool sim_world_outrun(struct sim_world *w, const struct sim_message *m);
/* Takes the contents of m: the request arrives later, or never. */
void sim_world_orphan(struct sim_world *w, struct sim_message *m);
void sim_world_forget_orphans(struct sim_world *w);
/* Adds the arrivals of orphans. */
void sim_world_offer(struct sim_world *w, struct sim_choices *out);

void sim_world_choice(struct sim_choices *out, const struct sim_choice *c);
void sim_world_wake(struct sim_choices *out, int64_t at_mono_ns);
uint64_t sim_world_below(struct sim_world *w, uint64_t bound);
bool sim_world_chance(struct sim_world *w, unsigned per_mille);
/* A random index, by weight; the sum of the n weights is not 0. */
size_t sim_world_weighted(struct sim_world *w, const unsigned *weights, size_t n);
void sim_world_strike(struct sim_world *w, enum sim_fault f);
/* The first failure ends the run. */
void sim_world_fail(struct sim_world *w, const char *fmt, ...) PRINTF_LIKE(2, 3);
bool sim_world_failed(const struct sim_world *w);
void sim_world_trace(struct sim_world *w, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The last lines of the trace, as comments of TAP. */
void sim_world_print_trace(const struct sim_world *w);
void sim_world_message_finish(struct sim_message *m);

#endif
