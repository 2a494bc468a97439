/* test/play/kubelet.h: simulated kubelets for all nodes: a bound pod becomes Running after a start
 * delay, Succeeded after the duration in its annotation demo.headgate.io/runs-for (never without),
 * and a pod being deleted is finalised. New nodes are Ready as created. Runs on the mirror's
 * transport thread. */
#ifndef TEST_PLAY_KUBELET_H
#define TEST_PLAY_KUBELET_H

#include <stdint.h>

struct kubelet;
struct mirror;

/* Registers itself with the mirror; create before mirror_start. */
struct kubelet *kubelet_create(struct mirror *m, int64_t start_delay_ns);
void kubelet_destroy(struct kubelet *k); /* after the transport has ended */

#endif
