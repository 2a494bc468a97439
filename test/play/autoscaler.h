/* test/play/autoscaler.h: a simulated Cluster Autoscaler. It reads pods exactly as the real one
 * does (PodScheduled=False with reason Unschedulable, no node, no nomination, not being deleted,
 * not finished), drops those that fit on present or ordered nodes, packs the rest onto new nodes of
 * the first group with labels that satisfy the pod's nodeSelector, and creates those nodes after a
 * provisioning delay. It does not look at gates, queues or schedulers. Runs on the mirror's
 * transport thread. */
#ifndef TEST_PLAY_AUTOSCALER_H
#define TEST_PLAY_AUTOSCALER_H

#include <stdint.h>

struct autoscaler;
struct mirror;

struct autoscaler_group {
	const char *name;
	const char *cpu, *memory; /* quantities */
	int64_t pods;
	const char *label_key, *label_value; /* or NULL */
	unsigned max;
};

struct autoscaler_options {
	const struct autoscaler_group *groups; /* must outlive it */
	unsigned ngroups;
	int64_t scan_interval_ns, provision_ns;
	/* Called when a node is ordered for a pod. May be NULL. */
	void (*on_scale_up)(void *ctx, const char *node, const char *pod_key);
	void *ctx;
};

struct autoscaler *autoscaler_create(struct mirror *m, const struct autoscaler_options *opt);
void autoscaler_start(struct autoscaler *a);
unsigned autoscaler_ordered(const struct autoscaler *a); /* nodes ordered so far */
void autoscaler_destroy(struct autoscaler *a);           /* after the transport has ended */

#endif
