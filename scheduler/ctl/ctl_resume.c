#include "scheduler/ctl/cli/cluster_args.h"
#include "scheduler/ctl/ctl.h"
#include "scheduler/ctl/list/stop_resume.h"

static int run_verb(int argc, char **argv)
{
	return stop_resume_run(&ctl_resume_verb, argc, argv, false);
}

static const struct flags_row *const tables[] = {
	cluster_args_reach, cluster_args_namespace, cluster_args_dry_run, flags_help, NULL,
};

const struct verb ctl_resume_verb = {
	VERB("resume"),
	.help = "resume a ClusterQueue, LocalQueue or Workload",
	.flags.args = QUOTA_SWITCH_ARGS,
	.flags.doc =
		"Let a stopped queue admit Workloads again, or a stopped Workload be queued again.",
	.flags.tables = tables,
	.run = run_verb,
};
