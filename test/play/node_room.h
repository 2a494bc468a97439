/* test/play/node_room.h: the room that nodes have left, for the simulated autoscaler and the
 * simulated kube-scheduler: CPU, memory, number of pods, and nodeSelectors. Transport's thread. */
#ifndef TEST_PLAY_NODE_ROOM_H
#define TEST_PLAY_NODE_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "collections/vec.h"

#define NODE_ROOM_NAME_MAX 64

struct jdoc;
struct mirror;

struct node_room {
	char name[NODE_ROOM_NAME_MAX];
	int64_t cpu, memory, pods; /* free: milli-CPU, bytes, pieces */
	const struct jdoc *labels; /* of a node of the mirror; borrowed; NULL: see below */
	const char *label_key, *label_value; /* of one that is only ordered, borrowed; or NULL */
};

/* Of one look; finished by vec_finish. */
struct node_rooms VEC(struct node_room);

/* Replaces the contents by the nodes of the mirror, less what the pods on them request. */
void node_room_read(struct node_rooms *rooms, const struct mirror *m);
/* Takes the room for the pod; false, without a change, if it is too little, or if the nodeSelector
 * does not match. */
bool node_room_take(struct node_room *r, const struct jdoc *pod);

#endif
