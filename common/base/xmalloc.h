/* common/base/xmalloc.h: allocation that never fails: out of memory ends the process.
 * Any thread. Free with free(). Sizes are in bytes; a size of 0 returns a unique pointer. */
#ifndef COMMON_BASE_XMALLOC_H
#define COMMON_BASE_XMALLOC_H

#include <stddef.h>

#include "base/attrs.h"

/* Like malloc, calloc, realloc, strdup; abort on exhaustion or overflow. */
MUST_USE void *xmalloc(size_t size);
MUST_USE void *xmalloc_zero(size_t count, size_t size);
MUST_USE void *xmalloc_resize(void *p, size_t count, size_t size);
MUST_USE char *xmalloc_dup(const char *text);
MUST_USE char *xmalloc_dup_or_null(const char *text);                       /* NULL of NULL */
MUST_USE char *xmalloc_dup_n(const char *bytes, size_t len);                /* adds the NUL */
MUST_USE void *xmalloc_dup_array(const void *v, size_t count, size_t size); /* NULL of none */
MUST_USE char *xmalloc_printf(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* For CLEANUP: frees *pp of any pointer type. */
void xmalloc_freep(void *pp);

#endif
