#include "enc/json/reader.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "enc/json/scan.h"

/* closer[] holds '}' or ']'; this bit marks a level of which nothing has been read yet. */
#define FIRST 0x80

void reader_of_jdoc(struct reader *r, const struct jdoc *d)
{
	r->node = d;
	r->arena = NULL;
	r->depth = 0;
	r->is_text = false;
	r->failed = false;
}

void reader_of_text(struct reader *r, struct str text, struct arena *arena)
{
	r->start = text.p == NULL ? "" : text.p;
	r->end = r->start + text.len;
	r->pos = scan_blank(r->start, r->end);
	r->arena = arena;
	r->depth = 0;
	r->is_text = true;
	r->failed = false;
}

/* The first error counts; what goes wrong afterwards follows from it. */
static void fail(struct reader *r, const char *at, const char *what)
{
	size_t line, column;

	if (r->failed) {
		return;
	}
	r->failed = true;
	if (!r->is_text) {
		snprintf(r->error, sizeof(r->error), "invalid JSON: %s", what);
		return;
	}
	scan_position(r->start, at, &line, &column);
	snprintf(r->error, sizeof(r->error), "invalid JSON at line %zu column %zu: %s", line,
		 column, what);
}

static bool moved(struct reader *r, const char *p, const struct scan_error *e)
{
	if (UNLIKELY(p == NULL)) {
		fail(r, e->at, e->what);
		return false;
	}
	r->pos = p;
	return true;
}

/* By the first byte alone: the rest is checked when the value is consumed. */
static enum jdoc_kind text_kind(struct reader *r)
{
	if (UNLIKELY(r->failed)) {
		return JDOC_NULL;
	}
	if (UNLIKELY(r->pos >= r->end)) {
		fail(r, r->end, "unexpected end of text");
		return JDOC_NULL;
	}
	switch (*r->pos) {
	case '{':
		return JDOC_OBJECT;
	case '[':
		return JDOC_ARRAY;
	case '"':
		return JDOC_STRING;
	case 't':
	case 'f':
		return JDOC_BOOL;
	case 'n':
		return JDOC_NULL;
	case '-':
		return JDOC_NUMBER;
	default:
		if (*r->pos >= '0' && *r->pos <= '9') {
			return JDOC_NUMBER;
		}
		fail(r, r->pos, "value expected");
		return JDOC_NULL;
	}
}

enum jdoc_kind reader_kind(struct reader *r)
{
	if (r->is_text) {
		return text_kind(r);
	}
	return r->failed ? JDOC_NULL : jdoc_kind(r->node);
}

bool reader_has_failed(const struct reader *r)
{
	return r->failed;
}

void reader_enter(struct reader *r)
{
	enum jdoc_kind kind = reader_kind(r);

	if (r->failed) {
		return;
	}
	assert(kind == JDOC_OBJECT || kind == JDOC_ARRAY);
	if (r->depth == READER_MAX_DEPTH) {
		fail(r, r->pos, "nested too deeply");
		return;
	}
	if (r->is_text) {
		r->closer[r->depth] = (uint8_t)((kind == JDOC_OBJECT ? '}' : ']') | FIRST);
		r->pos++;
	} else {
		r->next[r->depth] = jdoc_first(r->node);
	}
	r->depth++;
}

static struct str unescape(struct str s, struct arena *arena)
{
	char *copy = arena_alloc(arena, s.len + 1);
	size_t n = 0;
	bool valid = scan_unescape(s, copy, &n);

	assert(valid);
	copy[n] = '\0';
	return (struct str){ copy, n };
}

/* Moves from a member name to its value; *ret_key is the name as written, escapes included. */
static bool text_key(struct reader *r, struct str *ret_key)
{
	struct scan_error e = { 0 };
	const char *p = r->pos, *begin;
	bool escaped = false;

	if (UNLIKELY(p == r->end || *p != '"')) {
		fail(r, p, "member name expected");
		return false;
	}
	begin = p + 1;
	p = scan_string(begin, r->end, &escaped, &e);
	if (!moved(r, p, &e)) {
		return false;
	}
	*ret_key = (struct str){ begin, (size_t)(p - begin) };
	if (UNLIKELY(escaped)) {
		*ret_key = unescape(*ret_key, r->arena);
	}
	p = scan_blank(p + 1, r->end);
	if (UNLIKELY(p == r->end || *p != ':')) {
		fail(r, p, "':' expected");
		return false;
	}
	r->pos = scan_blank(p + 1, r->end);
	return true;
}

static bool text_next(struct reader *r, struct str *ret_key)
{
	const char *p = scan_blank(r->pos, r->end);
	uint8_t *level = &r->closer[r->depth - 1];
	char closer = (char)(*level & ~FIRST);

	if (UNLIKELY(p == r->end)) {
		fail(r, p, "unexpected end of text");
		return false;
	}
	if (*p == closer) {
		r->pos = p + 1;
		r->depth--;
		return false;
	}
	if ((*level & FIRST) != 0) {
		*level = (uint8_t)closer;
	} else if (UNLIKELY(*p != ',')) {
		fail(r, p, closer == '}' ? "',' or '}' expected" : "',' or ']' expected");
		return false;
	} else {
		p = scan_blank(p + 1, r->end);
	}
	r->pos = p;
	if (closer == '}') {
		return text_key(r, ret_key);
	}
	*ret_key = (struct str){ NULL, 0 };
	return true;
}

