/* Input: a document, a line end, a patch. JSON Patch is all or nothing and keeps the depth limit;
 * the merge patch between two documents leads from one to the other. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/jdoc.h"
#include "enc/patch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_json_patch(const struct jdoc *doc, const struct jdoc *patch)
{
	struct jdoc *d CLEANUP(jdoc_destroyp) = jdoc_copy(doc);

	if (patch_apply_json(&d, patch, NULL) != 0) {
		assert(jdoc_equal(d, doc));
	}
	assert(jdoc_depth(d) <= JDOC_MAX_DEPTH);
}

static void check_merge(const struct jdoc *doc, const struct jdoc *patch)
{
	struct jdoc *d CLEANUP(jdoc_destroyp) = jdoc_copy(doc);
	struct jdoc *twice CLEANUP(jdoc_destroyp) = NULL;

	patch_apply_merge(&d, patch);
	twice = jdoc_copy(d);
	patch_apply_merge(&twice, patch);
	assert(jdoc_equal(d, twice));
}

static void check_diff(const struct jdoc *a, const struct jdoc *b, struct str b_text)
{
	struct jdoc *diff CLEANUP(jdoc_destroyp) = NULL, *d CLEANUP(jdoc_destroyp) = NULL;

	if (jdoc_kind(a) != JDOC_OBJECT || jdoc_kind(b) != JDOC_OBJECT ||
	    memmem(b_text.p, b_text.len, "null", 4) != NULL) {
		return;
	}
	diff = patch_diff_merge(a, b);
	d = jdoc_copy(a);
	patch_apply_merge(&d, diff);
	assert(jdoc_equal(d, b));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jdoc *doc CLEANUP(jdoc_destroyp) = NULL, *patch CLEANUP(jdoc_destroyp) = NULL;
	struct str rest = { (const char *)data, size };
	struct str first = str_next(&rest, '\n');

	if (jdoc_parse(first, &doc, NULL) == 0 && jdoc_parse(rest, &patch, NULL) == 0) {
		check_json_patch(doc, patch);
		check_merge(doc, patch);
		check_diff(doc, patch, rest);
	}
	return 0;
}
