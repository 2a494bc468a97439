#include "scheduler/ctl/ctl.h"
#include "scheduler/ctl/list/stop_resume.h"

int ctl_stop_run(int argc, char **argv)
{
	return stop_resume_run(argc, argv, true);
}
