/* test/apiserver/verbs/update.h: PUT, PATCH and the status sub-resource: optimistic locking, what
 * may not change, generation, validation, admission, removal when the last finalizer goes. */
#ifndef TEST_APISERVER_VERBS_UPDATE_H
#define TEST_APISERVER_VERBS_UPDATE_H

#include <stdbool.h>

struct call;
struct jdoc;
struct object;

/* Makes the wanted new state from the present one; c->resp filled on failure. Runs again when the
 * object changed under an admission call-out. */
typedef int (*update_make_fn)(struct call *c, const struct jdoc *old, struct jdoc **ret);

int update_put(struct call *c);
int update_patch(struct call *c); /* in the formats of patching.h, and apply */
/* status: the code of success. is_put: a wrong UID is a conflict instead of an invalid field. */
int update_run(struct call *c, update_make_fn make, bool is_put);

#endif
