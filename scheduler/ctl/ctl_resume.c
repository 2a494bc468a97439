#include "ctl/ctl.h"
#include "ctl/quota_switch.h"

int ctl_resume_run(int argc, char **argv)
{
	return quota_switch_run(argc, argv, false);
}
