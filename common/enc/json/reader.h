/* common/enc/json/reader.h: pull interface over one JSON value, the only thing field tables decode
 * from. Backed by a tree (reader_of_jdoc) or by a scanner over text without building a tree
 * (reader_of_text). Owner: one thread. The backing document or text must outlive the reader.
 *
 *   kind = reader_kind(r)                       looks at the current value
 *   reader_enter(r)                             into the object or array
 *   while (reader_next(r, &key)) { read or skip the value }   false: left the object again
 * Every value must be consumed exactly once by reader_str/num/int/bool, enter + next..., raw, copy
 * or skip (null: skip). scan.h says what the scanner refuses. After an error (syntax, or a tree
 * deeper than READER_MAX_DEPTH) all calls return "nothing" and reader_finish says what was wrong.
 */
#ifndef COMMON_ENC_JSON_READER_H
#define COMMON_ENC_JSON_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "enc/json/jdoc.h"

#define READER_MAX_DEPTH JDOC_MAX_DEPTH

struct arena;
struct err;
struct strbuf;

struct reader {
	/* private; the struct is open so that it can live on the stack */
	const struct jdoc *node;                   /* tree: current value */
	const struct jdoc *next[READER_MAX_DEPTH]; /* tree: next child per level */
	const char *pos, *end, *start;             /* text */
	struct arena *arena;                       /* text: unescaped strings */
	uint8_t closer[READER_MAX_DEPTH];          /* text: '}' or ']' per level, with first flag */
	unsigned depth;
	bool is_text;
	bool failed;
	char error[120];
};

void reader_of_jdoc(struct reader *r, const struct jdoc *d);
/* Strings with escapes are unescaped into arena, others point into text. */
void reader_of_text(struct reader *r, struct str text, struct arena *arena);

enum jdoc_kind reader_kind(struct reader *r);
bool reader_has_failed(const struct reader *r);
void reader_enter(struct reader *r);                     /* asserts object or array */
bool reader_next(struct reader *r, struct str *ret_key); /* key absent inside arrays */
struct str reader_str(struct reader *r);                 /* asserts a string; not NUL-terminated */
/* The string as a NUL-terminated copy in arena; NULL after a syntax error. */
const char *reader_str_dup(struct reader *r, struct arena *arena);
double reader_num(struct reader *r); /* asserts a number */
bool reader_int(struct reader *r,
		int64_t *ret); /* consumes the number; false: not integral or out of int64 */
bool reader_bool(struct reader *r);
void reader_skip(struct reader *r); /* any value */
/* Any value as JSON text: borrowed from the text, or from a tree formatted into arena. */
struct str reader_raw(struct reader *r, struct arena *arena);
/* 0 when all went well and (text) only blanks follow the value, else -ERR_INVALID with offset. */
int reader_finish(struct reader *r, struct err *err);

/* A place to go back to, from anywhere inside the value that is current when it is taken. */
struct reader_mark {
	const struct jdoc *node;
	const char *pos;
	unsigned depth;
};
struct reader_mark reader_mark(const struct reader *r);
void reader_rewind(struct reader *r, const struct reader_mark *m); /* not after an error */

#endif
