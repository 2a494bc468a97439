#include "kube/json_cut.h"

#include <string.h>

#include "base/strbuf.h"

void json_cut_init(struct json_cut *c, struct str text)
{
	c->pos = text.p == NULL ? "" : text.p;
	c->end = c->pos + text.len;
	c->first = true;
	c->failed = text.p == NULL;
}

static void skip_blanks(struct json_cut *c)
{
	while (c->pos < c->end &&
	       (*c->pos == ' ' || *c->pos == '\n' || *c->pos == '\r' || *c->pos == '\t')) {
		c->pos++;
	}
}

static bool fail(struct json_cut *c)
{
	c->failed = true;
	return false;
}

/* The next byte that is not blank; 0 at the end. */
static char peek(struct json_cut *c)
{
	if (c->failed) {
		return 0;
	}
	skip_blanks(c);
	return c->pos < c->end ? *c->pos : 0;
}

/* From behind the opening quote to behind the closing one; NULL: no closing quote. */
static const char *skip_string(const char *p, const char *end)
{
	while (p < end) {
		const char *quote = memchr(p, '"', (size_t)(end - p));
		const char *back = quote;

		if (quote == NULL) {
			return NULL;
		}
		while (back > p && back[-1] == '\\') {
			back--;
		}
		/* An even number of backslashes escapes itself, an odd one the quote. */
		if ((quote - back) % 2 == 0) {
			return quote + 1;
		}
		p = quote + 1;
	}
	return NULL;
}

static bool is_structural(char b)
{
	return b == '"' || b == '{' || b == '}' || b == '[' || b == ']';
}

/* From an opening bracket to behind its closing one; NULL: none, or nested too deeply. */
static const char *skip_nested(const char *p, const char *end)
{
	unsigned depth = 0;

	while (p < end) {
		char b = *p++;

		if (!is_structural(b)) {
			continue;
		}
		if (b == '"') {
			p = skip_string(p, end);
			if (p == NULL) {
				return NULL;
			}
		} else if (b == '{' || b == '[') {
			if (++depth > JSON_CUT_MAX_DEPTH) {
				return NULL;
			}
		} else if (--depth == 0) {
			return p;
		}
	}
	return NULL;
}

static const char *skip_scalar(const char *p, const char *end)
{
	const char *start = p;

	while (p < end && *p != ',' && *p != '}' && *p != ']' && *p != ':' && *p != ' ' &&
	       *p != '\n' && *p != '\r' && *p != '\t' && *p != '"' && *p != '{' && *p != '[') {
		p++;
	}
	return p == start ? NULL : p;
}

bool json_cut_value(struct json_cut *c, struct str *ret_value)
{
	char b = peek(c);
	const char *after;

	if (b == 0) {
		return fail(c);
	}
	if (b == '"') {
		after = skip_string(c->pos + 1, c->end);
	} else if (b == '{' || b == '[') {
		after = skip_nested(c->pos, c->end);
	} else {
		after = skip_scalar(c->pos, c->end);
	}
	if (after == NULL) {
		return fail(c);
	}
	*ret_value = (struct str){ c->pos, (size_t)(after - c->pos) };
	c->pos = after;
	return true;
}

bool json_cut_open(struct json_cut *c, char bracket)
{
	if (peek(c) != bracket) {
		return false;
	}
	c->pos++;
	c->first = true;
	return true;
}

/* Before an item: consumes the comma, or the closing bracket (then false). */
static bool next_item(struct json_cut *c, char closer)
{
	char b = peek(c);

	if (b == closer) {
		c->pos++;
		c->first = false;
		return false;
	}
	if (!c->first) {
		if (b != ',') {
			return fail(c);
		}
		c->pos++;
	}
	c->first = false;
	return !c->failed;
}

bool json_cut_member(struct json_cut *c, struct str *ret_key, struct str *ret_value)
{
	struct str key, value;

	if (!next_item(c, '}')) {
		return false;
	}
	if (peek(c) != '"' || !json_cut_value(c, &key) || peek(c) != ':') {
		return fail(c);
	}
	c->pos++;
	if (!json_cut_value(c, &value)) {
		return false;
	}
	*ret_key = json_cut_string(key);
	*ret_value = value;
	return true;
}

bool json_cut_item(struct json_cut *c, struct str *ret_value)
{
	return next_item(c, ']') && json_cut_value(c, ret_value);
}

bool json_cut_at_end(struct json_cut *c)
{
	return !c->failed && peek(c) == 0 && c->pos == c->end;
}

