/* scheduler/multikueue/manager/mirror.h: merge patches by which the status of a local object
 * becomes that of its remote one. Pure. */
#ifndef SCHEDULER_MULTIKUEUE_MANAGER_MIRROR_H
#define SCHEDULER_MULTIKUEUE_MANAGER_MIRROR_H

#include <stdint.h>

struct jdoc;

/* A patch of this version of the object; the caller owns it. *ret_status is its status, which is
 * empty. */
struct jdoc *mirror_patch(const struct jdoc *local, struct jdoc **ret_status);
/* Adds to the patch what makes `from` into `to`: a member that is gone is null, one that is equal
 * is left out. A worker cluster may send anything: `to` of another kind than an object adds
 * nothing; NULL is an empty one. */
void mirror_difference(const struct jdoc *from, const struct jdoc *to, struct jdoc *patch);
/* A hash that is the same for equal documents, whatever the order of members. */
uint64_t mirror_digest(const struct jdoc *d);

#endif
