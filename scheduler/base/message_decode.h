/* scheduler/base/message_decode.h: makes a message with the decoded object from the JSON text of a
 * watched object. */
#ifndef SCHEDULER_BASE_MESSAGE_DECODE_H
#define SCHEDULER_BASE_MESSAGE_DECODE_H

#include "scheduler/base/message.h"

struct reflector_event;

/* Decodes one JSON object of resource r into a message UPSERT, or, if it does not decode,
 * BAD_OBJECT with the readable part of it. Any thread. */
struct sched_msg *message_decode(enum sched_resource r, struct str key, struct str json,
				 int64_t resource_version);
/* The message for an event of the reflector of resource r; NULL: the caches need no message for it.
 * Any thread. */
struct sched_msg *message_decode_event(enum sched_resource r, const struct reflector_event *event);

#endif
