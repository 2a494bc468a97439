#include "scheduler/ctl/cli/verb.h"
#include "scheduler/ctl/ctl.h"
#include "scheduler/ctl/list/queue_state.h"

static int run_verb(int argc, char **argv)
{
	return queue_state_run(&ctl_open_verb, argc, argv, false);
}

const struct verb ctl_open_verb = {
	VERB("open"),
	.help = "open a Queue that was closed",
	.flags.args = "queue NAME",
	.flags.doc = "Open a Queue (Volcano), and the queues below it that were closed with it.",
	.flags.tables = queue_state_tables,
	.run = run_verb,
};
