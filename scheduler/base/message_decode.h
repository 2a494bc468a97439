/* scheduler/base/message_decode.h: from a watched object's JSON text to the message that carries
 * the decoded object to the sched thread. */
#ifndef SCHEDULER_BASE_MESSAGE_DECODE_H
#define SCHEDULER_BASE_MESSAGE_DECODE_H

#include "scheduler/base/message.h"

struct reflector_event;

/* Decodes one JSON object of resource r into a message UPSERT, or BAD_OBJECT with what can be read
 * of it when it does not decode. Any thread. */
struct sched_msg *message_decode(enum sched_resource r, struct str key, struct str json,
				 int64_t resource_version);
/* The message for an event of the reflector of resource r; NULL: the caches need no message for it.
 * Any thread. */
struct sched_msg *message_decode_event(enum sched_resource r, const struct reflector_event *event);

#endif
