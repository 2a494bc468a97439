#include "enc/json/json_out.h"

#include <assert.h>
#include <stddef.h>

#include "base/quote.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"

void json_out_init(struct json_out *o, struct strbuf *buf)
{
	o->buf = buf;
	o->depth = 0;
	o->has_item[0] = false;
	o->after_key = false;
}

void json_out_end(const struct json_out *o)
{
	assert(o->depth == 0 && !o->after_key);
}

/* Before each value: the comma, unless this is the first item or the value of a member. */
static void separate(struct json_out *o)
{
	if (o->after_key) {
		o->after_key = false;
		return;
	}
	if (o->has_item[o->depth] && o->depth > 0) {
		strbuf_add_ch(o->buf, ',');
	}
	o->has_item[o->depth] = true;
}

static void open_level(struct json_out *o, char c)
{
	separate(o);
	assert(o->depth + 1 < JSON_OUT_MAX_DEPTH);
	strbuf_add_ch(o->buf, c);
	o->has_item[++o->depth] = false;
}

static void close_level(struct json_out *o, char c)
{
	assert(o->depth > 0 && !o->after_key);
	o->depth--;
	strbuf_add_ch(o->buf, c);
}

void json_out_object(struct json_out *o)
{
	open_level(o, '{');
}

void json_out_object_end(struct json_out *o)
{
	close_level(o, '}');
}

void json_out_array(struct json_out *o)
{
	open_level(o, '[');
}

void json_out_array_end(struct json_out *o)
{
	close_level(o, ']');
}

void json_out_key(struct json_out *o, const char *key)
{
	assert(o->depth > 0 && !o->after_key);
	separate(o);
	quote_json(o->buf, str_of(key));
	strbuf_add_ch(o->buf, ':');
	o->after_key = true;
}

void json_out_plain_key(struct json_out *o, struct str key)
{
	assert(o->depth > 0 && !o->after_key);
	separate(o);
	strbuf_reserve(o->buf, key.len + 3);
	strbuf_add_ch(o->buf, '"');
	strbuf_add_str(o->buf, key);
	strbuf_add(o->buf, "\":", 2);
	o->after_key = true;
}

void json_out_str(struct json_out *o, const char *text)
{
	json_out_slice(o, str_of(text));
}

void json_out_slice(struct json_out *o, struct str s)
{
	if (s.p == NULL) {
		json_out_null(o);
		return;
	}
	separate(o);
	quote_json(o->buf, s);
}

void json_out_int(struct json_out *o, int64_t n)
{
	/* Negated as unsigned: INT64_MIN has no positive counterpart. */
	uint64_t rest = n < 0 ? -(uint64_t)n : (uint64_t)n;
	char digits[20];
	size_t at = sizeof(digits);

	separate(o);
	do {
		digits[--at] = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest > 0);
	if (n < 0) {
		strbuf_add_ch(o->buf, '-');
	}
	strbuf_add(o->buf, digits + at, sizeof(digits) - at);
}

void json_out_bool(struct json_out *o, bool b)
{
	separate(o);
	strbuf_add_c(o->buf, b ? "true" : "false");
}

void json_out_null(struct json_out *o)
{
	separate(o);
	strbuf_add_c(o->buf, "null");
}

void json_out_raw(struct json_out *o, struct str json)
{
	separate(o);
	strbuf_add_str(o->buf, json);
}

void json_out_doc(struct json_out *o, const struct jdoc *d)
{
	separate(o);
	jdoc_format(d, o->buf);
}

void json_out_kv(struct json_out *o, const char *key, const char *text)
{
	json_out_key(o, key);
	json_out_str(o, text);
}

void json_out_kv_int(struct json_out *o, const char *key, int64_t n)
{
	json_out_key(o, key);
	json_out_int(o, n);
}

void json_out_kv_bool(struct json_out *o, const char *key, bool b)
{
	json_out_key(o, key);
	json_out_bool(o, b);
}
