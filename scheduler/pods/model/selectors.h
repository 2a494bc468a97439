/* scheduler/pods/model/selectors.h: which pods the terms of pods select (inter-pod affinity and
 * topology spread): kept up with each change of a pod's labels (O(terms that look into its
 * namespace)) and of a term (O(sets of labels in the namespaces that it looks into)). Pods with
 * equal labels share one struct pod_labels, and equal selectors of terms one struct pod_selector:
 * pods of one template cost as much as one of them. Where all differ, each pair of a selector and
 * the labels that it selects is kept, as a bit on either side: half a byte where a tenant makes
 * them dense. Owner: the cluster. Pure. */
#ifndef SCHEDULER_PODS_MODEL_SELECTORS_H
#define SCHEDULER_PODS_MODEL_SELECTORS_H

#include "base/str.h"
#include "collections/idset.h"
#include "scheduler/pods/model/model.h"
#include "scheduler/pods/values/pod_class.h"

/* Labels that some pods of a namespace have. */
struct pod_labels {
	uint32_t id, space_pos;
	const char *namespace_; /* interned */
	char *signature;        /* owned */
	struct label *v;        /* interned, by key */
	size_t n;
	struct idset selectors;     /* ids of those that select it */
	struct VEC(uint32_t) tasks; /* ids of the pods */
};

/* Selector of terms: namespaces and labels. */
struct pod_selector {
	uint32_t id, refs;                      /* terms of classes */
	uint32_t by_kind[POD_TERM_KIND_COUNT_]; /* of these */
	char *signature;                        /* owned */
	struct pod_term *term;                  /* owned: one that has it */
	struct idset labels;                    /* ids of the sets of labels that it selects */
	struct VEC(uint32_t) classes; /* ids of the classes with terms that have it, one for each */
};

struct selector_index {
	struct SLOTS(struct pod_labels) labels;
	struct SLOTS(struct pod_selector) selectors;
	struct strmap *labels_by_text, *selector_by_text;
	struct strmap *spaces;     /* by namespace */
	struct VEC(uint32_t) wide; /* ids of selectors with a namespaceSelector */
};

struct selector_index *selectors_create(void);
void selectors_destroy(struct selector_index *x); /* NULL is fine */
/* The labels of the pod from now on, by key and interned; without any (n 0) a selector may still
 * select it. */
void selectors_set_labels(struct cluster *c, struct task *t, const struct label *v, size_t n);
void selectors_forget_labels(struct cluster *c, struct task *t); /* the pod is gone */
/* A class that is new in the cluster, before any pod has it: its terms get their selectors; and the
 * other way round, when none has it any more. */
void selectors_add_class(struct cluster *c, struct pod_class *k);
void selectors_remove_class(struct cluster *c, struct pod_class *k);
/* The pod has or had the class, which has terms. */
void selectors_add_task(struct cluster *c, struct task *t);
void selectors_remove_task(struct cluster *c, struct task *t);
/* The labels of the namespace have changed, or it is known now, or gone. */
void selectors_namespace_changed(struct cluster *c, struct str name);

/* Whether it selects the pods with these labels; NULL: of these nothing is known, so no. */
bool selectors_selects(const struct pod_selector *s, const struct pod_labels *l);
/* Recomputes which labels each selector selects; NULL when right, else a static text. For tests. */
const char *selectors_verify(const struct cluster *c);
/* Whether a required term, or a spread constraint, selects pods with these labels. */
bool selectors_decide_about(const struct cluster *c, const struct pod_labels *l);
/* Both are selected by the same ones; NULL: by none. */
bool selectors_are_alike(const struct pod_labels *a, const struct pod_labels *b);

#endif
