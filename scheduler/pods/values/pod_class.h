/* scheduler/pods/values/pod_class.h: the part of a pod spec that placement depends on, shared by
 * all equal pods. Interned by a canonical signature: equal pods have the same pointer, so one
 * predicate and score pass serves them all. Immutable; reference counted by tasks; owned by the
 * cluster. */
#ifndef SCHEDULER_PODS_VALUES_POD_CLASS_H
#define SCHEDULER_PODS_VALUES_POD_CLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collections/vec.h"
#include "scheduler/base/match.h"
#include "scheduler/pods/values/pod_term.h"
#include "scheduler/pods/values/resources.h"
#include "scheduler/pods/values/unoffered.h"

struct host_port {
	const char *ip;   /* interned; "0.0.0.0" is every address */
	uint8_t protocol; /* 0 TCP, 1 UDP, 2 SCTP */
	uint16_t port;
};

/* A PersistentVolumeClaim that a pod names. */
struct pod_claim {
	const char *name;  /* interned */
	const char *owner; /* interned UID of the pod that must own it, since it is of a generic
			      ephemeral volume; NULL: any may */
	uint32_t id;       /* in cluster->claims, while the class is in the cluster */
};

/* A container image that a pod names. */
struct pod_image {
	const char *name; /* of its record while the class is in the cluster; with tag or digest */
	uint32_t id;      /* in cluster->images, while the class is in the cluster */
	uint32_t times;   /* containers and volumes with it */
};

struct pod_class {
	uint32_t refs;
	uint32_t id;        /* dense, for per-class caches; re-used after the class is gone */
	struct res request; /* includes pods = 1 */
	uint32_t mask;      /* dimensions requested, without pods */
	struct unoffered unoffered; /* requested besides: no node satisfies it */
	bool best_effort;           /* mask == 0 and nothing unoffered */
	bool charged_to_workload; /* its Workload holds the quota for it, and no Queue is charged */
	struct label *selector;   /* nodeSelector, sorted */
	size_t nselector;
	struct match_term *required; /* any term must hold; nrequired 0: no constraint */
	size_t nrequired;
	bool has_required; /* affinity present: an empty list matches nothing */
	struct match_term *preferred;
	size_t npreferred;
	struct pod_term *terms; /* about other pods */
	size_t nterms;
	struct toleration *tolerations;
	size_t ntolerations;
	struct host_port *ports;
	size_t nports;
	struct pod_claim *claims; /* sorted by name */
	size_t nclaims;
	const char *claims_in; /* interned namespace of the claims; NULL without any */
	/* Of a pod that is still to be placed: they decide which nodes it prefers. */
	struct pod_image *images; /* sorted by name */
	size_t nimages;
	uint32_t image_sources; /* containers and volumes that could name one; 0 without images */
	const char
		*unsupported; /* static text: why this scheduler refuses it for now; NULL: fine */
	char *signature;      /* canonical text, owned */
	struct VEC(uint32_t) tasks; /* ids, of a class with terms alone */
};

/* Why a pod is refused for now (struct pod_class.unsupported). */
#define POD_CLASS_MANY_TERMS                                                                       \
	"more than 32 terms of inter-pod affinity and topology spread are not supported"
#define POD_CLASS_CLAIMS "more than 128 persistent volume claims are not supported"
#define POD_CLASS_UNREADABLE "a part of the pod cannot be read: left as it is until it changes"
#define POD_CLASS_RESOURCE_CLAIMS "resource claims are not supported yet"
#define POD_CLASS_TWO_GROUPS                                                                       \
	"the pod names a PodGroup in its annotation scheduling.k8s.io/group-name and one in "      \
	"spec.schedulingGroup: only one of them can decide when it starts; remove the annotation"
#define POD_CLASS_SCHEDULING_GROUP                                                                 \
	"spec.schedulingGroup is not supported for pods that Headgate places"
#define POD_CLASS_TOO_LARGE "more than 1000 labels, terms, tolerations and ports are not supported"

/* The parts of a class that are looked at again for every node, in every cycle: a pod with more is
 * refused, so that one pod cannot hold up the others. Values of an expression do not count: they
 * are searched, not looked through. */
#define POD_CLASS_PARTS_MAX 1000
/* Each costs a count per topology domain. */
#define POD_CLASS_TERMS_MAX 32

/* The first ones of a pod; each is looked for on every node. */
#define POD_CLASS_IMAGES_MAX 32

/* More claims than a node can attach volumes. */
#define POD_CLASS_CLAIMS_MAX 128

struct str;
struct strbuf;

/* The charge of such a pod to its Queue, and its dimensions (pods included): its request, or
 * nothing. */
const struct res *pod_class_charge(const struct pod_class *k);
uint32_t pod_class_charge_mask(const struct pod_class *k);
/* The static text equal to `text`; NULL when it is none of the above. */
const char *pod_class_refusal(struct str text);
/* Brings a class under construction into canonical order and derives mask, best_effort and the one
 * pod of its request. */
void pod_class_normalise(struct pod_class *k);
/* Appends the signature: equal texts mean equal classes. k must be normalised. The shape is all of
 * it but the terms about other pods and the images: it decides which nodes the pod fits, as far as
 * other pods do not. */
void pod_class_format(const struct pod_class *k, struct strbuf *out);
void pod_class_format_shape(const struct pod_class *k, struct strbuf *out);
/* Deep copy with refs 0 and the given signature; interned strings are shared. */
struct pod_class *pod_class_copy(const struct pod_class *k, const char *signature);
void pod_class_destroy(struct pod_class *k); /* of pod_class_copy; NULL is fine */

#endif
