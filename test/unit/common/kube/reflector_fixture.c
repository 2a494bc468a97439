#include "unit/common/kube/reflector_fixture.h"

#include "lib/unit.h"

void reflector_fixture_on_event(void *ctx, const struct reflector_event *e)
{
	struct reflector_fixture *f = ctx;

	switch (e->kind) {
	case REFLECTOR_UPSERT:
		assert_true(e->object.len > 0 && e->object.p[0] == '{');
		strbuf_printf(&f->log, "U " STR_FMT " %d;", STR_ARG(e->key),
			      (int)e->resource_version);
		break;
	case REFLECTOR_DELETE:
		strbuf_printf(&f->log, "D%s " STR_FMT ";", e->object.p == NULL ? "" : "o",
			      STR_ARG(e->key));
		break;
	case REFLECTOR_SYNCED:
		strbuf_add_c(&f->log, "S;");
		break;
	case REFLECTOR_RELISTED:
		strbuf_add_c(&f->log, "R;");
		break;
	case REFLECTOR_REFRESHED:
		strbuf_add_c(&f->log, "F;");
		break;
	}
}

void reflector_fixture_begin_with(struct reflector_fixture *f, struct reflector_options opt)
{
	*f = (struct reflector_fixture){ .log = STRBUF_INIT };
	clock_fake_init(&f->clock, 0);
	f->transport = fake_transport_create(&f->clock);
	opt.path = opt.path == NULL ? "/api/v1/pods" : opt.path;
	opt.transport = fake_transport_base(f->transport);
	opt.clock = &f->clock.base;
	opt.on_event = reflector_fixture_on_event;
	opt.ctx = f;
	opt.watch_timeout_s = 100;
	opt.seed = 1;
	f->reflector = reflector_create(&opt);
	reflector_start(f->reflector);
	fake_transport_run(f->transport);
}

void reflector_fixture_begin(struct reflector_fixture *f)
{
	reflector_fixture_begin_with(f, (struct reflector_options){ 0 });
}

void reflector_fixture_end(struct reflector_fixture *f)
{
	reflector_destroy(f->reflector);
	fake_transport_destroy(f->transport);
	strbuf_finish(&f->log);
}

void reflector_fixture_expect_log(struct reflector_fixture *f, const char *text)
{
	assert_string_equal(f->log.p, text);
	strbuf_reset(&f->log);
}

uint64_t reflector_fixture_expect(struct reflector_fixture *f, const char *line)
{
	return fake_transport_expect(f->transport, line);
}

void reflector_fixture_answer(struct reflector_fixture *f, const char *line, int status,
			      const char *body)
{
	fake_transport_answer(f->transport, reflector_fixture_expect(f, line), status, body);
}

uint64_t reflector_fixture_begin_watch(struct reflector_fixture *f)
{
	reflector_fixture_begin(f);
	reflector_fixture_answer(f, LIST, 200, PAGE("10", "", OBJ("a", "1")));
	reflector_fixture_expect_log(f, "U n/a 1;S;");
	return reflector_fixture_expect(f, WATCH("10"));
}

struct reflector_stats reflector_fixture_stats(struct reflector_fixture *f)
{
	return reflector_stats(f->reflector);
}

void reflector_fixture_expect_wait(struct reflector_fixture *f, int64_t min, int64_t max)
{
	fake_transport_advance(f->transport, min);
	fake_transport_expect_none(f->transport);
	fake_transport_advance(f->transport, max - min);
	assert_int_equal(fake_transport_pending(f->transport), 1);
}
