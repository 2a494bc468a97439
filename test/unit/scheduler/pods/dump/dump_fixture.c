#include "unit/scheduler/pods/dump/dump_fixture.h"

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "lib/pods/cluster_checksum.h"
#include "lib/pods/ledger_verify.h"
#include "lib/unit.h"
#include "scheduler/pods/dump/dump.h"

struct cluster *dump_fixture_reload(const struct cluster *c)
{
	CLEANUP(strbuf_finish) struct strbuf first = STRBUF_INIT, second = STRBUF_INIT;
	struct cluster *again = NULL;
	struct err err = ERR_INIT;

	dump_format(c, &first);
	if (dump_load(strbuf_str(&first), &again, &err) < 0) {
		fail_msg("%s", err.text);
	}
	dump_format(again, &second);
	assert_string_equal(first.p, second.p);
	assert_true(cluster_checksum(c) == cluster_checksum(again));
	assert_null(cluster_verify(again));
	assert_null(ledger_verify(again));
	return again;
}
