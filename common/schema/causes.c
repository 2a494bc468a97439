#include "schema/causes.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"

void causes_add(struct jdoc *causes, const char *reason, const char *field, const char *fmt, ...)
{
	CLEANUP(xmalloc_freep) char *text = NULL;
	struct jdoc *c = jdoc_new_object();
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	text = xmalloc_zero((size_t)n + 1, 1);
	va_start(ap, fmt);
	vsnprintf(text, (size_t)n + 1, fmt, ap);
	va_end(ap);
	jdoc_set_str(c, "reason", reason);
	jdoc_set_str(c, "message", text);
	jdoc_set_str(c, "field", field);
	jdoc_append_take(causes, c);
}

void causes_add_value(struct jdoc *causes, const char *field, const struct jdoc *value,
		      const char *why)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	if (value == NULL || jdoc_kind(value) == JDOC_NULL) {
		strbuf_add_c(&text, "null");
	} else {
		jdoc_format(value, &text);
	}
	causes_add(causes, "FieldValueInvalid", field, "Invalid value: %s: %s", text.p, why);
}
