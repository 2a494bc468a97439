/* scheduler/pods/dump/dump_class.h: pod classes of a dump. Part of dump_load. */
#ifndef SCHEDULER_PODS_DUMP_DUMP_CLASS_H
#define SCHEDULER_PODS_DUMP_DUMP_CLASS_H

struct cluster;
struct err;
struct jdoc;

/* Adds the class of row d with the next id and no reference. */
int dump_class_load(struct cluster *c, const struct jdoc *d, struct err *err);

#endif
