/* scheduler/base/message_json.h: keeps the JSON text of an object with its message, for a receiver
 * that makes other objects of it: those need the members that no field table knows. Any thread. */
#ifndef SCHEDULER_BASE_MESSAGE_JSON_H
#define SCHEDULER_BASE_MESSAGE_JSON_H

#include "base/str.h"

struct sched_msg;

/* Sets m->json to the object without metadata.managedFields, which is the larger part of many
 * objects. Text that is no object is not kept. */
void message_json_keep(struct sched_msg *m, struct str object);
/* The same of metadata.resourceVersion and status alone. */
void message_json_keep_status(struct sched_msg *m, struct str object);

/* For the controller of owners, which may have to make the Workload of a Job at once: an UPSERT of
 * a Job that is suspended and has not ended gets a copy of its text as its payload; any other
 * message stays as it is. */
void message_json_lend(struct sched_msg *m, struct str object);
/* That text without the message; the caller frees it. NULL: none. */
char *message_json_take(struct sched_msg *m);

#endif
