/* test/apiserver/store/selector.h: label and field selectors of list and watch requests, and
 * metav1.LabelSelector objects. Grammar of labels: a=b, a==b, a!=b, a in (x,y), a notin (x,y), a,
 * !a; of fields: path=value, path!=value. Owner: one thread. Limit: SELECTOR_MAX requirements. */
#ifndef TEST_APISERVER_STORE_SELECTOR_H
#define TEST_APISERVER_STORE_SELECTOR_H

#include <stdbool.h>

#include "base/str.h"

#define SELECTOR_MAX 64

struct err;
struct jdoc;
struct object;
struct resource;
struct selector;

/* Both texts may be empty. -ERR_INVALID with the words of Kubernetes. */
int selector_parse(struct str labels, struct str fields, const struct resource *res,
		   struct selector **ret, struct err *err);
void selector_destroy(struct selector *s);                               /* NULL is fine */
bool selector_matches(const struct selector *s, const struct object *o); /* NULL matches all */
/* A metav1.LabelSelector against a map of labels (either may be NULL: empty selector matches
 * everything). */
bool selector_label_object_matches(const struct jdoc *selector, const struct jdoc *labels);

#endif
