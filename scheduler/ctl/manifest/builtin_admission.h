/* scheduler/ctl/manifest/builtin_admission.h: refuses new pods and PriorityClasses as the admission
 * plugins Priority and RuntimeClass of the API server do: decisions depend on these classes. One
 * thread. */
#ifndef SCHEDULER_CTL_MANIFEST_BUILTIN_ADMISSION_H
#define SCHEDULER_CTL_MANIFEST_BUILTIN_ADMISSION_H

struct manifest_check;
struct sim_input;

/* Refusals are problems of check. */
void builtin_admission(struct sim_input *in, struct manifest_check *check);

#endif
