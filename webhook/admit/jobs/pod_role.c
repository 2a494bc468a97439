#include "webhook/admit/jobs/pod_role.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "collections/vec.h"
#include "enc/digest.h"
#include "enc/json/jdoc.h"

static int by_key(const void *a, const void *b)
{
	const struct jdoc *x = *(const struct jdoc *const *)a;
	const struct jdoc *y = *(const struct jdoc *const *)b;

	return str_cmp(str_of(jdoc_key(x)), str_of(jdoc_key(y)));
}

/* Unlike json_out this has no depth limit but that of documents: the text is only hashed. */
static void add_sorted(struct strbuf *b, const struct jdoc *d);

static void add_members(struct strbuf *b, const struct jdoc *d)
{
	struct VEC(const struct jdoc *) members = VEC_INIT;

	for (const struct jdoc *m = jdoc_first(d); m != NULL; m = jdoc_next(m)) {
		if (jdoc_kind(m) != JDOC_NULL) {
			vec_push(&members, m);
		}
	}
	if (members.n > 1) {
		qsort(members.v, members.n, sizeof(members.v[0]), by_key);
	}
	for (size_t i = 0; i < members.n; i++) {
		/* With its length in front, no key can be mistaken for the text that follows it. */
		strbuf_printf(b, "%zu:%s=", strlen(jdoc_key(members.v[i])), jdoc_key(members.v[i]));
		add_sorted(b, members.v[i]);
	}
	vec_finish(&members);
}

static void add_sorted(struct strbuf *b, const struct jdoc *d)
{
	if (jdoc_kind(d) == JDOC_OBJECT) {
		strbuf_add_ch(b, '{');
		add_members(b, d);
		strbuf_add_ch(b, '}');
	} else if (jdoc_kind(d) == JDOC_ARRAY) {
		strbuf_add_ch(b, '[');
		for (const struct jdoc *m = jdoc_first(d); m != NULL; m = jdoc_next(m)) {
			add_sorted(b, m);
		}
		strbuf_add_ch(b, ']');
	} else if (jdoc_kind(d) != JDOC_NULL) {
		jdoc_format(d, b);
	}
	strbuf_add_ch(b, ';');
}

static void add_containers(struct strbuf *b, const struct jdoc *list)
{
	for (const struct jdoc *c = jdoc_first(list); c != NULL; c = jdoc_next(c)) {
		add_sorted(b, jdoc_path(c, "resources.requests"));
		add_sorted(b, jdoc_get(c, "ports"));
	}
	strbuf_add_ch(b, '/');
}

const char *pod_role_hash(const struct jdoc *spec, struct arena *arena)
{
	static const char *const plain[] = { "affinity",       "nodeSelector",
					     "overhead",       "priority",
					     "resourceClaims", "runtimeClassName",
					     "tolerations",    "topologySpreadConstraints" };
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	char hash[DIGEST_SHA1_HEX_SIZE];

	/* Pods of a group with the same role become one pod set, so these are the fields by
	 * which flavors and nodes are chosen. Images, commands and environment may differ. */
	add_containers(&text, jdoc_get(spec, "initContainers"));
	add_containers(&text, jdoc_get(spec, "containers"));
	for (size_t i = 0; i < ARRAY_LEN(plain); i++) {
		add_sorted(&text, jdoc_get(spec, plain[i]));
	}
	add_sorted(&text, jdoc_path(spec, "resources.requests"));
	digest_sha1_hex(strbuf_str(&text), hash);
	return arena_dup_n(arena, hash, POD_ROLE_DIGITS);
}
