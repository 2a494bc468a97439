#include "scheduler/ctl/cli/verb.h"
#include "scheduler/ctl/ctl.h"
#include "scheduler/ctl/list/queue_state.h"

static int run_verb(int argc, char **argv)
{
	return queue_state_run(&ctl_close_verb, argc, argv, true);
}

const struct verb ctl_close_verb = {
	VERB("close"),
	.help = "close a Queue: it gives no more quota and revokes reservations",
	.flags.args = "queue NAME",
	.flags.doc =
		"Close a Queue (Volcano) and all queues below it: they give no more quota, and "
		"pods without a node lose theirs; running pods are not touched. "
		"`headgatectl open` undoes it.",
	.flags.tables = queue_state_tables,
	.run = run_verb,
};
