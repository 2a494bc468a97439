#include "scheduler/multikueue/manager/mirror.h"

#include "base/attrs.h"
#include "enc/json/jdoc.h"

struct jdoc *mirror_patch(const struct jdoc *local, struct jdoc **ret_status)
{
	static const char *const same[] = { "uid", "resourceVersion" };
	struct jdoc *patch = jdoc_new_object();
	struct jdoc *meta = jdoc_ensure_object(patch, "metadata");

	for (size_t i = 0; i < ARRAY_LEN(same); i++) {
		const char *text = jdoc_str(jdoc_get(jdoc_get(local, "metadata"), same[i]));

		if (text != NULL) {
			jdoc_set_str(meta, same[i], text);
		}
	}
	*ret_status = jdoc_ensure_object(patch, "status");
	return patch;
}

void mirror_difference(const struct jdoc *from, const struct jdoc *to, struct jdoc *patch)
{
	if (to != NULL && jdoc_kind(to) != JDOC_OBJECT) {
		return;
	}
	for (const struct jdoc *m = jdoc_first(from); m != NULL; m = jdoc_next(m)) {
		if (jdoc_get(to, jdoc_key(m)) == NULL) {
			jdoc_set_take(patch, jdoc_key(m), jdoc_new_null());
		}
	}
	for (const struct jdoc *m = jdoc_first(to); m != NULL; m = jdoc_next(m)) {
		const struct jdoc *old = jdoc_get(from, jdoc_key(m));

		if (jdoc_equal(old, m)) {
			continue;
		}
		if (jdoc_kind(old) == JDOC_OBJECT && jdoc_kind(m) == JDOC_OBJECT) {
			mirror_difference(old, m, jdoc_ensure_object(patch, jdoc_key(m)));
		} else {
			jdoc_set_take(patch, jdoc_key(m), jdoc_copy(m));
		}
	}
}
