#include "ctl/cluster_args.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/attrs.h"

static const struct row {
	char group; /* 0: every verb takes it */
	struct argp_option option;
} rows[] = {
	{ 0,
	  { "kubeconfig", 'k', "FILE", 0,
	    "how to reach the cluster (default: $KUBECONFIG, in-cluster, ~/.kube/config)", 0 } },
	{ 0, { "context", 'c', "NAME", 0, "context of the kubeconfig", 0 } },
	{ 0, { "server", 's', "URL", 0, "address of the API server", 0 } },
	{ 'd',
	  { "dump", 'D', "FILE", 0, "look at this dump of a scheduler instead of a cluster", 0 } },
	{ 'd',
	  { "scheduler-conf", 'C', "FILE", 0, "the scheduler's configuration (default: built in)",
	    0 } },
	{ 'n', { "namespace", 'n', "NAME", 0, "namespace of names that have none", 0 } },
	{ 'o', { "output", 'o', "json|table", 0, "how to print", 0 } },
	{ 'y', { "yes", 'y', NULL, 0, "do it; without it only what would be done is printed", 0 } },
};

static error_t on_option(int key, char *arg, struct argp_state *s)
{
	struct cluster_args *a = s->input;

	switch (key) {
	case 'k':
		a->kubeconfig = arg;
		return 0;
	case 'c':
		a->context = arg;
		return 0;
	case 's':
		a->server = arg;
		return 0;
	case 'D':
		a->dump = arg;
		return 0;
	case 'C':
		a->conf = arg;
		return 0;
	case 'n':
		a->namespace_ = arg;
		return 0;
	case 'o':
		return ctl_parse_output(arg, &a->output) ? 0 : EINVAL;
	case 'y':
		a->yes = true;
		return 0;
	case ARGP_KEY_ARG:
		if (a->nrest == CLUSTER_ARGS_MAX) {
			fprintf(stderr, "headgatectl: unexpected argument \"%s\"\n", arg);
			return EINVAL;
		}
		a->rest[a->nrest++] = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

bool cluster_args_parse(const struct cluster_args_usage *usage, int argc, char **argv,
			struct cluster_args *ret, int *ret_code)
{
	struct argp_option options[ARRAY_LEN(rows) + 1] = { 0 };
	const struct argp argp = { options, on_option, usage->args, usage->doc, NULL, NULL, NULL };
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (rows[i].group == 0 || strchr(usage->takes, rows[i].group) != NULL) {
			options[n++] = rows[i].option;
		}
	}
	*ret = (struct cluster_args){ .namespace_ = "default" };
	return ctl_parse(&argp, argc, argv, ret, ret_code);
}
