/* test/lib/field_flip.h: changes each field of an object in turn, by its field table, so that a
 * test can ask of all of them, and of those to come, whether a comparison, a fingerprint or a copy
 * has them. Owner: the test. */
#ifndef TEST_LIB_FIELD_FLIP_H
#define TEST_LIB_FIELD_FLIP_H

#include "enc/field.h"

/* path: "status.conditions.reason"; a list or map that got shorter is its own path and " shorter".
 */
typedef void field_flip_fn(void *ctx, const char *path);

/* Calls fn once for each field that is set, while it has another value, also in objects and items
 * of lists below; then puts the old value back. Fields that are absent stay so: obj should be full.
 */
void field_flip_each(const struct field_table *t, void *obj, field_flip_fn *fn, void *ctx);

#endif
