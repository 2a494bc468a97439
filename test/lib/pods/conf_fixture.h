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

/* drf and reclaim are known but have no implementation. */
static inline void conf_fixture_init(struct conf_fixture *f)
{
	static const char *const plugins[] = { "priority",   "gang",       "conformance",
					       "predicates", "capacity",   "binpack",
					       "drf",        "proportion", NULL };
	static const char *const actions[] = { "enqueue", "allocate", "backfill", "reclaim", NULL };
	static const char *const absent[] = { "drf", "reclaim", NULL };

	*f = (struct conf_fixture){ .opt = { .known = { plugins, actions, absent },
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
