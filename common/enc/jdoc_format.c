#include "enc/jdoc.h"

#include "base/strbuf.h"
#include "enc/json_text.h"

#define INDENT 4
#define COMPACT (-1)

static void new_line(struct strbuf *out, int level)
{
	static const char blanks[] = "                                ";
	size_t n;

	if (level == COMPACT) {
		return;
	}
	strbuf_add_ch(out, '\n');
	for (size_t left = (size_t)level * INDENT; left > 0; left -= n) {
		n = left < sizeof(blanks) - 1 ? left : sizeof(blanks) - 1;
		strbuf_add(out, blanks, n);
	}
}

static void format(const struct jdoc *d, int level, struct strbuf *out);

static void format_children(const struct jdoc *d, int level, struct strbuf *out)
{
	bool is_object = jdoc_kind(d) == JDOC_OBJECT;
	int inner = level == COMPACT ? COMPACT : level + 1;

	strbuf_add_ch(out, is_object ? '{' : '[');
	for (const struct jdoc *c = jdoc_first(d); c != NULL; c = jdoc_next(c)) {
		if (c != jdoc_first(d)) {
			strbuf_add_ch(out, ',');
		}
		new_line(out, inner);
		if (is_object) {
			json_text_quote(out, str_of(jdoc_key(c)));
			strbuf_add_c(out, level == COMPACT ? ":" : ": ");
		}
		format(c, inner, out);
	}
	if (jdoc_first(d) != NULL) {
		new_line(out, level);
	}
	strbuf_add_ch(out, is_object ? '}' : ']');
}

static void format(const struct jdoc *d, int level, struct strbuf *out)
{
	switch (jdoc_kind(d)) {
	case JDOC_NULL:
		strbuf_add_c(out, "null");
		break;
	case JDOC_BOOL:
		strbuf_add_c(out, jdoc_bool(d, false) ? "true" : "false");
		break;
	case JDOC_NUMBER:
		json_text_number(out, jdoc_num(d, 0));
		break;
	case JDOC_STRING:
		json_text_quote(out, str_of(jdoc_str(d)));
		break;
	case JDOC_ARRAY:
	case JDOC_OBJECT:
		format_children(d, level, out);
		break;
	}
}

void jdoc_format(const struct jdoc *d, struct strbuf *out)
{
	format(d, COMPACT, out);
}

void jdoc_format_pretty(const struct jdoc *d, struct strbuf *out)
{
	format(d, 0, out);
}
