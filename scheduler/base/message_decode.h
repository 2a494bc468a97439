/* scheduler/base/message_decode.h: makes a message with the decoded object from the JSON text of a
 * watched object. */
#ifndef SCHEDULER_BASE_MESSAGE_DECODE_H
#define SCHEDULER_BASE_MESSAGE_DECODE_H

#include "scheduler/base/message.h"

struct cut_meta;
struct reflector_event;

/* Decodes one JSON object of resource r into a message UPSERT, or, if it does not decode,
 * BAD_OBJECT with the readable part of it. Any thread. */
struct sched_msg *message_decode(enum sched_resource r, struct str key, struct str json,
				 int64_t resource_version);
/* The same for an item of a LIST, with the key as a reflector makes it; its version counts as not
 * known. Any thread. */
struct sched_msg *message_decode_item(enum sched_resource r, struct str object,
				      const struct cut_meta *meta);
/* The message for an event of the reflector of resource r; NULL: the caches need no message for it.
 * Any thread. */
struct sched_msg *message_decode_event(enum sched_resource r, const struct reflector_event *event);

#endif
