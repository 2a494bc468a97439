#include "scheduler/base/message.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/xmalloc.h"

#define ARENA_CHUNK 3072 /* most messages are one pod or a short text */

struct sched_msg *message_new(enum sched_msg_kind kind)
{
	struct sched_msg *m = xmalloc_zero(1, sizeof(*m));

	m->kind = kind;
	m->arena = arena_create(ARENA_CHUNK);
	return m;
}

void message_free(struct sched_msg *m)
{
	if (m != NULL) {
		arena_destroy(m->arena);
		free(m);
	}
}
