/* common/obs/daemon_flags.h: the flags shared by both daemons, in one table: how to reach the API
 * server, scheduler names, feature gates, logging. Owner: main thread. */
#ifndef COMMON_OBS_DAEMON_FLAGS_H
#define COMMON_OBS_DAEMON_FLAGS_H

#include "process/feature_gates.h"
#include "process/flags.h"
#include "process/log.h"

#define DAEMON_FLAGS_MAX_NAMES 16 /* of schedulers */

/* The first member of a daemon's options: the offsets of the rows are those in this struct. */
struct daemon_flags {
	const char *master, *kubeconfig, *metrics_token;
	struct flags_list scheduler_names, gate_schedulers;
	struct feature_gates gates;
	int64_t verbosity;
	enum log_format log_format;
	struct flags_parsed parsed;
};

extern const struct flags_row daemon_flags_rows[];

/* flags_parse() for a daemon, which takes no arguments; options begins with a struct daemon_flags.
 */
int daemon_flags_parse(const struct flags *f, int argc, char **argv, struct daemon_flags *options,
		       struct err *err);
/* Sets level and format of the log, then logs a warning for each flag and gate without effect. */
void daemon_flags_configure_log(const struct daemon_flags *d);

#endif
