#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"

/* Under AddressSanitizer memory that is not handed out is poisoned: a pointer that outlives a reset
 * is found at its next use. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define ARENA_ASAN
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define ARENA_ASAN
#endif
#ifdef ARENA_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(p, n) __asan_poison_memory_region((p), (n))
#define UNPOISON(p, n) __asan_unpoison_memory_region((p), (n))
#else
#define POISON(p, n) ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#endif

#define CHUNK_DEFAULT ((size_t)8192)
#define ALIGN ((size_t)16)

struct chunk {
	struct chunk *next;
	size_t cap, used;
	char bytes[] __attribute__((aligned(16)));
};

/* The first chunk serves small requests. */
struct arena {
	struct chunk *chunks;
	size_t chunk_size;
	size_t used, held;
};

static void add_chunk(struct arena *a, size_t cap, bool first)
{
	struct chunk *c;

	/* Keeps the sum below from overflowing; xmalloc then fails as it should. */
	if (UNLIKELY(cap > SIZE_MAX - sizeof(*c))) {
		cap = SIZE_MAX - sizeof(*c);
	}
	c = xmalloc(sizeof(*c) + cap);
	c->cap = cap;
	c->used = 0;
	POISON(c->bytes, cap);
	if (first || a->chunks == NULL) {
		c->next = a->chunks;
		a->chunks = c;
	} else {
		c->next = a->chunks->next;
		a->chunks->next = c;
	}
	a->held += cap;
}

static void free_chunks(struct arena *a)
{
	struct chunk *next;

	for (struct chunk *c = a->chunks; c != NULL; c = next) {
		next = c->next;
		UNPOISON(c->bytes, c->cap);
		free(c);
	}
	a->chunks = NULL;
	a->held = 0;
}

struct arena *arena_create(size_t chunk_size)
{
	struct arena *a = xmalloc_zero(1, sizeof(*a));

	a->chunk_size = chunk_size == 0 ? CHUNK_DEFAULT : chunk_size;
	return a;
}

void arena_destroy(struct arena *a)
{
	if (a == NULL) {
		return;
	}
	free_chunks(a);
	free(a);
}

void arena_destroyp(struct arena **pa)
{
	arena_destroy(*pa);
	*pa = NULL;
}

void arena_reset(struct arena *a)
{
	size_t held = a->held;

	a->used = 0;
	if (a->chunks == NULL) {
		return;
	}
	/* Replaces many chunks by one of their total size: an arena that does the same work in each
	 * round soon has one chunk with room for all of it. */
	if (a->chunks->next != NULL) {
		free_chunks(a);
		add_chunk(a, held, true);
		return;
	}
	a->chunks->used = 0;
	POISON(a->chunks->bytes, a->chunks->cap);
}

void *arena_alloc(struct arena *a, size_t size)
{
	size_t need = size > SIZE_MAX - ALIGN ? SIZE_MAX : (size + ALIGN - 1) / ALIGN * ALIGN;
	struct chunk *c = a->chunks;
	void *p;

	need = need == 0 ? ALIGN : need;
	if (c == NULL || c->cap - c->used < need) {
		/* A large request must not waste the rest of the current chunk. */
		bool large = need > a->chunk_size / 2;

		add_chunk(a, need > a->chunk_size ? need : a->chunk_size, !large);
		c = large && c != NULL ? a->chunks->next : a->chunks;
	}
	p = c->bytes + c->used;
	c->used += need;
	a->used += need;
	UNPOISON(p, size);
	return p;
}

void *arena_zero(struct arena *a, size_t count, size_t size)
{
	size_t bytes;
	void *p;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		bytes = SIZE_MAX;
	}
	p = arena_alloc(a, bytes);
	memset(p, 0, bytes);
	return p;
}

char *arena_dup(struct arena *a, const char *text)
{
	return text == NULL ? NULL : arena_dup_n(a, text, strlen(text));
}

char *arena_dup_n(struct arena *a, const char *bytes, size_t len)
{
	char *copy = arena_alloc(a, len == SIZE_MAX ? len : len + 1);

	if (len > 0) {
		memcpy(copy, bytes, len);
	}
	copy[len] = '\0';
	return copy;
}

char *arena_vprintf(struct arena *a, const char *fmt, va_list args)
{
	char small[512]; /* shorter texts are formatted once */
	va_list again;
	char *text;
	int n;

	va_copy(again, args);
	n = vsnprintf(small, sizeof(small), fmt, again);
	va_end(again);
	if (n < 0) {
		return arena_dup(a, "");
	}
	if ((size_t)n < sizeof(small)) {
		return arena_dup_n(a, small, (size_t)n);
	}
	text = arena_alloc(a, (size_t)n + 1);
	vsnprintf(text, (size_t)n + 1, fmt, args);
	return text;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	text = arena_vprintf(a, fmt, args);
	va_end(args);
	return text;
}

char *arena_join(struct arena *a, const char *const *parts, size_t n)
{
	size_t len = 0;
	char *text;

	for (size_t i = 0; i < n; i++) {
		len += strlen(parts[i]);
	}
	text = arena_alloc(a, len + 1);
	text[len] = '\0';
	while (n-- > 0) {
		size_t part = strlen(parts[n]);

		len -= part;
		memcpy(text + len, parts[n], part);
	}
	return text;
}

struct str arena_str(struct arena *a, struct str s)
{
	if (s.p == NULL) {
		return s;
	}
	return (struct str){ arena_dup_n(a, s.p, s.len), s.len };
}

size_t arena_used(const struct arena *a)
{
	return a->used;
}

size_t arena_held(const struct arena *a)
{
	return a->held;
}
