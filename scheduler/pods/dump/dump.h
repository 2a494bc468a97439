/* scheduler/pods/dump/dump.h: a cluster as JSON and back, so that a user's problem can be replayed:
 * a cycle over the loaded cluster decides the same as over the original. Ids, orders, ledger sums
 * and generations are kept; node use, counts and the queue topology are computed again. Owner of
 * both: the caller's thread. Pure. Limits: JDOC_MAX_BYTES of text; DUMP_MAX_OBJECTS rows in each
 * list. */
#ifndef SCHEDULER_PODS_DUMP_DUMP_H
#define SCHEDULER_PODS_DUMP_DUMP_H

#include "base/str.h"

#define DUMP_VERSION 1
#define DUMP_MAX_OBJECTS (1u << 20)

struct cluster;
struct err;
struct strbuf;

/* Appends one JSON object. Members that have their default are left out. */
void dump_format(const struct cluster *c, struct strbuf *out);
/* -ERR_INVALID with the path of the fault: no JSON, unknown version, dangling ids, accounts that
 * do not add up. Ledger sums are taken as they stand. */
int dump_load(struct str json, struct cluster **ret, struct err *err);

#endif
