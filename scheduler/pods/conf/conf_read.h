/* scheduler/pods/conf/conf_read.h: one run over a configuration document; shared by the files of
 * scheduler/conf only. Owner: one thread. */
#ifndef SCHEDULER_PODS_CONF_CONF_READ_H
#define SCHEDULER_PODS_CONF_CONF_READ_H

#include <stdbool.h>

#include "base/attrs.h"
#include "base/str.h"
#include "scheduler/pods/conf/conf.h"

struct err;
struct jdoc;

struct conf_read {
	struct str text;
	const char *name; /* of the file */
	const struct conf_options *opt;
	struct sched_conf *conf; /* being filled */
};

/* "file:line: text", with the line on which word stands when it is found. */
int conf_read_fail(const struct conf_read *r, const char *word, struct err *err, const char *fmt,
		   ...) PRINTF_LIKE(4, 5);
void conf_read_warn(const struct conf_read *r, const char *word, const char *fmt, ...)
	PRINTF_LIKE(3, 4);

bool conf_read_in_list(const char *const *names, struct str name); /* NULL list: false */
/* Warns that name has no implementation here, unless it has one. */
void conf_read_warn_absent(const struct conf_read *r, const char *kind, const char *name);
/* Appends the members of the map d to args; d may be NULL or a null value. path: for messages. */
int conf_read_args(const struct conf_read *r, const struct jdoc *d, const char *path,
		   struct conf_arg **args, size_t *nargs, struct err *err);

#endif
