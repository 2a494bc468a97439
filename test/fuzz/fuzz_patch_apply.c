/* Input: a document, a line end, a patch. JSON Patch is all or nothing and keeps the depth limit; a
 * merge patch applied twice gives the same as once. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "enc/json/patch_apply.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jdoc *doc CLEANUP(jdoc_destroyp) = NULL, *patch CLEANUP(jdoc_destroyp) = NULL;
	struct str rest = { (const char *)data, size };
	struct str first = str_next(&rest, '\n');

	if (jdoc_parse(first, &doc, NULL) == 0 && jdoc_parse(rest, &patch, NULL) == 0) {
		check_json_patch(doc, patch);
		check_merge(doc, patch);
	}
	return 0;
}
