#include "base/strbuf.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/xmalloc.h"

#define CAP_MIN ((size_t)64)

/* Shared by all empty buffers of all threads, so it is never written. */
char strbuf_empty[1] = "";

void strbuf_init(struct strbuf *b)
{
	b->p = strbuf_empty;
	b->len = 0;
	b->cap = 0;
}

void strbuf_finish(struct strbuf *b)
{
	if (b->cap > 0) {
		free(b->p);
	}
	strbuf_init(b);
}

void strbuf_wipe(struct strbuf *b)
{
	if (b->cap > 0) {
		explicit_bzero(b->p, b->cap);
	}
	strbuf_finish(b);
}

void strbuf_reset(struct strbuf *b)
{
	strbuf_truncate(b, 0);
}

void strbuf_reserve(struct strbuf *b, size_t extra)
{
	size_t need, cap;

	if (__builtin_add_overflow(b->len, extra, &need) ||
	    __builtin_add_overflow(need, 1, &need)) {
		need = SIZE_MAX;
	}
	if (need <= b->cap) {
		return;
	}
	cap = b->cap > SIZE_MAX / 2 ? SIZE_MAX : b->cap * 2;
	cap = cap < CAP_MIN ? CAP_MIN : cap;
	cap = cap < need ? need : cap;
	b->p = xmalloc_resize(b->cap == 0 ? NULL : b->p, cap, 1);
	b->cap = cap;
	b->p[b->len] = '\0';
}

void strbuf_add(struct strbuf *b, const void *bytes, size_t len)
{
	if (len == 0) {
		return;
	}
	strbuf_reserve(b, len);
	memcpy(b->p + b->len, bytes, len);
	b->len += len;
	b->p[b->len] = '\0';
}

void strbuf_add_c(struct strbuf *b, const char *text)
{
	strbuf_add(b, text, strlen(text));
}

void strbuf_add_str(struct strbuf *b, struct str s)
{
	strbuf_add(b, s.p, s.len);
}

void strbuf_add_ch(struct strbuf *b, char c)
{
	if (b->cap - b->len < 2) {
		strbuf_reserve(b, 1);
	}
	b->p[b->len++] = c;
	b->p[b->len] = '\0';
}

void strbuf_printf(struct strbuf *b, const char *fmt, ...)
{
	size_t room;
	va_list ap;
	int n;

	/* Most texts fit, and are formatted once. */
	strbuf_reserve(b, CAP_MIN);
	room = b->cap - b->len;
	va_start(ap, fmt);
	n = vsnprintf(b->p + b->len, room, fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n >= room) {
		strbuf_reserve(b, (size_t)n);
		va_start(ap, fmt);
		n = vsnprintf(b->p + b->len, b->cap - b->len, fmt, ap);
		va_end(ap);
	}
	if (n < 0) {
		b->p[b->len] = '\0';
		return;
	}
	b->len += (size_t)n;
}

void strbuf_truncate(struct strbuf *b, size_t len)
{
	assert(len <= b->len);
	b->len = len;
	if (b->cap > 0) {
		b->p[len] = '\0';
	}
}

struct str strbuf_str(const struct strbuf *b)
{
	return (struct str){ b->p, b->len };
}

char *strbuf_steal(struct strbuf *b, size_t *ret_len)
{
	char *p = b->cap > 0 ? b->p : xmalloc_dup("");

	if (ret_len != NULL) {
		*ret_len = b->len;
	}
	strbuf_init(b);
	return p;
}
