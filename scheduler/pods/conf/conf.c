#include "scheduler/pods/conf/conf.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"
#include "process/file.h"
#include "scheduler/pods/conf/conf_plugin.h"
#include "scheduler/pods/conf/conf_read.h"

#define SECOND_NS INT64_C(1000000000)

static const char default_text[] = "actions: \"enqueue, allocate, backfill\"\n"
				   "tiers:\n"
				   "- plugins:\n"
				   "  - name: priority\n"
				   "  - name: gang\n"
				   "  - name: conformance\n"
				   "- plugins:\n"
				   "  - name: predicates\n"
				   "  - name: capacity\n"
				   "    enableHierarchy: true\n"
				   "  - name: binpack\n";

const char *conf_default_text(void)
{
	return default_text;
}

static struct sched_conf *new_conf(void)
{
	struct sched_conf *c = xmalloc_zero(1, sizeof(*c));

	c->gates_admission = true;
	c->gate_sticky = true;
	c->reservation_timeout_ns = 30 * 60 * SECOND_NS;
	c->reservation_backoff_ns = 60 * SECOND_NS;
	c->default_queue = xmalloc_dup("default");
	return c;
}

static void free_args(struct conf_arg *args, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(args[i].key);
		free(args[i].value);
	}
	free(args);
}

void conf_destroy(struct sched_conf *c)
{
	if (c == NULL) {
		return;
	}
	for (size_t i = 0; i < c->nactions; i++) {
		free(c->actions[i].name);
		free_args(c->actions[i].args, c->actions[i].nargs);
	}
	for (size_t i = 0; i < c->nplugins; i++) {
		free(c->plugins[i].name);
		free_args(c->plugins[i].args, c->plugins[i].nargs);
	}
	free(c->actions);
	free(c->plugins);
	free(c->default_queue);
	free(c);
}

void conf_destroyp(struct sched_conf **pc)
{
	conf_destroy(*pc);
	*pc = NULL;
}

static bool has_action(const struct sched_conf *c, struct str name)
{
	for (size_t i = 0; i < c->nactions; i++) {
		if (str_eq_c(name, c->actions[i].name)) {
			return true;
		}
	}
	return false;
}

static int read_action(const struct conf_read *r, struct str name, struct err *err)
{
	CLEANUP(xmalloc_freep) char *text = xmalloc_dup_n(name.p, name.len);
	struct sched_conf *c = r->conf;

	if (name.len == 0) {
		return conf_read_fail(r, "actions", err, "actions: an empty action name");
	}
	if (!conf_read_in_list(r->opt->known.actions, name)) {
		return conf_read_fail(r, text, err, "actions: unknown action \"%s\"", text);
	}
	if (c->nactions == CONF_MAX_ACTIONS) {
		return conf_read_fail(r, "actions", err, "actions: more than %d", CONF_MAX_ACTIONS);
	}
	if (!has_action(c, name)) {
		conf_read_warn_absent(r, "action", text);
	}
	c->actions = xmalloc_resize(c->actions, c->nactions + 1, sizeof(c->actions[0]));
	c->actions[c->nactions++] = (struct conf_action){ .name = take_ptr(&text) };
	return 0;
}

static int read_actions(const struct conf_read *r, const struct jdoc *d, struct err *err)
{
	struct str rest = str_of(jdoc_str(d));

	if (rest.p == NULL) {
		return conf_read_fail(r, "actions", err,
				      "actions: expected a text of names joined by commas");
	}
	while (rest.p != NULL) {
		int rc = read_action(r, str_trim(str_next(&rest, ',')), err);

		if (rc < 0) {
			return rc;
		}
	}
	return 0;
}

/* proportion and drf both order queues by their own shares; Volcano refuses such a file, too. */
static int check_tier(const struct conf_read *r, size_t tier, struct err *err)
{
	bool drf_hierarchy = false, proportion = false;

	for (size_t i = 0; i < r->conf->nplugins; i++) {
		const struct conf_plugin *p = &r->conf->plugins[i];

		if (p->tier == tier) {
			proportion = proportion || str_streq(p->name, "proportion");
			drf_hierarchy = drf_hierarchy ||
					(str_streq(p->name, "drf") && p->on[CONF_HIERARCHY]);
		}
	}
	if (drf_hierarchy && proportion) {
		return conf_read_fail(r, "drf", err,
				      "tiers[%zu]: proportion and drf with enableHierarchy exclude "
				      "each other",
				      tier);
	}
	return 0;
}

static void warn_other_keys(const struct conf_read *r, const struct jdoc *d, const char *path,
			    const char *const *keys)
{
	for (const struct jdoc *m = jdoc_first(d); m != NULL; m = jdoc_next(m)) {
		if (!conf_read_in_list(keys, str_of(jdoc_key(m)))) {
			conf_read_warn(r, jdoc_key(m), "%s%s: unknown key, ignored", path,
				       jdoc_key(m));
		}
	}
}

