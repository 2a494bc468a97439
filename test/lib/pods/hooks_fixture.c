#include "lib/pods/hooks_fixture.h"

#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "lib/unit.h"
#include "scheduler/pods/conf/conf.h"
#include "scheduler/pods/cycle/known_names.h"
#include "scheduler/pods/session/hooks.h"

static void run_nothing(struct session *s)
{
	(void)s;
}

void hooks_fixture_init(struct hooks_fixture *f, const char *tiers, const struct plugin_row *rows,
			size_t nrows)
{
	static const struct action_row actions[] = { { .name = "allocate", .run = run_nothing } };
	const struct known_names_source from = { rows, nrows, actions, 1 };
	CLEANUP(xmalloc_freep) char *text = xmalloc_printf("actions: allocate\ntiers:\n%s", tiers);
	struct conf_options opt = { .warn = NULL };
	struct err err = ERR_INIT;
	struct known_names names;

	*f = (struct hooks_fixture){ .cluster = cluster_create() };
	known_names_init(&names, &from);
	opt.known = known_names_conf(&names);
	if (conf_parse(str_of(text), "test", &opt, &f->conf, &err) < 0 ||
	    hooks_create(f->conf, rows, nrows, &f->hooks, &err) < 0) {
		fail_msg("%s", err.text);
	}
	known_names_finish(&names);
	f->s = session_create(f->conf, f->hooks);
}

static void close_session(struct hooks_fixture *f)
{
	if (f->is_open) {
		session_close(f->s);
		f->is_open = false;
	}
}

void hooks_fixture_open(struct hooks_fixture *f)
{
	close_session(f);
	session_open(f->s, f->cluster, 0);
	f->is_open = true;
}

void hooks_fixture_finish(struct hooks_fixture *f)
{
	close_session(f);
	session_destroy(f->s);
	hooks_destroy(f->hooks);
	conf_destroy(f->conf);
	cluster_destroy(f->cluster);
}
