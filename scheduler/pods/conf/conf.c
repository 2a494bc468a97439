#include "scheduler/pods/conf/conf.h"

#include <stdlib.h>
#include <strings.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/nearest.h"
#include "base/xmalloc.h"
#include "enc/config.h"
#include "enc/yaml.h"
#include "process/file.h"
#include "scheduler/pods/conf/conf_line.h"

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

	c->arena = arena_create(0);
	c->gates_admission = true;
	c->gate_sticky = true;
	c->reservation_timeout_ns = 30 * 60 * CLOCK_NS_PER_S;
	c->reservation_backoff_ns = 60 * CLOCK_NS_PER_S;
	c->default_queue = xmalloc_dup("default");
	c->actions = arena_zero(c->arena, CONF_MAX_ACTIONS, sizeof(c->actions[0]));
	c->plugins = arena_zero(c->arena, CONF_MAX_PLUGINS, sizeof(c->plugins[0]));
	return c;
}

void conf_destroy(struct sched_conf *c)
{
	if (c != NULL) {
		arena_destroy(c->arena);
		free(c->default_queue);
		free(c);
	}
}

void conf_destroyp(struct sched_conf **pc)
{
	conf_destroy(*pc);
	*pc = NULL;
}

/* --- messages --------------------------------------------------------------------------------- */

struct parse {
	struct str text;
	const char *name; /* of the file */
	const struct conf_options *opt;
	struct sched_conf *conf; /* being filled */
	struct config_reader reader;
};

/* "file:line", or the file alone when the line is not found. */
static char *place(const struct parse *p)
{
	unsigned line = conf_line_find(p->text, strbuf_str(&p->reader.path), p->reader.word);

	return line > 0 ? xmalloc_printf("%s:%u", p->name, line) : xmalloc_dup(p->name);
}

static void on_warning(void *ctx, const char *text)
{
	const struct parse *p = ctx;
	CLEANUP(xmalloc_freep) char *at = NULL, *line = NULL;

	if (p->opt->warn != NULL) {
		at = place(p);
		line = xmalloc_printf("%s: %s", at, text);
		p->opt->warn(p->opt->ctx, line);
	}
}

static const struct conf_name *find_name(const struct conf_name *names, struct str name)
{
	for (; names != NULL && names->name != NULL; names++) {
		if (str_eq_c(name, names->name)) {
			return names;
		}
	}
	return NULL;
}

static void warn_absent(struct parse *p, const char *kind, const struct conf_name *name)
{
	if (name->absent) {
		CLEANUP(xmalloc_freep)
		char *text = xmalloc_printf("%s \"%s\" %s", kind, name->name,
					    name->why != NULL
						    ? name->why
						    : "has no implementation here and is left out");

		p->reader.word = str_of(name->name);
		on_warning(p, text);
	}
}

/* "enableOverused" and "enabledOverused" have the same stem, "Overused". */
static const char *stem_of(const char *key)
{
	if (strncasecmp(key, "enable", 6) != 0) {
		return NULL;
	}
	key += 6;
	return *key == 'd' ? key + 1 : key;
}

static int warn_unknown(struct config_reader *r, const struct config_row *rows, const char *key,
			struct err *err UNUSED)
{
	const char *stem = stem_of(key);

	for (; stem != NULL && rows->type != CONFIG_END; rows++) {
		const char *known = stem_of(rows->name);

		if (known != NULL && strcasecmp(stem, known) == 0) {
			config_warn(r, NULL, "unknown key, ignored (did you mean %s?)", rows->name);
			return 0;
		}
	}
	config_warn(r, NULL, "unknown key, ignored");
	return 0;
}

/* --- arguments -------------------------------------------------------------------------------- */

