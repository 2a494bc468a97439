/* scheduler/pods/dump/dump_class.h: pod classes of a dump, and the texts and labels that they share
 * with nodes. Part of dump_load. */
#ifndef SCHEDULER_PODS_DUMP_DUMP_CLASS_H
#define SCHEDULER_PODS_DUMP_DUMP_CLASS_H

#include <stddef.h>

struct cluster;
struct err;
struct jdoc;
struct label;

/* Adds the class of row d with the next id and no reference. */
int dump_class_load(struct cluster *c, const struct jdoc *d, struct err *err);
/* An interned text; d that is absent or null gives NULL. */
int dump_class_text(struct cluster *c, const struct jdoc *d, const char **ret, struct err *err);
/* The same, but absent is an error. */
int dump_class_needed_text(struct cluster *c, const struct jdoc *d, const char **ret,
			   struct err *err);
/* [[key, value], ...]; d may be NULL. The caller frees *ret. */
int dump_class_labels(struct cluster *c, const struct jdoc *d, struct label **ret, size_t *ret_n,
		      struct err *err);

#endif
