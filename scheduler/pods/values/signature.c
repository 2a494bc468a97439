#include "scheduler/pods/values/signature.h"

#include <string.h>

#include "base/strbuf.h"

void signature_put_int(struct strbuf *out, int64_t n)
{
	char digits[24];
	size_t at = sizeof(digits);
	uint64_t u = n < 0 ? -(uint64_t)n : (uint64_t)n;

	do {
		digits[--at] = (char)('0' + u % 10);
		u /= 10;
	} while (u != 0);
	if (n < 0) {
		digits[--at] = '-';
	}
	strbuf_add(out, digits + at, sizeof(digits) - at);
}

/* Length first, so that no text can be mistaken for two. */
void signature_put_text(struct strbuf *out, const char *text)
{
	if (text == NULL) {
		strbuf_add_ch(out, '~');
		return;
	}
	signature_put_int(out, (int64_t)strlen(text));
	strbuf_add_ch(out, ':');
	strbuf_add_c(out, text);
}

void signature_put_term(struct strbuf *out, char mark, const struct match_term *t)
{
	strbuf_add_ch(out, mark);
	signature_put_int(out, t->weight);
	for (size_t j = 0; j < t->nexprs; j++) {
		const struct match_expr *e = &t->exprs[j];

		strbuf_add_ch(out, e->on_field ? 'f' : 'l');
		signature_put_int(out, (int64_t)e->op);
		signature_put_text(out, e->key);
		for (size_t v = 0; v < e->nvalues; v++) {
			strbuf_add_ch(out, ',');
			signature_put_text(out, e->values[v]);
		}
	}
}
