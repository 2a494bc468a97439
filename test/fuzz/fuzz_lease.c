/* Leases of any content, one a line, each the answer to the elector's next request. It never writes
 * over a record of another that it has just seen for the first time, and whatever it writes is a
 * Lease of ours. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/str.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "lib/net/fake_transport.h"
#include "unit/common/kube/lease_fixture.h"

#define MAX_ANSWERS 64
#define MAX_WAIT_S 60

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *holder_of(const struct jdoc *lease)
{
	const char *holder = jdoc_path_str(lease, "spec.holderIdentity");

	return holder == NULL ? "" : holder;
}

static void check_write(struct str body)
{
	CLEANUP(jdoc_destroyp) struct jdoc *lease = NULL;
	int64_t transitions;

	assert(jdoc_parse(body, &lease, NULL) == 0);
	assert(strcmp(holder_of(lease), "me") == 0);
	assert(jdoc_int(jdoc_path(lease, "spec.leaseDurationSeconds"), 0) == 15);
	transitions = jdoc_int(jdoc_path(lease, "spec.leaseTransitions"), -1);
	assert(transitions >= 0 && transitions <= INT32_MAX);
	assert(jdoc_path_str(lease, "spec.renewTime") != NULL);
}

/* Is it of another, and not as the one before? */
static bool is_news_of_another(const struct jdoc *before, const struct jdoc *lease)
{
	const char *holder = holder_of(lease);

	return holder[0] != '\0' && strcmp(holder, "me") != 0 &&
	       !jdoc_equal(jdoc_get(before, "spec"), jdoc_get(lease, "spec"));
}

static bool next_request(struct lease_fixture *f, uint64_t *ret)
{
	for (int s = 0; s < MAX_WAIT_S && fake_transport_pending(f->transport) == 0; s++) {
		fake_transport_advance(f->transport, CLOCK_NS_PER_S);
	}
	if (fake_transport_pending(f->transport) == 0) {
		return false;
	}
	*ret = fake_transport_expect_prefix(f->transport, "");
	return true;
}

/* Takes lease, NULL if the text is none; returns the last one that was. */
static struct jdoc *answer(struct lease_fixture *f, uint64_t id, const char *text,
			   struct jdoc *before, struct jdoc *lease_take)
{
	bool was_write = fake_transport_request(f->transport, id)->method != HTTP_GET;

	if (was_write) {
		check_write(fake_transport_body(f->transport, id));
	}
	fake_transport_answer(f->transport, id, 200, text);
	if (lease_take == NULL) {
		return before;
	}
	if (is_news_of_another(before, lease_take)) {
		assert(fake_transport_pending(f->transport) == 0);
	}
	jdoc_destroy(before);
	return lease_take;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(jdoc_destroyp) struct jdoc *last = NULL;
	struct str rest = { (const char *)data, size };
	struct lease_fixture f;
	uint64_t id;

	lease_fixture_begin(&f);
	for (int i = 0; i < MAX_ANSWERS && rest.p != NULL && next_request(&f, &id); i++) {
		struct str line = str_next(&rest, '\n');
		CLEANUP(xmalloc_freep) char *text = xmalloc_dup_n(line.p, line.len);
		struct jdoc *lease = NULL;

		(void)jdoc_parse(str_of(text), &lease, NULL);
		last = answer(&f, id, text, last, lease);
	}
	lease_fixture_end(&f);
	return 0;
}
