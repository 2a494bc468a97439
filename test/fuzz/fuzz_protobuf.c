/* Bodies in protobuf are refused, or become an object with apiVersion and kind that can be written
 * as JSON and read again. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "apiserver/kubectl/protobuf.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(jdoc_destroyp) struct jdoc *doc = NULL;
	CLEANUP(jdoc_destroyp) struct jdoc *again = NULL;
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	if (protobuf_parse((struct str){ (const char *)data, size }, &doc, NULL) == 0) {
		assert(jdoc_path_str(doc, "apiVersion") != NULL);
		assert(jdoc_path_str(doc, "kind") != NULL);
		jdoc_format(doc, &text);
		assert(jdoc_parse(strbuf_str(&text), &again, NULL) == 0);
		assert(jdoc_equal(doc, again));
	}
	return 0;
}
