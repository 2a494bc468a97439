/* Query strings and paths: any value comes back from its escaped form; nothing overruns. */
#include <stdint.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "net/http.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(strbuf_finish) struct strbuf query = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	struct str text = { (const char *)data, size };

	(void)http_query_get(text, "limit", &out);
	strbuf_reset(&out);
	http_path_unescape(text, &out);
	if (out.len > size) {
		abort();
	}
	strbuf_add_c(&query, "a=b&v=");
	http_query_escape(text, &query);
	if (!http_query_get(strbuf_str(&query), "v", &out) || !str_eq(strbuf_str(&out), text)) {
		abort();
	}
	return 0;
}
