/* scheduler/orchestrate/orchestrate_conf.h: the options of orchestrate.h from the section
 * multiKueue of Kueue's configuration file. Pure. */
#ifndef SCHEDULER_ORCHESTRATE_ORCHESTRATE_CONF_H
#define SCHEDULER_ORCHESTRATE_ORCHESTRATE_CONF_H

struct kueue_conf_multikueue;
struct orchestrate_options;

/* The defaults where the file has no field for an option. An attempt with victims on their way out
 * (progress_ns) lasts no less than one without. */
void orchestrate_conf_options(const struct kueue_conf_multikueue *m,
			      struct orchestrate_options *ret);

#endif
