/* common/base/strbuf.h: growing byte buffer, always NUL-terminated.
 * Owner: one thread. `struct strbuf b = STRBUF_INIT;` needs no allocation. */
#ifndef COMMON_BASE_STRBUF_H
#define COMMON_BASE_STRBUF_H

#include <stddef.h>

#include "base/attrs.h"
#include "base/str.h"

struct strbuf {
	char *p; /* never NULL: an empty buffer points to a shared "" */
	size_t len;
	size_t cap; /* 0: p is the shared "" */
};

extern char strbuf_empty[1];
#define STRBUF_INIT                                                                                \
	{                                                                                          \
		.p = strbuf_empty, .len = 0, .cap = 0                                              \
	}

void strbuf_init(struct strbuf *b);
void strbuf_finish(struct strbuf *b); /* frees; b is as after init */
/* Like strbuf_finish, but overwrites the bytes, for secrets. Growing leaves copies behind, so
 * reserve room before adding a secret. */
void strbuf_wipe(struct strbuf *b);
void strbuf_reset(struct strbuf *b); /* length 0, memory kept */
void strbuf_add(struct strbuf *b, const void *bytes, size_t len);
void strbuf_add_c(struct strbuf *b, const char *text);
void strbuf_add_str(struct strbuf *b, struct str s);
void strbuf_add_ch(struct strbuf *b, char c);
void strbuf_printf(struct strbuf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
void strbuf_truncate(struct strbuf *b, size_t len); /* len <= b->len */
void strbuf_reserve(struct strbuf *b, size_t extra);
struct str strbuf_str(const struct strbuf *b);
char *strbuf_steal(struct strbuf *b, size_t *ret_len); /* caller frees; ret_len may be NULL */

#endif
