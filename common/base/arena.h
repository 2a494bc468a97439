/* common/base/arena.h: memory that is freed all at once.
 * Owner: one thread. Allocation never fails (aborts on exhaustion). Alignment 16. */
#ifndef COMMON_BASE_ARENA_H
#define COMMON_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

#include "base/attrs.h"
#include "base/str.h"

struct arena;

/* chunk_size in bytes (0: 8 KiB); larger requests get a chunk of their own. */
struct arena *arena_create(size_t chunk_size);
void arena_destroy(struct arena *a);    /* NULL is fine */
void arena_destroyp(struct arena **pa); /* for CLEANUP */

/* Frees everything at once but keeps the memory for re-use. All pointers into it become invalid. */
void arena_reset(struct arena *a);

MUST_USE void *arena_alloc(struct arena *a, size_t size);              /* not zeroed */
MUST_USE void *arena_zero(struct arena *a, size_t count, size_t size); /* zeroed */
MUST_USE char *arena_dup(struct arena *a, const char *text);           /* NULL gives NULL */
MUST_USE char *arena_dup_n(struct arena *a, const char *bytes, size_t len);
MUST_USE char *arena_printf(struct arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3);
MUST_USE char *arena_vprintf(struct arena *a, const char *fmt, va_list args) PRINTF_LIKE(2, 0);
/* Concatenates the texts: much faster than arena_printf. */
MUST_USE char *arena_join(struct arena *a, const char *const *parts, size_t n);
struct str arena_str(struct arena *a, struct str s); /* copy, NUL-terminated behind len */

/* Bytes handed out since the last reset, and bytes held from the system. */
size_t arena_used(const struct arena *a);
size_t arena_held(const struct arena *a);

#endif
