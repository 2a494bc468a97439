#include "scheduler/base/message.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/xmalloc.h"

#define ARENA_CHUNK 3072 /* most messages are one pod or a short text */

struct sched_msg *message_new(enum sched_msg_kind kind)
{
	struct sched_msg *m = xmalloc_zero(1, sizeof(*m));

	m->kind = kind;
	m->refs = 1;
	m->arena = arena_create(ARENA_CHUNK);
	return m;
}

/* Not atomic: once a message is pushed, the sched thread alone counts its references. */
struct sched_msg *message_ref(struct sched_msg *m)
{
	m->refs++;
	return m;
}

void message_free(struct sched_msg *m)
{
	if (m != NULL && --m->refs == 0) {
		arena_destroy(m->arena);
		free(m);
	}
}