/* Plugins and actions read their arguments as text, whatever YAML made of them. */
static int read_argument(struct config_reader *r, const struct jdoc *d, void *at,
			 struct err *err UNUSED)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct conf_arg *a = at;

	if (jdoc_kind(d) == JDOC_NULL) {
		return 1; /* as if it were not written */
	}
	if (jdoc_str(d) != NULL) {
		strbuf_add_c(&text, jdoc_str(d));
	} else {
		jdoc_format(d, &text);
	}
	*a = (struct conf_arg){ arena_dup(r->arena, jdoc_key(d)), arena_dup(r->arena, text.p) };
	return 0;
}

#define ARGUMENTS(type)                                                                            \
	{                                                                                          \
		"arguments", CONFIG_ITEMS_AT(type, MAP, args, nargs), .max = CONF_MAX_ARGS,        \
								      .read = read_argument        \
	}
#define SWITCH(index, key)                                                                         \
	{                                                                                          \
		key, CONFIG_AT(struct conf_plugin, BOOL, on[CONF_##index]), .def = true            \
	}

/* Volcano's spelling: most switches begin with "enable", the later ones with "enabled". All are on
 * unless the file says otherwise, but for the hierarchy and the order of clusters. */
static const struct config_row plugin_rows[] = {
	{ "name", CONFIG_AT(struct conf_plugin, TEXT, name), .required = true },
	ARGUMENTS(struct conf_plugin),
	{ "enableHierarchy", CONFIG_AT(struct conf_plugin, BOOL, on[CONF_HIERARCHY]) },
	{ "enabledClusterOrder", CONFIG_AT(struct conf_plugin, BOOL, on[CONF_CLUSTER_ORDER]) },
	SWITCH(JOB_ORDER, "enableJobOrder"),
	SWITCH(JOB_READY, "enableJobReady"),
	SWITCH(JOB_PIPELINED, "enableJobPipelined"),
	SWITCH(TASK_ORDER, "enableTaskOrder"),
	SWITCH(PREEMPTABLE, "enablePreemptable"),
	SWITCH(RECLAIMABLE, "enableReclaimable"),
	SWITCH(PREEMPTIVE, "enablePreemptive"),
	SWITCH(QUEUE_ORDER, "enableQueueOrder"),
	SWITCH(PREDICATE, "enablePredicate"),
	SWITCH(BEST_NODE, "enableBestNode"),
	SWITCH(NODE_ORDER, "enableNodeOrder"),
	SWITCH(TARGET_JOB, "enableTargetJob"),
	SWITCH(RESERVED_NODES, "enableReservedNodes"),
	SWITCH(JOB_ENQUEUED, "enableJobEnqueued"),
	SWITCH(JOB_STARVING, "enableJobStarving"),
	SWITCH(VICTIM, "enabledVictim"),
	SWITCH(OVERUSED, "enabledOverused"),
	SWITCH(ALLOCATABLE, "enabledAllocatable"),
	SWITCH(HYPER_NODE_ORDER, "enabledHyperNodeOrder"),
	SWITCH(SUB_JOB_READY, "enabledSubJobReady"),
	SWITCH(SUB_JOB_PIPELINED, "enabledSubJobPipelined"),
	SWITCH(SUB_JOB_ORDER, "enabledSubJobOrder"),
	SWITCH(HYPER_NODE_GRADIENT, "enabledHyperNodeGradient"),
	{ .type = CONFIG_END },
};

static bool is_switch(const char *key)
{
	const struct config_row *row = plugin_rows;

	while (row->type != CONFIG_END && !str_streq(row->name, key)) {
		row++;
	}
	return row->type == CONFIG_BOOL;
}

static void add_hint(const struct conf_args_row *known, const char *key, struct strbuf *out)
{
	struct nearest nearest;

	nearest_init(&nearest, str_of(key));
	for (; known != NULL && known->name != NULL; known++) {
		nearest_offer(&nearest, str_of(known->name));
	}
	nearest_add_hint(&nearest, out);
}

/* kind: "plugin" or "action". */
static void warn_arguments(struct config_reader *r, const char *kind, const struct conf_name *of,
			   const struct conf_arg *args, size_t n)
{
	size_t len = r->path.len;

	strbuf_add_c(&r->path, ".arguments");
	for (size_t i = 0; i < n && !of->absent; i++) {
		const char *key = args[i].key;
		const struct conf_args_row *row = conf_args_find(of->arguments, key);
		CLEANUP(strbuf_finish) struct strbuf hint = STRBUF_INIT;

		r->word = str_of(key);
		if (row == NULL && is_switch(key)) {
			config_warn(
				r, key,
				"ignored: this switch belongs beside the arguments of a plugin");
		} else if (row == NULL) {
			add_hint(of->arguments, key, &hint);
			config_warn(r, key, "unknown argument of %s %s, ignored%s", kind, of->name,
				    hint.len > 0 ? hint.p : "");
		} else if (row->kind == CONF_ARGS_NO_EFFECT) {
			config_warn(r, key, "this argument of Volcano's %s %s has no effect here",
				    kind, of->name);
		}
	}
	strbuf_truncate(&r->path, len);
}

/* --- actions ---------------------------------------------------------------------------------- */

/* As in Volcano an unknown name is an error of the whole file. An action may be named more than
 * once: it then runs as often, and is warned about once. */
static int read_action(struct parse *p, struct str name, struct err *err)
{
	struct config_reader *r = &p->reader;
	struct sched_conf *c = p->conf;
	const struct conf_name *known = find_name(p->opt->known.actions, name);
	const char *text = arena_str(c->arena, name).p;
	bool is_new = true;

	if (name.len == 0) {
		return config_fail(r, NULL, err, "an empty action name");
	}
	if (known == NULL) {
		r->word = name;
		return config_fail(r, NULL, err, "unknown action \"%s\"", text);
	}
	if (c->nactions == CONF_MAX_ACTIONS) {
		return config_fail(r, NULL, err, "more than %d", CONF_MAX_ACTIONS);
	}
	for (size_t i = 0; i < c->nactions; i++) {
		is_new = is_new && !str_eq_c(name, c->actions[i].name);
	}
	if (is_new) {
		warn_absent(p, "action", known);
	}
	c->actions[c->nactions++] = (struct conf_action){ .name = text };
	return 0;
}

/* Names joined by commas. */
static int read_actions(struct config_reader *r, const struct jdoc *d, void *at UNUSED,
			struct err *err)
{
	struct str rest = str_of(jdoc_str(d)), word = r->word;
	int code = 0;

	while (code == 0 && rest.p != NULL) {
		r->word = word;
		code = read_action(r->ctx, str_trim(str_next(&rest, ',')), err);
	}
	return code;
}

/* --- plugins ---------------------------------------------------------------------------------- */

/* Appends a plugin to the configuration. */
static int add_plugin(struct config_reader *r, const struct jdoc *d UNUSED, void *at,
		      struct err *err)
{
	struct parse *p = r->ctx;
	struct sched_conf *c = p->conf;
	struct conf_plugin *plugin = at;
	const struct conf_name *known = find_name(p->opt->known.plugins, str_of(plugin->name));
	bool is_new = true;

	if (known == NULL) {
		r->word = str_of(plugin->name);
		return config_fail(r, "name", err, "unknown plugin \"%s\"", plugin->name);
	}
	if (c->nplugins == CONF_MAX_PLUGINS) {
		return config_fail(r, NULL, err, "more than %d plugins", CONF_MAX_PLUGINS);
	}
	for (size_t i = 0; i < c->nplugins; i++) {
		is_new = is_new && !str_streq(plugin->name, c->plugins[i].name);
	}
	if (is_new) {
		warn_absent(p, "plugin", known);
	}
	warn_arguments(r, "plugin", known, plugin->args, plugin->nargs);
	/* The tier is counted when it ends. */
	plugin->tier = c->ntiers;
	c->plugins[c->nplugins++] = *plugin;
	return 0;
}

/* proportion and drf both order queues by their own shares; Volcano refuses such a file, too. */
static int end_tier(struct config_reader *r, const struct jdoc *d UNUSED, void *at UNUSED,
		    struct err *err)
{
	struct sched_conf *c = ((struct parse *)r->ctx)->conf;
	bool drf_hierarchy = false, proportion = false;

	for (size_t i = 0; i < c->nplugins; i++) {
		const struct conf_plugin *p = &c->plugins[i];

		if (p->tier == c->ntiers) {
			proportion = proportion || str_streq(p->name, "proportion");
			drf_hierarchy = drf_hierarchy ||
					(str_streq(p->name, "drf") && p->on[CONF_HIERARCHY]);
		}
	}
	if (drf_hierarchy && proportion) {
		r->word = STR_LIT("drf");
		return config_fail(r, NULL, err,
				   "proportion and drf with enableHierarchy exclude each other");
	}
	c->ntiers++;
	return 0;
}

/* --- arguments of actions --------------------------------------------------------------------- */

/* Arguments go to every occurrence of the action; where an action is configured twice the first
 * value of an argument counts, since it is found first. */
static int add_arguments(struct config_reader *r, const struct jdoc *d UNUSED, void *at,
			 struct err *err)
{
	const struct parse *p = r->ctx;
	const struct conf_action *from = at;
	const struct conf_name *known = find_name(p->opt->known.actions, str_of(from->name));

	if (known == NULL) {
		r->word = str_of(from->name);
		config_warn(r, "name", "unknown action \"%s\", ignored", from->name);
		return 0;
	}
	warn_arguments(r, "action", known, from->args, from->nargs);
	for (size_t i = 0; i < p->conf->nactions; i++) {
		struct conf_action *a = &p->conf->actions[i];
		struct conf_arg *args;

		if (!str_streq(a->name, from->name)) {
			continue;
		}
		if (a->nargs + from->nargs > CONF_MAX_ARGS) {
			return config_fail(r, "arguments", err, "more than %d items",
					   CONF_MAX_ARGS);
		}
		args = arena_zero(r->arena, a->nargs + from->nargs + 1, sizeof(args[0]));
		for (size_t k = 0; k < a->nargs + from->nargs; k++) {
			args[k] = k < a->nargs ? a->args[k] : from->args[k - a->nargs];
		}
		a->args = args;
		a->nargs += from->nargs;
	}
	return 0;
}

/* --- the file --------------------------------------------------------------------------------- */

struct tier {
	struct conf_plugin *plugins;
	size_t nplugins;
};
static const struct config_row tier_rows[] = {
	{ "plugins", CONFIG_ITEMS_AT(struct tier, LIST, plugins, nplugins), .max = CONF_MAX_PLUGINS,
	  .rows = plugin_rows, .read = add_plugin },
	{ .type = CONFIG_END },
};

static const struct config_row action_rows[] = {
	{ "name", CONFIG_AT(struct conf_action, TEXT, name), .required = true },
	ARGUMENTS(struct conf_action),
	{ .type = CONFIG_END },
};

struct document {
	struct tier *tiers;
	size_t ntiers;
	struct conf_action *configurations;
	size_t nconfigurations;
};
/* Read in this order, whatever that of the file: configurations refer to actions. */
static const struct config_row rows[] = {
	{ "actions", .type = CONFIG_CUSTOM, .kind = JDOC_STRING, .read = read_actions,
	  .required = true },
	{ "tiers", CONFIG_ITEMS_AT(struct document, LIST, tiers, ntiers), .max = CONF_MAX_TIERS,
	  .rows = tier_rows, .read = end_tier },
	{ "configurations", CONFIG_ITEMS_AT(struct document, LIST, configurations, nconfigurations),
	  .max = CONF_MAX_ACTIONS, .rows = action_rows, .read = add_arguments },
	/* Volcano's source of data about usage, which no plugin here reads. */
	{ "metrics", .type = CONFIG_IGNORED },
	{ .type = CONFIG_END },
};

static int read_document(struct parse *p, const struct jdoc *d, struct err *err)
{
	CLEANUP(xmalloc_freep) char *at = NULL;
	struct document doc = { NULL, 0, NULL, 0 };

	if (config_read(&p->reader, rows, d, &doc, err) < 0) {
		at = place(p);
		return err_wrap(err, "%s", at);
	}
	return 0;
}

/* " or " between the names of all plugins that limit Queues; "" when none is known. */
static void add_limiting_names(const struct conf_name *names, struct strbuf *out)
{
	for (; names != NULL && names->name != NULL; names++) {
		if (names->limits_queues) {
			strbuf_printf(out, "%s%s", out->len > 0 ? " or " : "", names->name);
		}
	}
}

/* The place of the i-th plugin in the file. */
static void add_plugin_path(const struct sched_conf *c, size_t i, struct strbuf *out)
{
	size_t first = i;

	while (first > 0 && c->plugins[first - 1].tier == c->plugins[i].tier) {
		first--;
	}
	strbuf_printf(out, "tiers[%zu].plugins[%zu]", c->plugins[i].tier, i - first);
}

/* Volcano takes such a configuration, so it is no error. Its pods go beyond every limit, which only
 * the probe of readiness would show. */
static void warn_unlimited(struct parse *p)
{
	static const char means[] = "Queues have no limits: ungated pods are bound beyond them and "
				    "in closed Queues, and no gate is removed";
	CLEANUP(strbuf_finish) struct strbuf names = STRBUF_INIT;
	const struct sched_conf *c = p->conf;
	size_t off = c->nplugins; /* the last one that is switched off */

	add_limiting_names(p->opt->known.plugins, &names);
	for (size_t i = 0; i < c->nplugins; i++) {
		if (find_name(p->opt->known.plugins, str_of(c->plugins[i].name))->limits_queues) {
			off = i;
			if (c->plugins[i].on[CONF_ALLOCATABLE]) {
				return;
			}
		}
	}
	strbuf_reset(&p->reader.path);
	if (off < c->nplugins) {
		add_plugin_path(c, off, &p->reader.path);
		p->reader.word = STR_LIT("enabledAllocatable");
		config_warn(&p->reader, "enabledAllocatable", "with false %s", means);
	} else if (names.len > 0) {
		p->reader.word = STR_LIT("tiers");
		config_warn(&p->reader, "tiers", "without %s %s", names.p, means);
	}
}

int conf_parse(struct str text, const char *name, const struct conf_options *opt,
	       struct sched_conf **ret, struct err *err)
{
	CLEANUP(conf_destroyp) struct sched_conf *conf = new_conf();
	CLEANUP(jdoc_destroyp) struct jdoc *tree = NULL;
	struct parse p = { .text = text, .name = name, .opt = opt, .conf = conf };
	int code;

	if (text.len > CONF_MAX_BYTES) {
		return err_set(err, ERR_INVALID, "%s: more than %u bytes", name, CONF_MAX_BYTES);
	}
	code = yaml_parse(text, &tree, err);
	if (code < 0) {
		return err_wrap(err, "%s", name);
	}
	p.reader = (struct config_reader){ .arena = conf->arena,
					   .ctx = &p,
					   .warn = on_warning,
					   .warn_ctx = &p,
					   .unknown = warn_unknown,
					   .path = STRBUF_INIT };
	code = read_document(&p, tree, err);
	if (code == 0) {
		warn_unlimited(&p);
	}
	config_finish(&p.reader);
	if (code == 0) {
		*ret = take_ptr(&conf);
	}
	return code;
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

const struct conf_action *conf_action(const struct sched_conf *c, const char *name)
{
	for (size_t i = 0; i < c->nactions; i++) {
		if (str_streq(c->actions[i].name, name)) {
			return &c->actions[i];
		}
	}
	return NULL;
}
