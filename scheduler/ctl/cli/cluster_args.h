/* scheduler/ctl/cli/cluster_args.h: arguments that the verbs for a cluster share: the cluster or
 * the file to read, the objects to select, and the output format. One thread; texts are borrowed
 * from argv. */
#ifndef SCHEDULER_CTL_CLI_CLUSTER_ARGS_H
#define SCHEDULER_CTL_CLI_CLUSTER_ARGS_H

#include <stddef.h>
#include <stdint.h>

#include "scheduler/ctl/cli/verb.h"

struct err;
struct kubeconfig;
struct transport;

#define CLUSTER_ARGS_LIMIT_MAX 100000

enum cluster_args_status { /* of Workloads, bits */
			   CLUSTER_ARGS_PENDING = 1,
			   CLUSTER_ARGS_ADMITTED = 2,
			   CLUSTER_ARGS_FINISHED = 4,
			   CLUSTER_ARGS_RESERVED = 8, /* holds quota, not admitted */
};
enum cluster_args_active { CLUSTER_ARGS_ANY, CLUSTER_ARGS_ACTIVE, CLUSTER_ARGS_INACTIVE };
enum cluster_args_dry { CLUSTER_ARGS_DO, CLUSTER_ARGS_DRY_CLIENT, CLUSTER_ARGS_DRY_SERVER };

struct cluster_args {
	const char *kubeconfig, *context, *cluster, *user, *server, *token, *as, *as_uid;
	struct flags_list as_groups;
	bool insecure;
	bool has_timeout;
	int64_t timeout;  /* ns of one request; 0: none */
	const char *dump; /* a dump file instead of a cluster */
	const char *conf; /* the scheduler's configuration file, NULL: built in */
	struct flags_list scheduler_names, gate_schedulers;
	const char *namespace_; /* for names without a namespace: --namespace, that of the context,
				   or "default" */
	enum verb_output output;
	bool yes;   /* make the changes */
	bool as_is; /* the manifests are neither validated nor admitted */
	bool has_now;
	const char *instance;    /* only registrations of this Helm release; NULL: any */
	struct flags_list files; /* manifests instead of a cluster */
	struct flags_list ignored;
	const char *config; /* Kueue's configuration file, NULL: its defaults */
	int64_t now;        /* wall ns */
	const char *within; /* only this namespace; NULL: all */
	bool all_namespaces;
	const char *cluster_queue, *local_queue; /* only those of this queue; NULL: of any */
	const char *owner;                       /* only those of this job, KIND/NAME */
	unsigned statuses;                       /* enum cluster_args_status; 0: any */
	enum cluster_args_active active;
	const char *labels, *fields; /* selectors; NULL: any */
	int64_t offset, limit;
	enum cluster_args_dry dry;
	bool keep_running;
	const char *secrets_namespace; /* of kubeconfigs of worker clusters */
	char **rest;                   /* positional arguments */
	size_t nrest;
	char context_namespace[256]; /* behind namespace_ */
};

/* Rows for the tables of verbs; each verb for a cluster takes the rows to reach it. */
extern const struct flags_row cluster_args_reach[];  /* --kubeconfig, --server, --as, ... */
extern const struct flags_row cluster_args_dump[];   /* --dump, --scheduler-conf, --scheduler-name,
							--gate-schedulers */
extern const struct flags_row cluster_args_files[];  /* --filename, --as-is, --ignore, --now */
extern const struct flags_row cluster_args_config[]; /* --config */
extern const struct flags_row cluster_args_namespace[]; /* --namespace */
extern const struct flags_row cluster_args_within[];    /* --namespace that is not given: all */
extern const struct flags_row cluster_args_all[];       /* --all-namespaces */
extern const struct flags_row cluster_args_queues[];    /* --clusterqueue, --localqueue */
extern const struct flags_row cluster_args_jobs[];      /* --status, --for, --active */
extern const struct flags_row cluster_args_selectors[]; /* --selector, --field-selector */
extern const struct flags_row cluster_args_page[];      /* --offset, --limit */
extern const struct flags_row cluster_args_keep[];      /* --keep-already-running */
extern const struct flags_row cluster_args_dry_run[];   /* --dry-run */
extern const struct flags_row cluster_args_workers[];   /* --multikueue-namespace */
extern const struct flags_row cluster_args_output[];    /* --output */
extern const struct flags_row cluster_args_objects[];   /* --output of whole objects */
extern const struct flags_row cluster_args_instance[];  /* --instance */
extern const struct flags_row cluster_args_yes[];       /* --yes */

/* Parses the arguments of one verb. True: go on, else *ret_code is what to return. */
bool cluster_args_parse(const struct verb *verb, int argc, char **argv, struct cluster_args *ret,
			int *ret_code);
/* The kubeconfig that the arguments choose; the caller destroys it. */
int cluster_args_kubeconfig(const struct cluster_args *a, struct kubeconfig **ret, struct err *err);
/* Connects to the cluster that the arguments name, as the user that they name; runs the user's
 * credential plugin. transport_destroy. */
int cluster_args_connect(const struct cluster_args *a, struct transport **ret, struct err *err);
/* verb_fail(); the code is VERB_USAGE for manifests that cannot be used (-ERR_INVALID), unless they
 * are taken as they are. */
int cluster_args_fail(const struct cluster_args *a, const struct err *err);
/* "namespace/name" for a positional argument without or with a namespace; the caller frees it. */
char *cluster_args_key(const struct cluster_args *a, const char *name);

#endif
