/* webhook/admit/volcano/pod_validate.h: changes of pods that are under a Queue's quota. Any thread.
 */
#ifndef WEBHOOK_ADMIT_VOLCANO_POD_VALIDATE_H
#define WEBHOOK_ADMIT_VOLCANO_POD_VALIDATE_H

#include "webhook/admit/admit.h"

/* UPDATE of a pod that has our gate or a reservation, when the gate is sticky: the annotation by
 * which it opted in stays, in one of its spellings.
 *
 * UPDATE of pods/resize, for a pod that opted in or has a reservation: the increase must fit the
 * capability of its queue and of each queue above, alone and, once the pod has a node, together
 * with what the other pods have by status.allocated. The queue is the one that the reservation
 * names, else that of the pod's own annotation; when neither is known here, and for amounts that do
 * not grow, the resize is allowed. The status lags behind the ledger, so this check refuses early
 * and cheaply; the scheduler charges every resize that passes, and gives nothing new until the
 * queue is within its limit again. */
int pod_validate(const struct admit_request *q, struct admit_answer *ret, struct err *err);

#endif
