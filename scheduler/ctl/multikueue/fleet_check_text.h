/* scheduler/ctl/multikueue/fleet_check_text.h: prints what was found on worker clusters. */
#ifndef SCHEDULER_CTL_MULTIKUEUE_FLEET_CHECK_TEXT_H
#define SCHEDULER_CTL_MULTIKUEUE_FLEET_CHECK_TEXT_H

#include <stdio.h>

#include "scheduler/ctl/multikueue/worker_check.h"

/* A table; texts are wrapped so that it is 80 columns wide where names of clusters are not long. */
void fleet_check_text_print(const struct worker_check *checks, size_t n, FILE *to);
/* One JSON object. */
void fleet_check_text_print_json(const struct worker_check *checks, size_t n, FILE *to);

#endif