static int read_tier(const struct conf_read *r, const struct jdoc *d, size_t tier, struct err *err)
{
	static const char *const keys[] = { "plugins", NULL };
	const struct jdoc *list = jdoc_get(d, "plugins");
	CLEANUP(xmalloc_freep) char *path = xmalloc_printf("tiers[%zu].", tier);
	size_t i = 0;

	if (jdoc_kind(d) != JDOC_OBJECT ||
	    (jdoc_kind(list) != JDOC_ARRAY && jdoc_kind(list) != JDOC_NULL)) {
		return conf_read_fail(r, "tiers", err,
				      "tiers[%zu]: expected a map with a list `plugins`", tier);
	}
	warn_other_keys(r, d, path, keys);
	for (const struct jdoc *p = jdoc_first(list); p != NULL; p = jdoc_next(p), i++) {
		CLEANUP(xmalloc_freep) char *at = xmalloc_printf("%splugins[%zu]", path, i);
		int rc = conf_plugin_read(r, p, at, tier, err);

		if (rc < 0) {
			return rc;
		}
	}
	return check_tier(r, tier, err);
}

static int read_tiers(const struct conf_read *r, const struct jdoc *d, struct err *err)
{
	size_t i = 0;

	if (jdoc_kind(d) != JDOC_ARRAY && jdoc_kind(d) != JDOC_NULL) {
		return conf_read_fail(r, "tiers", err, "tiers: expected a list");
	}
	if (jdoc_count(d) > CONF_MAX_TIERS) {
		return conf_read_fail(r, "tiers", err, "tiers: more than %d", CONF_MAX_TIERS);
	}
	for (const struct jdoc *t = jdoc_first(d); t != NULL; t = jdoc_next(t), i++) {
		int rc = read_tier(r, t, i, err);

		if (rc < 0) {
			return rc;
		}
	}
	r->conf->ntiers = i;
	return 0;
}

/* Arguments go to every occurrence of the action; where an action is configured twice the first
 * value of an argument counts, since it is found first. */
static int read_configuration(const struct conf_read *r, const struct jdoc *d, size_t at,
			      struct err *err)
{
	static const char *const keys[] = { "name", "arguments", NULL };
	const char *name = jdoc_str(jdoc_get(d, "name"));
	CLEANUP(xmalloc_freep) char *path = xmalloc_printf("configurations[%zu].", at);
	CLEANUP(xmalloc_freep) char *args_path = xmalloc_printf("%sarguments", path);

	if (name == NULL) {
		return conf_read_fail(r, "configurations", err, "%sname: missing", path);
	}
	warn_other_keys(r, d, path, keys);
	if (!conf_read_in_list(r->opt->known.actions, str_of(name))) {
		conf_read_warn(r, name, "%sname: unknown action \"%s\", ignored", path, name);
	}
	for (size_t i = 0; i < r->conf->nactions; i++) {
		struct conf_action *a = &r->conf->actions[i];
		int rc = 0;

		if (str_streq(a->name, name)) {
			rc = conf_read_args(r, jdoc_get(d, "arguments"), args_path, &a->args,
					    &a->nargs, err);
		}
		if (rc < 0) {
			return rc;
		}
	}
	return 0;
}

static int read_configurations(const struct conf_read *r, const struct jdoc *d, struct err *err)
{
	size_t i = 0;

	if (jdoc_kind(d) != JDOC_ARRAY && jdoc_kind(d) != JDOC_NULL) {
		return conf_read_fail(r, "configurations", err, "configurations: expected a list");
	}
	if (jdoc_count(d) > CONF_MAX_ACTIONS) {
		return conf_read_fail(r, "configurations", err, "configurations: more than %d",
				      CONF_MAX_ACTIONS);
	}
	for (const struct jdoc *c = jdoc_first(d); c != NULL; c = jdoc_next(c), i++) {
		int rc = read_configuration(r, c, i, err);

		if (rc < 0) {
			return rc;
		}
	}
	return 0;
}

static int read_document(const struct conf_read *r, const struct jdoc *d, struct err *err)
{
	static const char *const keys[] = { "actions", "tiers", "configurations", "metrics", NULL };
	int rc;

	if (jdoc_kind(d) != JDOC_OBJECT) {
		return conf_read_fail(r, "", err, "expected a map with actions and tiers");
	}
	warn_other_keys(r, d, "", keys);
	rc = read_actions(r, jdoc_get(d, "actions"), err);
	if (rc < 0) {
		return rc;
	}
	rc = read_tiers(r, jdoc_get(d, "tiers"), err);
	if (rc < 0) {
		return rc;
	}
	return read_configurations(r, jdoc_get(d, "configurations"), err);
}

int conf_parse(struct str text, const char *name, const struct conf_options *opt,
	       struct sched_conf **ret, struct err *err)
{
	CLEANUP(conf_destroyp) struct sched_conf *conf = new_conf();
	CLEANUP(jdoc_destroyp) struct jdoc *tree = NULL;
	struct conf_read r = { .text = text, .name = name, .opt = opt, .conf = conf };
	int rc;

	if (text.len > CONF_MAX_BYTES) {
		return err_set(err, ERR_INVALID, "%s: more than %u bytes", name, CONF_MAX_BYTES);
	}
	rc = yaml_parse(text, &tree, err);
	if (rc < 0) {
		return err_wrap(err, "%s", name);
	}
	rc = read_document(&r, tree, err);
	if (rc < 0) {
		return rc;
	}
	*ret = take_ptr(&conf);
	return 0;
}

int conf_load_file(const char *path, const struct conf_options *opt, struct sched_conf **ret,
		   struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	int rc = file_read_all(path, CONF_MAX_BYTES, &text, err);

	if (rc < 0) {
		return err_wrap(err, "scheduler configuration");
	}
	return conf_parse(strbuf_str(&text), path, opt, ret, err);
}
