/* test/lib/pods/term_fixture.h: labels of pods, nodes and namespaces, and terms about other pods,
 * as short texts. Owner: the test. */
#ifndef TEST_LIB_PODS_TERM_FIXTURE_H
#define TEST_LIB_PODS_TERM_FIXTURE_H

#include "scheduler/pods/model/cluster.h"

/* "a=x,b=y", by key; "": none. */
void term_fixture_labels(struct cluster *c, struct task *t, const char *text);
void term_fixture_node_labels(struct cluster *c, struct node *n, const char *text);
void term_fixture_namespace(struct cluster *c, const char *name, const char *text);
/* The task, which has a class, gets the terms, sorted by kind and separated by "; ":
 *   near|away|spread|prefer|avoid|anyway TOPOLOGY-KEY PODS [in=NAMESPACE+NAMESPACE] [of=LABELS]
 *   [skew=N] [min=N] [ignore] [honor] [weight=N]
 * PODS: labels, "*" all, "-" no selector. of: the namespaceSelector, "of=*" all. */
void term_fixture_terms(struct cluster *c, struct task *t, const char *text);
/* A pending task of the PodGroup (may be NULL) with labels and terms. */
struct task *term_fixture_task(struct cluster *c, const char *name, struct podgroup *g,
			       const char *labels, const char *terms);

#endif
