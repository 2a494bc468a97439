/* common/enc/json/patch_apply.h: applies JSON Patch (RFC 6902) and JSON Merge Patch (RFC 7386) to a
 * tree. Limits: PATCH_APPLY_MAX_OPS operations, PATCH_APPLY_MAX_COPIED bytes and JDOC_MAX_DEPTH
 * levels, as in kube-apiserver. Owner: one thread. */
#ifndef COMMON_ENC_JSON_PATCH_APPLY_H
#define COMMON_ENC_JSON_PATCH_APPLY_H

#define PATCH_APPLY_MAX_OPS 10000
#define PATCH_APPLY_MAX_COPIED (3u << 20) /* bytes of JSON that "copy" may add */

struct err;
struct jdoc;

/* All or nothing: on error the tree is as before. *doc may be replaced by a new root (a patch of
 * the root). Failing test: -ERR_CONFLICT; bad operation or pointer: -ERR_INVALID naming its index.
 */
int patch_apply_json(struct jdoc **doc, const struct jdoc *patch, struct err *err);
void patch_apply_merge(struct jdoc **doc, const struct jdoc *patch);

#endif
