#include "unit/scheduler/multikueue/manager/body_fixture.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"

struct jdoc *body_fixture(const char *text)
{
	CLEANUP(strbuf_finish) struct strbuf json = STRBUF_INIT;
	struct err err = ERR_INIT;
	struct jdoc *d = NULL;

	for (; *text != '\0'; text++) {
		strbuf_add_ch(&json, *text == '\'' ? '"' : *text);
	}
	if (jdoc_parse(strbuf_str(&json), &d, &err) < 0) {
		print_error("%s: %s\n", err.text, json.p);
		fail();
	}
	return d;
}

void body_fixture_expect(const struct strbuf *body, const char *want)
{
	CLEANUP(jdoc_destroyp) struct jdoc *a = NULL;
	CLEANUP(jdoc_destroyp) struct jdoc *b = body_fixture(want);

	assert_int_equal(jdoc_parse(strbuf_str(body), &a, NULL), 0);
	if (!jdoc_equal(a, b)) {
		print_error("%s\nwant: %s\n", body->p, want);
		fail();
	}
}
