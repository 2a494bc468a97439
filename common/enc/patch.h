/* common/enc/patch.h: JSON Patch (RFC 6902), JSON Merge Patch (RFC 7386) and JSON Pointer.
 * The builder writes operations; the appliers change a tree (all or nothing: on error the tree is
 * as before). Limits: PATCH_MAX_OPS operations as in kube-apiserver. Owner: one thread. */
#ifndef COMMON_ENC_PATCH_H
#define COMMON_ENC_PATCH_H

#include <stdbool.h>

#include "base/str.h"

#define PATCH_MAX_OPS 10000
#define PATCH_MAX_COPIED (3u << 20) /* bytes of JSON that "copy" may add, as kube-apiserver */

struct err;
struct jdoc;
struct strbuf;

/* The builder: a JDOC_ARRAY under construction, owned by the caller (jdoc_destroy). Values are
 * taken. */
struct jdoc *patch_new(void);
void patch_add(struct jdoc *patch, const char *pointer, struct jdoc *value_take);
void patch_remove(struct jdoc *patch, const char *pointer);
void patch_test(struct jdoc *patch, const char *pointer, struct jdoc *value_take);
/* Appends "/" and the token with ~ and / escaped. */
void patch_pointer_add(struct strbuf *pointer, struct str token);

/* *doc may be replaced by a new root (patching the root). Failing test: -ERR_CONFLICT; bad
 * operation or pointer: -ERR_INVALID naming its index. */
int patch_apply_json(struct jdoc **doc, const struct jdoc *patch, struct err *err);
void patch_apply_merge(struct jdoc **doc, const struct jdoc *patch);
/* The smallest merge patch that turns object a into object b (an object root, empty when equal);
 * caller owns. Nulls inside b cannot be expressed in a merge patch and count as absent. */
struct jdoc *patch_diff_merge(const struct jdoc *a, const struct jdoc *b);

#endif
