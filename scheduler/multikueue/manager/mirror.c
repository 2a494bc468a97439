#include "scheduler/multikueue/manager/mirror.h"

#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
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

/* The members of an object by name: an object of another cluster may have any number of them. */
struct members {
	const struct jdoc **v;
	size_t n;
};

static int by_key(const void *a, const void *b)
{
	const struct jdoc *const *x = a, *const *y = b;

	return strcmp(jdoc_key(*x), jdoc_key(*y));
}

static struct members sort_members(const struct jdoc *d)
{
	struct members m = { .n = jdoc_kind(d) == JDOC_OBJECT ? jdoc_count(d) : 0 };
	const struct jdoc *c = jdoc_first(d);

	m.v = xmalloc_zero(m.n + 1, sizeof(m.v[0]));
	for (size_t i = 0; i < m.n; i++, c = jdoc_next(c)) {
		m.v[i] = c;
	}
	if (m.n > 1) {
		qsort(m.v, m.n, sizeof(m.v[0]), by_key);
	}
	return m;
}

static void members_finish(struct members *m)
{
	free(m->v);
}

/* One member: from or to NULL: it is not there. */
static void add_difference(const struct jdoc *from, const struct jdoc *to, struct jdoc *patch)
{
	if (to == NULL) {
		jdoc_add_take(patch, jdoc_key(from), jdoc_new_null());
	} else if (from != NULL && jdoc_equal(from, to)) {
		return;
	} else if (jdoc_kind(from) == JDOC_OBJECT && jdoc_kind(to) == JDOC_OBJECT) {
		mirror_difference(from, to, jdoc_add_take(patch, jdoc_key(to), jdoc_new_object()));
	} else {
		jdoc_add_take(patch, jdoc_key(to), jdoc_copy(to));
	}
}

void mirror_difference(const struct jdoc *from, const struct jdoc *to, struct jdoc *patch)
{
	CLEANUP(members_finish) struct members a = sort_members(from);
	CLEANUP(members_finish) struct members b = sort_members(to);
	size_t i = 0, k = 0;

	if (to != NULL && jdoc_kind(to) != JDOC_OBJECT) {
		return;
	}
	while (i < a.n || k < b.n) {
		int order = i == a.n ? 1 : k == b.n ? -1 : by_key(&a.v[i], &b.v[k]);

		add_difference(order <= 0 ? a.v[i] : NULL, order >= 0 ? b.v[k] : NULL, patch);
		i += order <= 0;
		k += order >= 0;
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
