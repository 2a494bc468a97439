#include "scheduler/ctl/cli/cluster_args.h"
#include "scheduler/ctl/ctl.h"
#include "scheduler/ctl/list/stop_resume.h"

static int run_verb(int argc, char **argv)
{
	return stop_resume_run(&ctl_stop_verb, argc, argv, true);
}

static const struct flags_row *const tables[] = {
	cluster_args_reach, cluster_args_namespace,
	cluster_args_keep,  cluster_args_dry_run,
	flags_help,         NULL,
};

const struct verb ctl_stop_verb = {
	VERB("stop"),
	.help = "stop a ClusterQueue, LocalQueue or Workload",
	.flags.args = QUOTA_SWITCH_ARGS,
	.flags.doc = "Stop a queue: it admits nothing, and its running Workloads are stopped "
		     "(stopPolicy HoldAndDrain). Or "
		     "stop a Workload (active: false). `headgatectl resume` undoes it.",
	.flags.tables = tables,
	.run = run_verb,
};
