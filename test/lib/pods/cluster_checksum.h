/* test/lib/pods/cluster_checksum.h: a checksum over all that a cycle may read of a cluster, to
 * assert that a cycle does not change it and that a dump keeps it. Pure. */
#ifndef TEST_LIB_PODS_CLUSTER_CHECKSUM_H
#define TEST_LIB_PODS_CLUSTER_CHECKSUM_H

#include <stdint.h>

struct cluster;

/* Equal for clusters with equal values in all that a cycle reads. */
uint64_t cluster_checksum(const struct cluster *c);

#endif
