#include "ctl/ctl.h"
#include "ctl/queue_state.h"

int ctl_open_run(int argc, char **argv)
{
	return queue_state_run(argc, argv, false);
}
