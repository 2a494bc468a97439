/* Whatever a page holds, its items lie inside it, in order and apart; and a page that the JSON tree
 * accepts as a list with plain names gives the same names here. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "kube/list_page.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct check {
	struct str body;
	const char *last_end;
	struct strbuf names;
	bool plain; /* no escapes, nothing that the tree reads differently */
};

static void inside(const struct check *c, struct str s)
{
	assert(s.p == NULL || (s.p >= c->body.p && s.p + s.len <= c->body.p + c->body.len));
}

static void on_item(void *ctx, struct str object, const struct cut_meta *meta)
{
	struct check *c = ctx;

	inside(c, object);
	inside(c, meta->name);
	inside(c, meta->namespace_);
	inside(c, meta->resource_version);
	assert(object.p >= c->last_end);
	c->last_end = object.p + object.len;
	strbuf_add_str(&c->names, meta->name);
	strbuf_add_ch(&c->names, '\n');
}

static size_t count_of(struct str text, const char *what)
{
	size_t n = 0, len = strlen(what);
	const char *p = text.p, *end = text.p + text.len;

	while ((p = memmem(p, (size_t)(end - p), what, len)) != NULL) {
		p += len;
		n++;
	}
	return n;
}

/* Compares with the names from the tree. Where a member is given twice, which no server does, both
 * read differently; such a text has more of these names than the tree, and is not compared. */
static void compare(struct check *c)
{
	struct jdoc *doc;
	struct strbuf names = STRBUF_INIT;
	size_t metas, n_names = 0;

	if (!c->plain || jdoc_parse(c->body, &doc, NULL) < 0) {
		return;
	}
	metas = jdoc_get(doc, "metadata") != NULL;
	for (const struct jdoc *i = jdoc_first(jdoc_get(doc, "items")); i != NULL;
	     i = jdoc_next(i)) {
		const char *name = jdoc_path_str(i, "metadata.name");

		metas += jdoc_get(i, "metadata") != NULL;
		n_names += jdoc_path(i, "metadata.name") != NULL;
		if (name != NULL && name[0] != '\0') {
			strbuf_add_c(&names, name);
			strbuf_add_ch(&names, '\n');
		}
	}
	if (count_of(c->body, "\"items\"") <= 1 && count_of(c->body, "\"name\"") == n_names &&
	    count_of(c->body, "\"metadata\"") == metas) {
		assert(names.len == c->names.len && memcmp(names.p, c->names.p, names.len) == 0);
	}
	strbuf_finish(&names);
	jdoc_destroy(doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = xmalloc(size + 1);
	struct check c = { .names = STRBUF_INIT };
	struct list_page page;

	memcpy(copy, data, size);
	c.body = (struct str){ copy, size };
	c.plain = memchr(copy, '\\', size) == NULL;
	if (list_page_cut(c.body, on_item, &c, &page, NULL) == 0) {
		inside(&c, page.resource_version);
		inside(&c, page.continue_);
		compare(&c);
	}
	strbuf_finish(&c.names);
	free(copy);
	return 0;
}
