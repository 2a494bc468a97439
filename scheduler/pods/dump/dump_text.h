/* scheduler/pods/dump/dump_text.h: interned texts and labels in a dump, which all its parts have.
 * Errors are -ERR_INVALID. Any thread. */
#ifndef SCHEDULER_PODS_DUMP_DUMP_TEXT_H
#define SCHEDULER_PODS_DUMP_DUMP_TEXT_H

#include <stddef.h>

struct cluster;
struct err;
struct jdoc;
struct json_out;
struct label;

/* A text, interned in the names of the cluster; d that is absent or null gives NULL. */
int dump_text_read(struct cluster *c, const struct jdoc *d, const char **ret, struct err *err);
/* The same, but a text that is absent or null is an error. */
int dump_text_read_needed(struct cluster *c, const struct jdoc *d, const char **ret,
			  struct err *err);
/* [[key, value], ...]; d may be NULL. The caller frees *ret. */
int dump_text_read_labels(struct cluster *c, const struct jdoc *d, struct label **ret,
			  size_t *ret_n, struct err *err);
/* The same as member `key` of the object that is open in o. */
void dump_text_write_labels(struct json_out *o, const char *key, const struct label *v, size_t n);

#endif
