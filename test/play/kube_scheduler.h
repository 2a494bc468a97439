/* test/play/kube_scheduler.h: a simulated kube-scheduler. It places the pods of "default-scheduler"
 * that have no gate on nodes with room, and gives those that find none the condition
 * PodScheduled=False/Unschedulable. It knows neither queues nor quota. Runs on the mirror's
 * transport thread. */
#ifndef TEST_PLAY_KUBE_SCHEDULER_H
#define TEST_PLAY_KUBE_SCHEDULER_H

struct kube_scheduler;
struct mirror;

/* Listens to the mirror: create it before mirror_start. */
struct kube_scheduler *kube_scheduler_create(struct mirror *m);
void kube_scheduler_destroy(struct kube_scheduler *k); /* after the transport has ended */

#endif