bool reader_next(struct reader *r, struct str *ret_key)
{
	const struct jdoc *child;

	if (UNLIKELY(r->failed)) {
		return false;
	}
	assert(r->depth > 0);
	if (r->is_text) {
		return text_next(r, ret_key);
	}
	child = r->next[r->depth - 1];
	if (child == NULL) {
		r->depth--;
		return false;
	}
	r->next[r->depth - 1] = jdoc_next(child);
	r->node = child;
	*ret_key = str_of(jdoc_key(child));
	return true;
}

/* The bytes between the quotes; *ret_escaped: they contain escapes. */
static struct str text_str(struct reader *r, bool *ret_escaped)
{
	struct scan_error e = { 0 };
	const char *begin = r->pos + 1;
	const char *p = scan_string(begin, r->end, ret_escaped, &e);

	if (!moved(r, p, &e)) {
		return (struct str){ NULL, 0 };
	}
	r->pos = p + 1;
	return (struct str){ begin, (size_t)(p - begin) };
}

struct str reader_str(struct reader *r)
{
	enum jdoc_kind kind = reader_kind(r);
	bool escaped = false;
	struct str s;

	if (r->failed) {
		return (struct str){ NULL, 0 };
	}
	assert(kind == JDOC_STRING);
	if (!r->is_text) {
		return str_of(jdoc_str(r->node));
	}
	s = text_str(r, &escaped);
	return escaped && s.p != NULL ? unescape(s, r->arena) : s;
}

const char *reader_str_dup(struct reader *r, struct arena *arena)
{
	enum jdoc_kind kind = reader_kind(r);
	bool escaped = false;
	struct str s;

	if (r->failed) {
		return NULL;
	}
	assert(kind == JDOC_STRING);
	if (!r->is_text) {
		return arena_dup(arena, jdoc_str(r->node));
	}
	s = text_str(r, &escaped);
	if (s.p == NULL) {
		return NULL;
	}
	return escaped ? unescape(s, arena).p : arena_dup_n(arena, s.p, s.len);
}

/* The text of the number at the current position. */
static struct str text_num(struct reader *r)
{
	struct scan_error e = { 0 };
	const char *begin = r->pos;

	if (!moved(r, scan_number(begin, r->end, &e), &e)) {
		return (struct str){ NULL, 0 };
	}
	return (struct str){ begin, (size_t)(r->pos - begin) };
}

double reader_num(struct reader *r)
{
	enum jdoc_kind kind = reader_kind(r);
	struct str s;

	if (r->failed) {
		return 0;
	}
	assert(kind == JDOC_NUMBER);
	if (!r->is_text) {
		return jdoc_num(r->node, 0);
	}
	s = text_num(r);
	return s.p == NULL ? 0 : scan_double(s);
}

bool reader_int(struct reader *r, int64_t *ret)
{
	enum jdoc_kind kind = reader_kind(r);
	struct str s;
	double n;

	if (r->failed) {
		return false;
	}
	assert(kind == JDOC_NUMBER);
	if (r->is_text) {
		s = text_num(r);
		if (s.p == NULL) {
			return false;
		}
		/* Digits alone are read exactly: a double would round beyond 2^53. */
		if (str_to_i64(s, ret)) {
			return true;
		}
		n = scan_double(s);
	} else {
		n = jdoc_num(r->node, 0);
	}
	/* 1.0 and 1e3 are integers, too; the bounds are exact as doubles. */
	if (n < -9223372036854775808.0 || n >= 9223372036854775808.0 || n != (double)(int64_t)n) {
		return false;
	}
	*ret = (int64_t)n;
	return true;
}

bool reader_bool(struct reader *r)
{
	enum jdoc_kind kind = reader_kind(r);
	struct scan_error e = { 0 };
	bool value;

	if (r->failed) {
		return false;
	}
	assert(kind == JDOC_BOOL);
	if (!r->is_text) {
		return jdoc_bool(r->node, false);
	}
	value = *r->pos == 't';
	return moved(r, scan_literal(r->pos, r->end, value ? "true" : "false", &e), &e) && value;
}

/* In a tree there is nothing to do: reader_next continues with the next sibling in any case. */
void reader_skip(struct reader *r)
{
	struct scan_error e = { 0 };

	if (!r->failed && r->is_text) {
		moved(r, scan_value(r->pos, r->end, SCAN_MAX_DEPTH - r->depth, &e), &e);
	}
}

struct str reader_raw(struct reader *r, struct arena *arena)
{
	struct strbuf text CLEANUP(strbuf_finish) = STRBUF_INIT;
	const char *begin = r->is_text ? r->pos : NULL;

	if (r->is_text || r->failed) {
		reader_skip(r);
		return r->failed ? (struct str){ NULL, 0 }
				 : (struct str){ begin, (size_t)(r->pos - begin) };
	}
	jdoc_format(r->node, &text);
	return arena_str(arena, strbuf_str(&text));
}

int reader_finish(struct reader *r, struct err *err)
{
	const char *p;

	assert(r->failed || r->depth == 0);
	if (!r->failed && r->is_text) {
		p = scan_blank(r->pos, r->end);
		if (p != r->end) {
			fail(r, p, "unexpected text after the value");
		}
	}
	return r->failed ? err_set(err, ERR_INVALID, "%s", r->error) : 0;
}

struct reader_mark reader_mark(const struct reader *r)
{
	return (struct reader_mark){ r->is_text ? NULL : r->node, r->is_text ? r->pos : NULL,
				     r->depth };
}

/* The levels around the value are as they were, because the reader has not left it since. */
void reader_rewind(struct reader *r, const struct reader_mark *m)
{
	assert(!r->failed && r->depth >= m->depth);
	r->node = m->node;
	r->pos = m->pos;
	r->depth = m->depth;
}
