/* scheduler/ctl/ctl.h: the sorted table of headgatectl's verbs, and the program behind main(). Each
 * verb has a file of its own. Owner: main thread. */
#ifndef SCHEDULER_CTL_CTL_H
#define SCHEDULER_CTL_CTL_H

#include <stddef.h>

struct verb; /* scheduler/ctl/cli/verb.h */

/* NULL: no such verb. */
const struct verb *ctl_find_verb(const char *name);
const struct verb *ctl_verb_at(size_t i); /* by name; NULL behind the last one */
/* The whole program behind main(). */
int ctl_run(int argc, char **argv);

/* The verbs, each in ctl_<verb>.c. */
extern const struct verb ctl_certs_verb;
extern const struct verb ctl_close_verb;
extern const struct verb ctl_completion_verb;
extern const struct verb ctl_doctor_verb;
extern const struct verb ctl_drain_verb;
extern const struct verb ctl_explain_verb;
extern const struct verb ctl_list_verb;
extern const struct verb ctl_multikueue_verb;
extern const struct verb ctl_open_verb;
extern const struct verb ctl_pending_verb;
extern const struct verb ctl_queues_verb;
extern const struct verb ctl_resume_verb;
extern const struct verb ctl_simulate_verb;
extern const struct verb ctl_stop_verb;
extern const struct verb ctl_version_verb;

#endif
