/* The tree (cJSON) and the scanner accept the same texts and see the same values; what the tree
 * writes reads back as the same tree. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "enc/json/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct jdoc *rebuild(struct reader *r);

static struct jdoc *rebuild_children(struct reader *r, bool object)
{
	struct jdoc *d = object ? jdoc_new_object() : jdoc_new_array();
	struct str key;

	reader_enter(r);
	while (reader_next(r, &key)) {
		struct jdoc *child = rebuild(r);

		if (object) {
			struct strbuf name CLEANUP(strbuf_finish) = STRBUF_INIT;

			strbuf_add_str(&name, key);
			jdoc_set_take(d, name.p, child);
		} else {
			jdoc_append_take(d, child);
		}
	}
	return d;
}

static struct jdoc *rebuild(struct reader *r)
{
	struct str s;

	switch (reader_kind(r)) {
	case JDOC_NULL:
		reader_skip(r);
		break;
	case JDOC_BOOL:
		return jdoc_new_bool(reader_bool(r));
	case JDOC_NUMBER:
		return jdoc_new_num(reader_num(r));
	case JDOC_STRING:
		s = reader_str(r);
		return s.p == NULL ? jdoc_new_null() : jdoc_new_str_n(s);
	case JDOC_ARRAY:
	case JDOC_OBJECT:
		return rebuild_children(r, reader_kind(r) == JDOC_OBJECT);
	}
	return jdoc_new_null();
}

static void check_same(const struct jdoc *tree, struct reader *r)
{
	struct jdoc *copy CLEANUP(jdoc_destroyp) = rebuild(r);
	int rc = reader_finish(r, NULL);

	assert((rc == 0) == (tree != NULL));
	assert(tree == NULL || jdoc_equal(tree, copy));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	struct jdoc *tree CLEANUP(jdoc_destroyp) = NULL, *again CLEANUP(jdoc_destroyp) = NULL;
	struct strbuf out CLEANUP(strbuf_finish) = STRBUF_INIT;
	const struct str text = { (const char *)data, size };
	struct err err = ERR_INIT;
	struct reader r;
	int rc = jdoc_parse(text, &tree, &err);

	/* "at line": the scanner refused it. Else cJSON did after the scanner had not. */
	assert(rc == 0 || text.p == NULL || strstr(err.text, " at line ") != NULL);
	reader_of_text(&r, text, arena);
	check_same(tree, &r);
	reader_of_text(&r, text, arena);
	reader_skip(&r);
	/* Values that are skipped may be nested more deeply than a tree. */
	assert(reader_finish(&r, NULL) == (rc == 0 ? 0 : -ERR_INVALID) ||
	       strstr(err.text, "nested too deeply") != NULL);
	if (rc == 0) {
		reader_of_jdoc(&r, tree);
		check_same(tree, &r);
		jdoc_format(tree, &out);
		assert(jdoc_parse(strbuf_str(&out), &again, NULL) == 0);
		assert(jdoc_equal(tree, again));
	}
	return 0;
}
