/* scheduler/pods/conf/conf.h: the scheduler configuration file in Volcano's grammar (actions,
 * tiers, configurations) plus what flags decide for the core. Immutable after loading. Errors name
 * file, line and key. Known plugin and action names are given by the caller (conf does not know the
 * registries). */
#ifndef SCHEDULER_PODS_CONF_CONF_H
#define SCHEDULER_PODS_CONF_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "scheduler/pods/conf/conf_args.h"

#define CONF_MAX_BYTES (1u << 20)
#define CONF_MAX_TIERS 16
#define CONF_MAX_PLUGINS 64 /* over all tiers */
#define CONF_MAX_ACTIONS 64 /* also entries of `configurations` */
#define CONF_MAX_ARGS 256   /* of one plugin or action */

struct arena;
struct err;

enum conf_switch { /* index of plugin switches; spelling of each is in conf.c's table */
		   CONF_JOB_ORDER,
		   CONF_HIERARCHY,
		   CONF_JOB_READY,
		   CONF_JOB_PIPELINED,
		   CONF_TASK_ORDER,
		   CONF_PREEMPTABLE,
		   CONF_RECLAIMABLE,
		   CONF_PREEMPTIVE,
		   CONF_QUEUE_ORDER,
		   CONF_PREDICATE,
		   CONF_BEST_NODE,
		   CONF_NODE_ORDER,
		   CONF_TARGET_JOB,
		   CONF_RESERVED_NODES,
		   CONF_JOB_ENQUEUED,
		   CONF_JOB_STARVING,
		   CONF_CLUSTER_ORDER,
		   CONF_VICTIM,
		   CONF_OVERUSED,
		   CONF_ALLOCATABLE,
		   CONF_HYPER_NODE_ORDER,
		   CONF_SUB_JOB_READY,
		   CONF_SUB_JOB_PIPELINED,
		   CONF_SUB_JOB_ORDER,
		   CONF_HYPER_NODE_GRADIENT,
		   CONF_SWITCH_COUNT_
};

struct conf_plugin {
	const char *name;
	bool on[CONF_SWITCH_COUNT_]; /* defaults applied */
	struct conf_arg *args;
	size_t nargs;
	size_t tier;
};

struct conf_action {
	const char *name;
	struct conf_arg *args;
	size_t nargs;
};

struct sched_conf {
	struct arena *arena; /* holds actions, plugins and what they point to */
	struct conf_action *actions;
	size_t nactions;
	struct conf_plugin *plugins; /* in tier order */
	size_t nplugins, ntiers;
	/* From flags, resolved once: */
	bool gates_admission;           /* feature gate SchedulingGatesQueueAdmission */
	bool gate_sticky;               /* --gate-sticky; read once, at the start */
	int64_t reservation_timeout_ns; /* 0: off */
	int64_t reservation_backoff_ns; /* least time before a timed-out pod is decided again
					   (pods/ledger/attempts.h); default 1 min */
	uint32_t reservation_attempts;  /* then it waits until it changes, or for nodes of another
					   shape; 0: no limit */
	bool overdue_deletes; /* --on-reservation-timeout=delete: see pods/cycle/overdue.h */
	char *default_queue;
};

/* A plugin or an action that is not an error. */
struct conf_name {
	const char *name;                      /* NULL ends an array */
	const struct conf_args_row *arguments; /* NULL: it has none */
	bool limits_queues; /* a plugin that keeps to the limits of Queues; see CONF_ALLOCATABLE */
	bool absent;        /* it has no implementation: accepted with one warning */
	const char *why;    /* the end of that warning, or NULL */
};

struct conf_names {
	const struct conf_name *plugins, *actions;
};

typedef void (*conf_warn_fn)(void *ctx, const char *text);

struct conf_options {
	struct conf_names known; /* pods/cycle/known_names.h fills it from the registries */
	conf_warn_fn warn;       /* unknown keys and arguments, names and arguments without
				    implementation, no plugin that limits Queues; may be NULL */
	void *ctx;               /* of warn */
};

/* name: of the source, for messages. Settings that flags decide get their defaults. */
int conf_parse(struct str text, const char *name, const struct conf_options *opt,
	       struct sched_conf **ret, struct err *err);
int conf_load_file(const char *path, const struct conf_options *opt, struct sched_conf **ret,
		   struct err *err);
/* Built in: "enqueue, allocate, backfill"; tier 1 priority, gang, conformance; tier 2 predicates,
 * capacity with enableHierarchy, binpack. */
const char *conf_default_text(void);
/* NULL: the action is not configured. */
const struct conf_action *conf_action(const struct sched_conf *c, const char *name);
void conf_destroy(struct sched_conf *c);    /* NULL is fine */
void conf_destroyp(struct sched_conf **pc); /* for CLEANUP */

#endif
