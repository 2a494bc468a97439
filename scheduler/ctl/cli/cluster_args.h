/* scheduler/ctl/cli/cluster_args.h: arguments that verbs about a cluster share: how to reach it,
 * what to look at instead, which objects, and how to print. One thread; texts are borrowed from
 * argv. */
#ifndef SCHEDULER_CTL_CLI_CLUSTER_ARGS_H
#define SCHEDULER_CTL_CLI_CLUSTER_ARGS_H

#include <stddef.h>
#include <stdint.h>

#include "scheduler/ctl/ctl.h"

struct err;
struct transport;

#define CLUSTER_ARGS_MAX 4
#define CLUSTER_ARGS_FILES_MAX 64
#define CLUSTER_ARGS_LIMIT 1000 /* default of --limit, as in Kueue's visibility API */
#define CLUSTER_ARGS_LIMIT_MAX 100000

enum cluster_args_status { /* of Workloads, bits */
			   CLUSTER_ARGS_PENDING = 1,
			   CLUSTER_ARGS_ADMITTED = 2,
			   CLUSTER_ARGS_FINISHED = 4,
			   CLUSTER_ARGS_RESERVED = 8, /* holds quota, not admitted */
};
enum cluster_args_dry { CLUSTER_ARGS_DO, CLUSTER_ARGS_DRY_CLIENT, CLUSTER_ARGS_DRY_SERVER };

struct cluster_args {
	const char *kubeconfig, *context, *server;
	const char *dump;       /* a dump file instead of a cluster */
	const char *conf;       /* the scheduler's configuration file, NULL: built in */
	const char *namespace_; /* of names that have none, "default" */
	bool has_namespace;     /* it was given */
	enum ctl_output output;
	bool prints_objects;                       /* as yaml and name, too */
	bool yes;                                  /* really do it */
	const char *instance;                      /* only what this release made; NULL: any */
	const char *files[CLUSTER_ARGS_FILES_MAX]; /* manifests instead of a cluster */
	size_t nfiles;
	const char *config; /* Kueue's configuration file, NULL: its defaults */
	bool has_now;
	int64_t now; /* wall ns */
	bool all_namespaces;
	const char *cluster_queue, *local_queue; /* only those of this queue; NULL: of any */
	const char *owner;                       /* only those of this job, KIND/NAME */
	unsigned statuses;                       /* enum cluster_args_status; 0: any */
	const char *active;                      /* "true" or "false"; NULL: both */
	const char *labels, *fields;             /* selectors; NULL: any */
	size_t offset, limit;
	enum cluster_args_dry dry;
	bool keep_running;
	const char *rest[CLUSTER_ARGS_MAX]; /* positional arguments */
	size_t nrest;
};

/* What a verb takes, as argp shows it. args: NULL: no positional arguments. takes: any of
 *   i  --instance
 *   d  --dump, --scheduler-conf      f  -f, --config, --now        n  --namespace
 *   o  --output                      y  --yes                      a  --all-namespaces
 *   q  --clusterqueue, --localqueue  s  --status, --for, --active  p  --offset, --limit
 *   r  --dry-run                     k  --keep-already-running
 *   l  --selector, --field-selector  O  --output of whole objects, instead of o */
struct cluster_args_usage {
	const char *args, *doc, *takes;
};

/* Parses the arguments of one verb. True: go on, else *ret_code is what to return. */
bool cluster_args_parse(const struct cluster_args_usage *usage, int argc, char **argv,
			struct cluster_args *ret, int *ret_code);
/* Connects to the cluster that the arguments name; transport_destroy. */
int cluster_args_connect(const struct cluster_args *a, struct transport **ret, struct err *err);
/* "namespace/name" of a positional argument that may lack its namespace; the caller frees it. */
char *cluster_args_key(const struct cluster_args *a, const char *name);

#endif
