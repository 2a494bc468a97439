/* A dump either is refused or loads into a cluster that has correct accounts and dumps to the same
 * text again. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "scheduler/pods/dump/dump.h"
#include "scheduler/pods/model/cluster.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(strbuf_finish) struct strbuf first = STRBUF_INIT, second = STRBUF_INIT;
	struct cluster *c = NULL, *again = NULL;

	if (dump_load((struct str){ (const char *)data, size }, &c, NULL) < 0) {
		return 0;
	}
	assert(cluster_verify(c) == NULL);
	dump_format(c, &first);
	assert(dump_load(strbuf_str(&first), &again, NULL) == 0);
	dump_format(again, &second);
	assert(str_eq(strbuf_str(&first), strbuf_str(&second)));
	cluster_destroy(c);
	cluster_destroy(again);
	return 0;
}
