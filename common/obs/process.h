/* common/obs/process.h: statistics of this process from /proc. Any thread. */
#ifndef COMMON_OBS_PROCESS_H
#define COMMON_OBS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct process_info {
	double cpu_seconds;   /* user and system */
	double start_seconds; /* Unix time of the start */
	int64_t resident_bytes;
	int64_t virtual_bytes;
	int64_t threads;
	int64_t open_files;
	int64_t max_files; /* -1: no limit */
};

/* Parses /proc/self/stat, in the kernel's ticks and pages; the start is relative to the machine's
 * boot. False: unknown format, *ret is then undefined. The name in parentheses may contain any
 * character. */
bool process_parse_stat(struct str text, struct process_info *ret);
/* False when /proc is not there. */
bool process_read(struct process_info *ret);

#endif
