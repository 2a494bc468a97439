#include "enc/json/jdoc.h"

#include <math.h>

#include "base/quote.h"
#include "base/strbuf.h"
#include "enc/json/json_text.h"

/* An int64 stays an integer, since it is not one for other programs with a point or an exponent. As
 * a double the largest is rounded up, by one. */
static void format_number(double n, struct strbuf *out)
{
	if (n == 0x1p63) {
		strbuf_printf(out, "%lld", (long long)INT64_MAX);
	} else if (n == trunc(n) && fabs(n) <= 0x1p63) {
		strbuf_printf(out, "%lld", (long long)n);
	} else {
		json_text_number(out, n);
	}
}

static void format_children(const struct jdoc *d, struct strbuf *out)
{
	bool is_object = jdoc_kind(d) == JDOC_OBJECT;

	strbuf_add_ch(out, is_object ? '{' : '[');
	for (const struct jdoc *c = jdoc_first(d); c != NULL; c = jdoc_next(c)) {
		if (c != jdoc_first(d)) {
			strbuf_add_ch(out, ',');
		}
		if (is_object) {
			quote_json(out, str_of(jdoc_key(c)));
			strbuf_add_ch(out, ':');
		}
		jdoc_format(c, out);
	}
	strbuf_add_ch(out, is_object ? '}' : ']');
}

void jdoc_format(const struct jdoc *d, struct strbuf *out)
{
	switch (jdoc_kind(d)) {
	case JDOC_NULL:
		strbuf_add_c(out, "null");
		break;
	case JDOC_BOOL:
		strbuf_add_c(out, jdoc_bool(d, false) ? "true" : "false");
		break;
	case JDOC_NUMBER:
		format_number(jdoc_num(d, 0), out);
		break;
	case JDOC_STRING:
		quote_json(out, str_of(jdoc_str(d)));
		break;
	case JDOC_ARRAY:
	case JDOC_OBJECT:
		format_children(d, out);
		break;
	}
}
