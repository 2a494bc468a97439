#include "enc/json/cut.h"

#include <string.h>

#include "base/strbuf.h"

void cut_init(struct cut *c, struct str text)
{
	c->pos = text.p == NULL ? "" : text.p;
	c->end = c->pos + text.len;
	c->first = true;
	c->failed = text.p == NULL;
}

static bool fail(struct cut *c)
{
	c->failed = true;
	return false;
}

/* The next byte that is not blank; 0 at the end. */
static char peek(struct cut *c)
{
	if (c->failed) {
		return 0;
	}
	c->pos = scan_blank(c->pos, c->end);
	return c->pos < c->end ? *c->pos : 0;
}

static bool is_structural(char b)
{
	return b == '"' || b == '{' || b == '}' || b == '[' || b == ']';
}

/* From an opening bracket to after its closing one; NULL: none, or nested too deeply. A bracket of
 * the wrong kind counts, too: the decoder, which validates the object, finds it. */
static const char *skip_nested(const char *p, const char *end)
{
	unsigned depth = 0;

	while (p < end) {
		char b = *p++;

		if (!is_structural(b)) {
			continue;
		}
		if (b == '"') {
			p = scan_string_end(p, end);
			if (p == NULL) {
				return NULL;
			}
			p++;
		} else if (b == '{' || b == '[') {
			if (++depth > CUT_MAX_DEPTH) {
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

bool cut_value(struct cut *c, struct str *ret_value)
{
	char b = peek(c);
	const char *after;

	if (b == 0) {
		return fail(c);
	}
	if (b == '"') {
		after = scan_string_end(c->pos + 1, c->end);
		after = after == NULL ? NULL : after + 1;
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

bool cut_open(struct cut *c, char bracket)
{
	if (peek(c) != bracket) {
		return false;
	}
	c->pos++;
	c->first = true;
	return true;
}

/* Before an item: consumes the comma, or the closing bracket (then false). */
static bool next_item(struct cut *c, char closer)
{
	char b = peek(c);

	if (b == closer) {
		c->pos++;
		/* The level outside has an item: a comma comes next. */
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

bool cut_member(struct cut *c, struct str *ret_key, struct str *ret_value)
{
	struct str key, value;

	if (!next_item(c, '}')) {
		return false;
	}
	if (peek(c) != '"' || !cut_value(c, &key) || peek(c) != ':') {
		return fail(c);
	}
	c->pos++;
	if (!cut_value(c, &value)) {
		return false;
	}
	*ret_key = cut_string(key);
	*ret_value = value;
	return true;
}

bool cut_item(struct cut *c, struct str *ret_value)
{
	return next_item(c, ']') && cut_value(c, ret_value);
}

bool cut_at_end(struct cut *c)
{
	return !c->failed && peek(c) == 0 && c->pos == c->end;
}

struct str cut_string(struct str value)
{
	if (value.len < 2 || value.p[0] != '"') {
		return (struct str){ NULL, 0 };
	}
	return (struct str){ value.p + 1, value.len - 2 };
}

bool cut_int(struct str value, int64_t *ret)
{
	return value.p != NULL && str_to_i64(value, ret);
}

bool cut_meta(struct str object, struct cut_meta *ret)
{
	struct cut_meta meta = { { NULL, 0 }, { NULL, 0 }, { NULL, 0 } };
	struct cut c;
	struct str key, value;
	bool found = false;

	cut_init(&c, object);
	if (!cut_open(&c, '{')) {
		return false;
	}
	/* Reading ends with metadata, since the API server writes it before spec and status. */
	while (!found && cut_member(&c, &key, &value)) {
		found = str_eq_c(key, "metadata");
	}
	if (!found) {
		return false;
	}
	cut_init(&c, value);
	if (!cut_open(&c, '{')) {
		return false;
	}
	while (cut_member(&c, &key, &value)) {
		if (str_eq_c(key, "namespace")) {
			meta.namespace_ = cut_string(value);
		} else if (str_eq_c(key, "name")) {
			meta.name = cut_string(value);
		} else if (str_eq_c(key, "resourceVersion")) {
			meta.resource_version = cut_string(value);
		}
	}
	if (c.failed) {
		return false;
	}
	*ret = meta;
	return true;
}

bool cut_unescape(struct str raw, struct strbuf *out)
{
	size_t n;

	if (raw.len == 0) {
		return true;
	}
	strbuf_reserve(out, raw.len);
	if (!scan_unescape(raw, out->p + out->len, &n)) {
		/* Restores the NUL at the end, which the attempt may have overwritten. */
		strbuf_truncate(out, out->len);
		return false;
	}
	out->len += n;
	out->p[out->len] = '\0';
	return true;
}
