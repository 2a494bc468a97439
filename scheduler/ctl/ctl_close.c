#include "scheduler/ctl/cli/verb.h"
#include "scheduler/ctl/ctl.h"
#include "scheduler/ctl/list/queue_state.h"

static int run_verb(int argc, char **argv)
{
	return queue_state_run(&ctl_close_verb, argc, argv, true);
}

const struct verb ctl_close_verb = {
	VERB("close"),
	.help = "close a Queue: it gives no quota and takes reservations back",
	.flags.args = "queue NAME",
	.flags.doc = "Close a queue of Volcano's kind and all queues below it: they give no quota, "
		     "and pods that have no node yet lose theirs; pods that run go on. "
		     "`headgatectl open` takes it back.",
	.flags.tables = queue_state_tables,
	.run = run_verb,
};
