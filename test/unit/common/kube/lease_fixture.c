#include "unit/common/kube/lease_fixture.h"

#include <stdio.h>

#include "lib/unit.h"

#include "enc/json/jdoc.h"

#define S CLOCK_NS_PER_S
#define MS CLOCK_NS_PER_MS
/* 2026-01-02T03:04:05Z */
#define WALL (INT64_C(1767323045) * CLOCK_NS_PER_S)

static void on_change(void *ctx, bool held)
{
	strbuf_add_ch(&((struct lease_fixture *)ctx)->log, held ? '+' : '-');
}

void lease_fixture_on_released(void *ctx)
{
	strbuf_add_ch(&((struct lease_fixture *)ctx)->log, 'r');
}

void lease_fixture_begin(struct lease_fixture *f)
{
	struct lease_options opt = { .namespace_ = "sys",
				     .name = "main",
				     .identity = "me",
				     .on_change = on_change,
				     .seed = 1 };

	*f = (struct lease_fixture){ .log = STRBUF_INIT };
	clock_fake_init(&f->clock, WALL);
	f->transport = fake_transport_create(&f->clock);
	opt.transport = fake_transport_base(f->transport);
	opt.clock = &f->clock.base;
	opt.ctx = f;
	f->lease = lease_create(&opt);
	lease_start(f->lease);
	fake_transport_run(f->transport);
}

void lease_fixture_end(struct lease_fixture *f)
{
	lease_destroy(f->lease);
	fake_transport_destroy(f->transport);
	strbuf_finish(&f->log);
}

void lease_fixture_expect_log(struct lease_fixture *f, const char *text)
{
	assert_string_equal(f->log.p, text);
	strbuf_reset(&f->log);
}

void lease_fixture_answer_lease(struct lease_fixture *f, uint64_t id, const char *holder,
				const char *renewed)
{
	char body[400];

	snprintf(body, sizeof(body),
		 "{\"metadata\":{\"name\":\"main\",\"namespace\":\"sys\",\"labels\":{\"keep\":"
		 "\"1\"},"
		 "\"resourceVersion\":\"%d\"},\"spec\":{\"holderIdentity\":\"%s\","
		 "\"leaseDurationSeconds\":15,\"acquireTime\":\"2020-01-01T00:00:00.000000Z\","
		 "\"renewTime\":\"%s\",\"leaseTransitions\":4,\"strategy\":\"x\"}}",
		 ++f->version, holder, renewed);
	fake_transport_answer(f->transport, id, 200, body);
}

uint64_t lease_fixture_expect(struct lease_fixture *f, const char *line)
{
	return fake_transport_expect(f->transport, line);
}

void lease_fixture_accept_write(struct lease_fixture *f, uint64_t id, const char *holder,
				int transitions)
{
	struct jdoc *doc;
	char version[16];
	struct strbuf text = STRBUF_INIT;

	assert_int_equal(jdoc_parse(fake_transport_body(f->transport, id), &doc, NULL), 0);
	assert_string_equal(jdoc_path_str(doc, "spec.holderIdentity"), holder);
	assert_int_equal(jdoc_int(jdoc_path(doc, "spec.leaseTransitions"), -1), transitions);
	snprintf(version, sizeof(version), "%d", ++f->version);
	jdoc_set_str(jdoc_ensure_object(doc, "metadata"), "resourceVersion", version);
	jdoc_format(doc, &text);
	jdoc_destroy(doc);
	fake_transport_answer(f->transport, id, 200, text.p);
	strbuf_finish(&text);
}

bool lease_fixture_may_send(struct lease_fixture *f)
{
	return lease_may_send(f->lease);
}

void lease_fixture_advance(struct lease_fixture *f, int64_t ns)
{
	fake_transport_advance(f->transport, ns);
}

void lease_fixture_begin_held(struct lease_fixture *f)
{
	lease_fixture_begin(f);
	fake_transport_answer(f->transport, lease_fixture_expect(f, "GET " LEASE_ITEM), 404, "{}");
	lease_fixture_accept_write(f, lease_fixture_expect(f, "POST " LEASE_LIST), "me", 0);
	lease_fixture_expect_log(f, "+");
}

void lease_fixture_get(struct lease_fixture *f, const char *holder, const char *renewed)
{
	lease_fixture_answer_lease(f, lease_fixture_expect(f, "GET " LEASE_ITEM), holder, renewed);
}

void lease_fixture_put(struct lease_fixture *f, const char *holder, int transitions)
{
	lease_fixture_accept_write(f, lease_fixture_expect(f, "PUT " LEASE_ITEM), holder,
				   transitions);
}

void lease_fixture_renew(struct lease_fixture *f)
{
	lease_fixture_advance(f, 2 * S);
	lease_fixture_put(f, "me", 0);
}

uint64_t lease_fixture_wait_for_steal(struct lease_fixture *f)
{
	int64_t from = clock_mono(&f->clock.base);

	for (;;) {
		uint64_t id;

		if (fake_transport_pending(f->transport) == 0) {
			lease_fixture_advance(f, 100 * MS);
			continue;
		}
		id = fake_transport_expect_prefix(f->transport, "");
		if (fake_transport_request(f->transport, id)->method == HTTP_PUT) {
			assert_true(clock_mono(&f->clock.base) - from >= 15 * S);
			assert_true(clock_mono(&f->clock.base) - from <= 18 * S);
			return id;
		}
		lease_fixture_answer_lease(f, id, "other", "same");
	}
}
