/* test/unit/scheduler/pods/dump/dump_fixture.h: a cluster that is written and read again. */
#ifndef TEST_UNIT_SCHEDULER_PODS_DUMP_DUMP_FIXTURE_H
#define TEST_UNIT_SCHEDULER_PODS_DUMP_DUMP_FIXTURE_H

#include "scheduler/pods/model/cluster.h"

/* The cluster that dump_load makes of the dump of c, for cluster_destroy. It is valid, has the
 * checksum of c, and gives the same dump; else the test fails. */
struct cluster *dump_fixture_reload(const struct cluster *c);

#endif
