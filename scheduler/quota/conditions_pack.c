#include "quota/conditions_pack.h"

#include <string.h>

#include "base/arena.h"
#include "base/xmalloc.h"

/* Everything is put one after the other, twice: first to count bytes, then to copy them. */
struct pack {
	char *block; /* NULL: only count */
	size_t used;
};

/* NULL while it is counted. */
static void *put(struct pack *p, const void *from, size_t count, size_t size)
{
	const size_t align = _Alignof(struct condition); /* no element needs more */
	size_t at = (p->used + align - 1) / align * align;

	p->used = at + count * size;
	if (p->block == NULL || count == 0) {
		return NULL;
	}
	return memcpy(p->block + at, from, count * size);
}

static const char *put_text(struct pack *p, const char *text)
{
	size_t at = p->used, size = text == NULL ? 0 : strlen(text) + 1;

	p->used += size;
	return p->block == NULL || text == NULL ? NULL : memcpy(p->block + at, text, size);
}

static void put_list(struct pack *p, const struct conditions *from, struct conditions *to)
{
	to->list.n = to->list.cap = from->list.n;
	to->list.v = put(p, from->list.v, from->list.n, sizeof(from->list.v[0]));
	for (size_t i = 0; i < from->list.n; i++) {
		struct condition one = from->list.v[i];

		one.type = put_text(p, one.type);
		one.status = put_text(p, one.status);
		one.reason = put_text(p, one.reason);
		one.message = put_text(p, one.message);
		if (to->list.v != NULL) {
			to->list.v[i] = one;
		}
	}
}

static void put_evictions(struct pack *p, const struct conditions *from, struct conditions *to)
{
	to->evictions.n = to->evictions.cap = from->evictions.n;
	to->evictions.v =
		put(p, from->evictions.v, from->evictions.n, sizeof(from->evictions.v[0]));
	for (size_t i = 0; i < from->evictions.n; i++) {
		const char *reason = put_text(p, from->evictions.v[i].reason);
		const char *cause = put_text(p, from->evictions.v[i].cause);

		if (to->evictions.v != NULL) {
			to->evictions.v[i].reason = reason;
			to->evictions.v[i].cause = cause;
		}
	}
}

static void put_checks(struct pack *p, const struct conditions *from, struct conditions *to)
{
	to->checks.n = to->checks.cap = from->checks.n;
	to->checks.v = put(p, from->checks.v, from->checks.n, sizeof(from->checks.v[0]));
	for (size_t i = 0; i < from->checks.n; i++) {
		const char *name = put_text(p, from->checks.v[i].name);
		const char *message = put_text(p, from->checks.v[i].message);

		if (to->checks.v != NULL) {
			to->checks.v[i].name = name;
			to->checks.v[i].message = message;
		}
	}
	to->gates.n = to->gates.cap = from->gates.n;
	to->gates.v = put(p, from->gates.v, from->gates.n, sizeof(from->gates.v[0]));
	for (size_t i = 0; i < from->gates.n; i++) {
		const char *name = put_text(p, from->gates.v[i].name);

		if (to->gates.v != NULL) {
			to->gates.v[i].name = name;
		}
	}
}

static struct conditions_podset *put_podsets(struct pack *p, const struct conditions_podset *from,
					     size_t n)
{
	struct conditions_podset *to = put(p, from, n, sizeof(from[0]));

	for (size_t i = 0; i < n; i++) {
		struct conditions_usage *v = put(p, from[i].v, from[i].n, sizeof(v[0]));
		const char *name;

		for (size_t k = 0; k < from[i].n; k++) {
			const char *flavor = put_text(p, from[i].v[k].flavor);

			if (v != NULL) {
				v[k].flavor = flavor;
			}
		}
		name = put_text(p, from[i].name);
		if (to != NULL) {
			to[i].name = name;
			to[i].v = v;
		}
	}
	return to;
}

static const char **put_names(struct pack *p, const char *const *from, size_t n)
{
	const char **to = put(p, from, n, sizeof(from[0]));

	for (size_t i = 0; i < n; i++) {
		const char *name = put_text(p, from[i]);

		if (to != NULL) {
			to[i] = name;
		}
	}
	return to;
}

/* Returns the bytes that it takes. */
static size_t pack_all(const struct conditions *from, char *block)
{
	struct pack p = { block, sizeof(*from) };
	struct conditions to = *from;

	to.arena = NULL;
	put_list(&p, from, &to);
	put_evictions(&p, from, &to);
	put_checks(&p, from, &to);
	to.podsets.cap = from->podsets.n;
	to.podsets.v = put_podsets(&p, from->podsets.v, from->podsets.n);
	to.requests.cap = from->requests.n;
	to.requests.v = put_podsets(&p, from->requests.v, from->requests.n);
	to.nominated.cap = from->nominated.n;
	to.nominated.v = put_names(&p, from->nominated.v, from->nominated.n);
	to.unhealthy.cap = from->unhealthy.n;
	to.unhealthy.v = put_names(&p, from->unhealthy.v, from->unhealthy.n);
	to.queue = put_text(&p, from->queue);
	to.cluster = put_text(&p, from->cluster);
	if (block != NULL) {
		memcpy(block, &to, sizeof(to));
	}
	return p.used;
}

struct conditions *conditions_pack_all(const struct conditions *from)
{
	void *block = xmalloc(pack_all(from, NULL));

	(void)pack_all(from, block);
	return block;
}

const struct conditions *conditions_pack_in(const struct conditions *from, struct arena *arena)
{
	void *block = arena_alloc(arena, pack_all(from, NULL));

	(void)pack_all(from, block);
	return block;
}

struct conditions *conditions_pack_one(const struct conditions *from, const char *type)
{
	const struct condition *found = conditions_find(from, type);
	struct condition one = { 0 };
	struct conditions only = { .generation = from->generation,
				   .list = { &one, found != NULL, found != NULL } };

	if (found != NULL) {
		one = *found;
	}
	one.message = "";
	return conditions_pack_all(&only);
}
