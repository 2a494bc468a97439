/* common/collections/mpsc_node.h: the link that a message embeds first, apart from the queue
 * (collections/mpsc.h), so that code that may not touch queues can still name messages. Plain data.
 */
#ifndef COMMON_COLLECTIONS_MPSC_NODE_H
#define COMMON_COLLECTIONS_MPSC_NODE_H

struct mpsc_node {
	struct mpsc_node *next;
};

#endif
