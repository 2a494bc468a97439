/* test/lib/cluster_checksum.h: a fingerprint of all that a cycle may read of a cluster, to assert
 * that a cycle changes nothing of it and that a dump keeps it. Pure. */
#ifndef TEST_LIB_CLUSTER_CHECKSUM_H
#define TEST_LIB_CLUSTER_CHECKSUM_H

#include <stdint.h>

struct cluster;

/* Equal for clusters that a cycle cannot tell apart. */
uint64_t cluster_checksum(const struct cluster *c);

#endif
