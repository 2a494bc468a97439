/* test/apiserver/store/commit.h: the only place where stored state changes: versions are given
 * here, and what a change of a built-in kind implies for the server itself happens here (CRDs
 * become resources, a deleted namespace takes its objects along). */
#ifndef TEST_APISERVER_STORE_COMMIT_H
#define TEST_APISERVER_STORE_COMMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct apiserver;
struct jdoc;
struct object;
struct resource;

/* Gives *doc the next version and stores it. Returns the stored object, borrowed. */
struct object *commit_put(struct apiserver *s, struct resource *res, struct jdoc **doc,
			  int64_t now);
/* Removes it with a version of its own. key is copied first. */
void commit_remove(struct apiserver *s, struct resource *res, struct str key);
/* The object at (ns, name), borrowed, NULL: absent. */
struct object *commit_find(const struct resource *res, struct str ns, struct str name);

#endif
