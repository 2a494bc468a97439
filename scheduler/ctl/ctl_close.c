#include "scheduler/ctl/ctl.h"
#include "scheduler/ctl/list/queue_state.h"

int ctl_close_run(int argc, char **argv)
{
	return queue_state_run(argc, argv, true);
}
