/* scheduler/pods/dump/dump_pod_terms.h: terms of pods about other pods in a dump, and the labels of
 * namespaces, by which they select. Any thread. */
#ifndef SCHEDULER_PODS_DUMP_DUMP_POD_TERMS_H
#define SCHEDULER_PODS_DUMP_DUMP_POD_TERMS_H

struct cluster;
struct err;
struct jdoc;
struct json_out;
struct pod_class;

/* As members of the object that is open in o: podTerms of the row of a class; namespaces of the
 * dump, where terms need them. */
void dump_pod_terms_write_class(struct json_out *o, const struct pod_class *k);
void dump_pod_terms_write_namespaces(struct json_out *o, const struct cluster *c);
/* d may be NULL. */
int dump_pod_terms_read(struct cluster *c, const struct jdoc *d, struct pod_class *k,
			struct err *err);
int dump_pod_terms_read_namespaces(struct cluster *c, const struct jdoc *d, struct err *err);

#endif