struct str json_cut_string(struct str value)
{
	if (value.len < 2 || value.p[0] != '"') {
		return (struct str){ NULL, 0 };
	}
	return (struct str){ value.p + 1, value.len - 2 };
}

bool json_cut_int(struct str value, int64_t *ret)
{
	return value.p != NULL && str_to_i64(value, ret);
}

bool json_cut_meta(struct str object, struct json_cut_meta *ret)
{
	struct json_cut_meta meta = { { NULL, 0 }, { NULL, 0 }, { NULL, 0 } };
	struct json_cut c;
	struct str key, value;
	bool found = false;

	json_cut_init(&c, object);
	if (!json_cut_open(&c, '{')) {
		return false;
	}
	while (!found && json_cut_member(&c, &key, &value)) {
		found = str_eq_c(key, "metadata");
	}
	if (!found) {
		return false;
	}
	json_cut_init(&c, value);
	if (!json_cut_open(&c, '{')) {
		return false;
	}
	while (json_cut_member(&c, &key, &value)) {
		if (str_eq_c(key, "namespace")) {
			meta.namespace_ = json_cut_string(value);
		} else if (str_eq_c(key, "name")) {
			meta.name = json_cut_string(value);
		} else if (str_eq_c(key, "resourceVersion")) {
			meta.resource_version = json_cut_string(value);
		}
	}
	if (c.failed) {
		return false;
	}
	*ret = meta;
	return true;
}

static int hex_digit(char b)
{
	if (b >= '0' && b <= '9') {
		return b - '0';
	}
	b = (char)(b | 0x20);
	return b >= 'a' && b <= 'f' ? b - 'a' + 10 : -1;
}

/* Four hexadecimal digits at p; -1: broken. */
static int32_t hex4(const char *p, const char *end)
{
	int32_t n = 0;

	if (end - p < 4) {
		return -1;
	}
	for (int i = 0; i < 4; i++) {
		int d = hex_digit(p[i]);

		if (d < 0) {
			return -1;
		}
		n = n * 16 + d;
	}
	return n;
}

static void add_utf8(struct strbuf *out, int32_t cp)
{
	if (cp == 0) {
		strbuf_add_c(out, SCAN_NUL);
		return;
	}
	if (cp < 0x80) {
		strbuf_add_ch(out, (char)cp);
		return;
	}
	if (cp < 0x800) {
		strbuf_add_ch(out, (char)(0xc0 | (cp >> 6)));
	} else if (cp < 0x10000) {
		strbuf_add_ch(out, (char)(0xe0 | (cp >> 12)));
		strbuf_add_ch(out, (char)(0x80 | ((cp >> 6) & 0x3f)));
	} else {
		strbuf_add_ch(out, (char)(0xf0 | (cp >> 18)));
		strbuf_add_ch(out, (char)(0x80 | ((cp >> 12) & 0x3f)));
		strbuf_add_ch(out, (char)(0x80 | ((cp >> 6) & 0x3f)));
	}
	strbuf_add_ch(out, (char)(0x80 | (cp & 0x3f)));
}

/* p is behind "\u"; returns the position behind the escape, NULL: broken. */
static const char *unescape_u(const char *p, const char *end, struct strbuf *out)
{
	int32_t cp = hex4(p, end);

	if (cp < 0) {
		return NULL;
	}
	p += 4;
	if (cp >= 0xd800 && cp < 0xdc00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u') {
		int32_t low = hex4(p + 2, end);

		if (low >= 0xdc00 && low < 0xe000) {
			cp = 0x10000 + ((cp - 0xd800) << 10) + (low - 0xdc00);
			p += 6;
		}
	}
	/* A lone half of a pair is no character. */
	add_utf8(out, cp >= 0xd800 && cp < 0xe000 ? 0xfffd : cp);
	return p;
}

bool json_cut_unescape(struct str raw, struct strbuf *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *p = raw.p == NULL ? "" : raw.p, *end = p + raw.len;

	while (p < end) {
		const char *found;

		if (*p != '\\') {
			strbuf_add_ch(out, *p++);
			continue;
		}
		if (++p == end) {
			return false;
		}
		if (*p == 'u') {
			p = unescape_u(p + 1, end, out);
			if (p == NULL) {
				return false;
			}
			continue;
		}
		found = memchr(from, *p++, sizeof(from) - 1);
		if (found == NULL) {
			return false;
		}
		strbuf_add_ch(out, to[found - from]);
	}
	return true;
}
