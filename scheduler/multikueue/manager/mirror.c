#include "scheduler/multikueue/manager/mirror.h"

#include "base/attrs.h"
#include "base/str.h"
#include "base/strbuf.h"
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

#define MIX UINT64_C(0x9e3779b97f4a7c15)

static uint64_t digest_members(const struct jdoc *d)
{
	uint64_t sum = 1;

	for (const struct jdoc *m = jdoc_first(d); m != NULL; m = jdoc_next(m)) {
		sum += (str_hash(str_of(jdoc_key(m))) * MIX) ^ (mirror_digest(m) * 31 + 7);
	}
	return sum * MIX;
}

uint64_t mirror_digest(const struct jdoc *d)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	uint64_t hash = 3;

	if (jdoc_kind(d) == JDOC_OBJECT) {
		return digest_members(d);
	}
	if (jdoc_kind(d) == JDOC_ARRAY) {
		for (const struct jdoc *m = jdoc_first(d); m != NULL; m = jdoc_next(m)) {
			hash = hash * MIX + mirror_digest(m);
		}
		return hash;
	}
	if (d != NULL) {
		jdoc_format(d, &text);
	}
	return str_hash(strbuf_str(&text));
}
