/* Webhook registrations of any content: once the patch that sets our CA certificates is applied,
 * the object needs no other. It need not apply: the API server refuses a registration without
 * clientConfig, so that only its own objects are patched. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "enc/json/patch_apply.h"
#include "webhook/certs/ca_bundles.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void patch(struct ca_bundles *b, struct str object, struct str patch_text)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
	CLEANUP(jdoc_destroyp) struct jdoc *p = NULL;
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT, path = STRBUF_INIT;
	int64_t at;

	assert(jdoc_parse(object, &d, NULL) == 0);
	assert(jdoc_parse(patch_text, &p, NULL) == 0);
	if (patch_apply_json(&d, p, NULL) < 0) {
		return;
	}
	jdoc_format(d, &text);
	assert(ca_bundles_set(b, STR_LIT("/r"), strbuf_str(&text)));
	strbuf_reset(&text);
	assert(!ca_bundles_next(b, STR_LIT("Q0E="), 0, &path, &text, &at));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT, text = STRBUF_INIT;
	const struct str object = { (const char *)data, size };
	struct ca_bundles *b = ca_bundles_create();
	int64_t at;

	if (ca_bundles_set(b, STR_LIT("/r"), object) &&
	    ca_bundles_next(b, STR_LIT("Q0E="), 0, &path, &text, &at)) {
		assert(str_eq_c(strbuf_str(&path), "/r"));
		patch(b, object, strbuf_str(&text));
	}
	ca_bundles_destroy(b);
	return 0;
}
