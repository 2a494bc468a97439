/* YAML that is accepted is written so that it reads back as the same tree. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jdoc *d CLEANUP(jdoc_destroyp) = NULL, *again CLEANUP(jdoc_destroyp) = NULL;
	struct jdoc *all CLEANUP(jdoc_destroyp) = NULL;
	struct strbuf out CLEANUP(strbuf_finish) = STRBUF_INIT;
	const struct str text = { (const char *)data, size };

	if (yaml_parse(text, &d, NULL) == 0) {
		assert(jdoc_depth(d) <= JDOC_MAX_DEPTH);
		yaml_format(d, &out);
		assert(yaml_parse(strbuf_str(&out), &again, NULL) == 0);
		assert(jdoc_equal(d, again));
		assert(yaml_parse_all(text, &all, NULL) == 0);
	} else {
		(void)yaml_parse_all(text, &all, NULL);
	}
	return 0;
}
