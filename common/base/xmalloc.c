#include "base/xmalloc.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static NORETURN void die(const char *why)
{
	fprintf(stderr, "fatal: %s\n", why);
	abort();
}

static void *checked(void *p)
{
	if (UNLIKELY(p == NULL)) {
		die("out of memory");
	}
	return p;
}

/* Never 0: for that malloc may return NULL, which would look like exhaustion. */
static size_t product(size_t count, size_t size)
{
	size_t bytes;

	if (UNLIKELY(__builtin_mul_overflow(count, size, &bytes))) {
		die("allocation size overflows");
	}
	return bytes == 0 ? 1 : bytes;
}

void *xmalloc(size_t size)
{
	return checked(malloc(size == 0 ? 1 : size));
}

void *xmalloc_zero(size_t count, size_t size)
{
	return checked(calloc(1, product(count, size)));
}

void *xmalloc_resize(void *p, size_t count, size_t size)
{
	return checked(realloc(p, product(count, size)));
}

char *xmalloc_dup(const char *text)
{
	return xmalloc_dup_n(text, strlen(text));
}

char *xmalloc_dup_or_null(const char *text)
{
	return text == NULL ? NULL : xmalloc_dup(text);
}

char *xmalloc_dup_n(const char *bytes, size_t len)
{
	char *copy;

	if (UNLIKELY(len == SIZE_MAX)) {
		die("allocation size overflows");
	}
	copy = xmalloc(len + 1);
	if (len > 0) {
		memcpy(copy, bytes, len);
	}
	copy[len] = '\0';
	return copy;
}

void *xmalloc_dup_array(const void *v, size_t count, size_t size)
{
	void *copy;

	if (count == 0) {
		return NULL;
	}
	copy = xmalloc(product(count, size));
	memcpy(copy, v, count * size);
	return copy;
}

char *xmalloc_printf(const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (UNLIKELY(n < 0)) {
		die("cannot format text");
	}
	return text;
}

void xmalloc_freep(void *pp)
{
	void *p;

	/* pp points to a pointer of any type: memcpy keeps within the aliasing rules. */
	memcpy(&p, pp, sizeof(p));
	free(p);
	p = NULL;
	memcpy(pp, &p, sizeof(p));
}
