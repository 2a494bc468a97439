/* scheduler/ctl/manifest/controller_pods.h: the pods that new Jobs, Deployments, ReplicaSets and
 * StatefulSets make at once, as far as they play a part: those that opt in, by an annotation of the
 * template or a label of the namespace, that name Headgate's scheduler, or that queue by a label of
 * Kueue. Nothing is made later: pods that end or are evicted are not replaced, and a rolling update
 * does not take place. One thread. */
#ifndef SCHEDULER_CTL_MANIFEST_CONTROLLER_PODS_H
#define SCHEDULER_CTL_MANIFEST_CONTROLLER_PODS_H

struct jdoc;
struct kueue_conf_owners;
struct manifest_check;
struct sim_input;

#define CONTROLLER_PODS_MAX 10000 /* of one object; more are a problem */

struct controller_pods;

struct controller_pods *controller_pods_create(void);
void controller_pods_destroyp(struct controller_pods **pp); /* for CLEANUP */
/* Keeps a copy of a Deployment, ReplicaSet or StatefulSet. where: as of struct sim_object. */
void controller_pods_keep(struct controller_pods *p, const struct jdoc *object, const char *where);
/* To be called once, before admission: adds the pods to in, named NAME-0, NAME-1 and so on; a pod
 * with that name that is there already stays as it is. Those that were kept and play no part are
 * left out by check, which also reports problems; warn is called for what a pod lacks. */
void controller_pods_make(struct controller_pods *p, struct sim_input *in,
			  struct manifest_check *check, const struct kueue_conf_owners *owners,
			  void (*warn)(void *ctx, const char *text), void *ctx);

#endif
