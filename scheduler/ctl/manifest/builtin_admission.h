/* scheduler/ctl/manifest/builtin_admission.h: what admission plugins of the API server, Priority and
 * RuntimeClass, refuse of new pods and PriorityClasses: decisions depend on these classes. One
 * thread. */
#ifndef SCHEDULER_CTL_MANIFEST_BUILTIN_ADMISSION_H
#define SCHEDULER_CTL_MANIFEST_BUILTIN_ADMISSION_H

struct manifest_check;
struct sim_input;

/* Refusals are problems of check. */
void builtin_admission(struct sim_input *in, struct manifest_check *check);

#endif
