/* scheduler/multikueue/gate_write.h: the write that opens or closes the manager's gate of a
 * replica: a server-side apply that owns this one entry of status.preemptionGates, for one version
 * of the object alone, so that neither what the worker says nor gates of others are touched, and
 * nothing is written to a replica that has changed. Pure. */
#ifndef SCHEDULER_MULTIKUEUE_GATE_WRITE_H
#define SCHEDULER_MULTIKUEUE_GATE_WRITE_H

#include <stdbool.h>
#include <stdint.h>

struct api_meta;
struct strbuf;

#define GATE_WRITE_FIELD_MANAGER "kueue.x-k8s.io/multikueue"

/* replica: name, namespace, uid and resourceVersion of the object that was decided about. fields:
 * those that the worker's API server serves (enum in api/kueue/preemption_gate.h); 0: not known, as
 * with the rights of Kueue's example, so that Kueue's is written. now: wall ns of the manager. */
void gate_write_format(const struct api_meta *replica, const char *gate, bool open, unsigned fields,
		       int64_t now, struct strbuf *out);

#endif
