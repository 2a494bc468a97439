#include "net/http.h"

#include <stdlib.h>

#include "base/attrs.h"
#include "base/strbuf.h"

static const char *const method_names[HTTP_METHOD_COUNT_] = {
	[HTTP_GET] = "GET",     [HTTP_POST] = "POST",     [HTTP_PUT] = "PUT",
	[HTTP_PATCH] = "PATCH", [HTTP_DELETE] = "DELETE", [HTTP_HEAD] = "HEAD",
	[HTTP_OTHER] = "OTHER",
};

struct status_row {
	int status;
	const char *text;
};

/* Sorted by status. */
static const struct status_row status_rows[] = {
	{ 100, "Continue" },
	{ 101, "Switching Protocols" },
	{ 200, "OK" },
	{ 201, "Created" },
	{ 202, "Accepted" },
	{ 204, "No Content" },
	{ 301, "Moved Permanently" },
	{ 302, "Found" },
	{ 304, "Not Modified" },
	{ 307, "Temporary Redirect" },
	{ 308, "Permanent Redirect" },
	{ 400, "Bad Request" },
	{ 401, "Unauthorized" },
	{ 403, "Forbidden" },
	{ 404, "Not Found" },
	{ 405, "Method Not Allowed" },
	{ 406, "Not Acceptable" },
	{ 408, "Request Timeout" },
	{ 409, "Conflict" },
	{ 410, "Gone" },
	{ 411, "Length Required" },
	{ 413, "Request Entity Too Large" },
	{ 415, "Unsupported Media Type" },
	{ 422, "Unprocessable Entity" },
	{ 429, "Too Many Requests" },
	{ 500, "Internal Server Error" },
	{ 501, "Not Implemented" },
	{ 502, "Bad Gateway" },
	{ 503, "Service Unavailable" },
	{ 504, "Gateway Timeout" },
};

const char *http_method_name(enum http_method m)
{
	return (unsigned)m < HTTP_METHOD_COUNT_ ? method_names[m] : method_names[HTTP_OTHER];
}

enum http_method http_method_of(struct str name)
{
	for (unsigned m = 0; m < HTTP_OTHER; m++) {
		if (str_eq_c(name, method_names[m])) {
			return (enum http_method)m;
		}
	}
	return HTTP_OTHER;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9') {
		return c - '0';
	}
	if (c >= 'a' && c <= 'f') {
		return c - 'a' + 10;
	}
	if (c >= 'A' && c <= 'F') {
		return c - 'A' + 10;
	}
	return -1;
}

/* Decodes the escape at text.p[i] ('%'); -1 when it is not one. */
static int escape_value(struct str text, size_t i)
{
	int high, low;

	if (text.len - i < 3) {
		return -1;
	}
	high = hex_value(text.p[i + 1]);
	low = hex_value(text.p[i + 2]);
	return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/* A plus sign is a blank in a query (form encoding), but not in a path. An escape that is broken
 * stays as it is. */
static void unescape(struct str text, bool plus_is_blank, struct strbuf *out)
{
	size_t i = 0;

	strbuf_reserve(out, text.len);
	while (i < text.len) {
		int value = text.p[i] == '%' ? escape_value(text, i) : -1;

		if (value >= 0) {
			strbuf_add_ch(out, (char)value);
			i += 3;
			continue;
		}
		strbuf_add_ch(out, plus_is_blank && text.p[i] == '+' ? ' ' : text.p[i]);
		i++;
	}
}

bool http_query_get(struct str query, const char *name, struct strbuf *out)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	struct str rest = query;

	strbuf_reset(out);
	while (rest.p != NULL) {
		struct str value = str_next(&rest, '&');
		struct str raw_key = str_next(&value, '=');

		strbuf_reset(&key);
		unescape(raw_key, true, &key);
		if (raw_key.len > 0 && str_eq_c(strbuf_str(&key), name)) {
			unescape(value, true, out);
			return true;
		}
	}
	return false;
}

static bool is_unreserved(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '.' || c == '_' || c == '~';
}

void http_query_escape(struct str text, struct strbuf *out)
{
	static const char digits[] = "0123456789ABCDEF";

	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.p[i];

		if (is_unreserved((char)c)) {
			strbuf_add_ch(out, (char)c);
			continue;
		}
		strbuf_add_ch(out, '%');
		strbuf_add_ch(out, digits[c >> 4]);
		strbuf_add_ch(out, digits[c & 15]);
	}
}

void http_path_unescape(struct str text, struct strbuf *out)
{
	unescape(text, false, out);
}

static int cmp_status(const void *key, const void *row)
{
	return *(const int *)key - ((const struct status_row *)row)->status;
}

const char *http_status_text(int status)
{
	const struct status_row *row = bsearch(&status, status_rows, ARRAY_LEN(status_rows),
					       sizeof(status_rows[0]), cmp_status);

	return row != NULL ? row->text : "Unknown";
}
