/* test/lib/pods/conf_fixture.h: parses texts with a fixed set of names and collects warnings. */
#ifndef TEST_LIB_PODS_CONF_FIXTURE_H
#define TEST_LIB_PODS_CONF_FIXTURE_H

#include "base/err.h"
#include "base/strbuf.h"
#include "lib/unit.h"
#include "scheduler/pods/conf/conf.h"

struct conf_fixture {
	struct conf_options opt;
	struct strbuf warnings; /* one per line */
	struct sched_conf *conf;
	struct err err;
};

static inline void conf_fixture_warn(void *ctx, const char *text)
{
	strbuf_printf(ctx, "%s\n", text);
}

/* drf and reclaim are known but have no implementation. binpack and allocate have arguments. */
static inline void conf_fixture_init(struct conf_fixture *f)
{
	static const struct conf_args_row arguments[] = {
		{ "binpack.weight", .kind = CONF_ARGS_NUMBER },
		{ "binpack.cpu", .kind = CONF_ARGS_NUMBER },
		{ "binpack.mode", .kind = CONF_ARGS_NO_EFFECT },
		{ "binpack.of.", .kind = CONF_ARGS_PREFIX },
		{ .name = NULL }
	};
	static const struct conf_name plugins[] = {
		{ .name = "priority" },
		{ .name = "gang" },
		{ .name = "conformance" },
		{ .name = "predicates" },
		{ .name = "capacity" },
		{ .name = "binpack", .arguments = arguments },
		{ .name = "drf", .absent = true },
		{ .name = "proportion" },
		{ .name = NULL },
	};
	static const struct conf_name actions[] = {
		{ .name = "enqueue" },  { .name = "allocate", .arguments = arguments },
		{ .name = "backfill" }, { .name = "reclaim", .absent = true },
		{ .name = NULL },
	};

	*f = (struct conf_fixture){ .opt = { .known = { plugins, actions },
					     .warn = conf_fixture_warn } };
	strbuf_init(&f->warnings);
	f->opt.ctx = &f->warnings;
}

/* Forgets the previous outcome first. */
static inline int conf_fixture_parse(struct conf_fixture *f, const char *text)
{
	conf_destroyp(&f->conf);
	strbuf_reset(&f->warnings);
	f->err = (struct err)ERR_INIT;
	return conf_parse(str_of(text), "s.conf", &f->opt, &f->conf, &f->err);
}

static inline void conf_fixture_finish(struct conf_fixture *f)
{
	conf_destroyp(&f->conf);
	strbuf_finish(&f->warnings);
}

#endif
