/* scheduler/multikueue/manager/condition_text.h: texts of another cluster, or of a user, as a
 * condition of the local Workload takes them: the API server refuses longer or other ones, and a
 * worker cluster could keep a Workload from finishing. Pure. */
#ifndef SCHEDULER_MULTIKUEUE_MANAGER_CONDITION_TEXT_H
#define SCHEDULER_MULTIKUEUE_MANAGER_CONDITION_TEXT_H

struct strbuf;

#define CONDITION_TEXT_MAX_MESSAGE 32768 /* characters; bytes here, which are no fewer */
#define CONDITION_TEXT_MAX_REASON 1024
#define CONDITION_TEXT_NO_REASON "Unknown" /* in place of a reason that is not one */

/* Appends the message, cut at the end of a character. NULL is "". */
void condition_text_message(const char *message, struct strbuf *out);
/* The reason, or CONDITION_TEXT_NO_REASON: one has letters, digits and _,: and begins with a letter
 * and ends with a letter, digit or underscore. */
const char *condition_text_reason(const char *reason);

#endif
