/* scheduler/pods/dump/dump_terms.h: terms of node selectors in a dump. Any thread. */
#ifndef SCHEDULER_PODS_DUMP_DUMP_TERMS_H
#define SCHEDULER_PODS_DUMP_DUMP_TERMS_H

#include <stddef.h>

struct cluster;
struct err;
struct jdoc;
struct json_out;
struct match_term;

/* As member `key` of the object that is open in o. */
void dump_terms_write(struct json_out *o, const char *key, const struct match_term *v, size_t n);
/* d may be NULL. The caller frees *ret by match_terms_free, also after an error. */
int dump_terms_read(struct cluster *c, const struct jdoc *d, struct match_term **ret, size_t *ret_n,
		    struct err *err);

#endif
