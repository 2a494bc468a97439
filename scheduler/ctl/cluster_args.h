/* scheduler/ctl/cluster_args.h: arguments that verbs about a cluster share: how to reach it, and
 * how to print. A verb lists cluster_args_argp among the children of its argp and points its
 * child_input at a struct cluster_args. One thread; texts are borrowed from argv. */
#ifndef SCHEDULER_CTL_CLUSTER_ARGS_H
#define SCHEDULER_CTL_CLUSTER_ARGS_H

#include <stddef.h>

#include "ctl/ctl.h"

#define CLUSTER_ARGS_MAX 4

struct cluster_args {
	const char *kubeconfig, *context, *server;
	const char *dump;       /* a dump file instead of a cluster */
	const char *conf;       /* the scheduler's configuration file, NULL: built in */
	const char *namespace_; /* of names that have none, "default" */
	enum ctl_output output;
	bool yes;                           /* really do it */
	const char *rest[CLUSTER_ARGS_MAX]; /* positional arguments */
	size_t nrest;
};

/* What a verb takes, as argp shows it. takes: any of "d" (--dump, --scheduler-conf), "n"
 * (--namespace), "o" (-o), "y" (--yes). */
struct cluster_args_usage {
	const char *args, *doc, *takes;
};

/* Parses the arguments of one verb. True: go on, else *ret_code is what to return. */
bool cluster_args_parse(const struct cluster_args_usage *usage, int argc, char **argv,
			struct cluster_args *ret, int *ret_code);

#endif
