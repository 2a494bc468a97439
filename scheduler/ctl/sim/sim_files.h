/* scheduler/ctl/sim/sim_files.h: manifests from files and folders. One thread. */
#ifndef SCHEDULER_CTL_SIM_SIM_FILES_H
#define SCHEDULER_CTL_SIM_SIM_FILES_H

#include <stddef.h>

#define SIM_FILES_JSON_MAX                                                                         \
	(1u << 30) /* bytes of a file *.json; more than those of YAML: one List */

struct err;
struct jdoc;
struct sim_input;

/* Reads each path in order: a file, "-" for standard input, or a folder: its files ending in .yaml,
 * .yml or .json, by name, without subfolders. */
int sim_files_read(const char *const *paths, size_t n, struct sim_input *in, struct err *err);
/* One YAML or JSON document; the caller owns *ret. */
int sim_files_read_document(const char *path, struct jdoc **ret, struct err *err);

#endif
