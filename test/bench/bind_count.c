#include "bench/bind_count.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "kube/reflector/reflector.h"
#include "lib/wait.h"

struct bind_count {
	const char *prefix;
	struct reflector *reflector;
	struct strmap *seen; /* transport's thread */
	_Atomic size_t bound;
	_Atomic int64_t first, last;
	_Atomic bool synced;
};

static void on_event(void *ctx, const struct reflector_event *event)
{
	struct bind_count *b = ctx;
	int64_t now;

	if (event->kind == REFLECTOR_SYNCED) {
		atomic_store(&b->synced, true);
	}
	if (event->kind != REFLECTOR_UPSERT || !str_has_prefix(event->key, b->prefix) ||
	    strmap_has(b->seen, event->key) ||
	    memmem(event->object.p, event->object.len, "\"nodeName\":", 11) == NULL) {
		return;
	}
	now = clock_mono(clock_real());
	strmap_set(b->seen, event->key, b);
	if (atomic_load(&b->first) == 0) {
		atomic_store(&b->first, now);
	}
	atomic_store(&b->last, now);
	atomic_fetch_add(&b->bound, 1);
}

struct bind_count *bind_count_start(struct transport *t, const char *prefix)
{
	struct bind_count *b = xmalloc_zero(1, sizeof(*b));
	struct reflector_options ro = { .path = "/api/v1/pods",
					.transport = t,
					.clock = clock_real(),
					.on_event = on_event,
					.ctx = b };

	b->prefix = prefix;
	b->seen = strmap_create(NULL);
	b->reflector = reflector_create(&ro);
	reflector_start(b->reflector);
	while (!atomic_load(&b->synced)) {
		(void)wait_until(INT64_MAX);
	}
	return b;
}

bool bind_count_wait(struct bind_count *b, size_t n, int64_t timeout_ns)
{
	int64_t deadline = wait_deadline(timeout_ns);

	while (atomic_load(&b->bound) < n && wait_until(deadline)) {
	}
	return atomic_load(&b->bound) >= n;
}

size_t bind_count_bound(const struct bind_count *b)
{
	return atomic_load(&b->bound);
}

int64_t bind_count_first_at(const struct bind_count *b)
{
	return atomic_load(&b->first);
}

int64_t bind_count_last_at(const struct bind_count *b)
{
	return atomic_load(&b->last);
}

void bind_count_destroy(struct bind_count *b)
{
	reflector_destroy(b->reflector);
	strmap_destroy(b->seen);
	free(b);
}
