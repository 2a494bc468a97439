#include "scheduler/pods/conf/conf_plugin.h"

#include <strings.h>

#include "base/err.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "scheduler/pods/conf/conf_read.h"

/* Volcano's spelling: most switches begin with "enable", the later ones with "enabled". */
static const char *const switch_key[CONF_SWITCH_COUNT_] = {
	[CONF_JOB_ORDER] = "enableJobOrder",
	[CONF_HIERARCHY] = "enableHierarchy",
	[CONF_JOB_READY] = "enableJobReady",
	[CONF_JOB_PIPELINED] = "enableJobPipelined",
	[CONF_TASK_ORDER] = "enableTaskOrder",
	[CONF_PREEMPTABLE] = "enablePreemptable",
	[CONF_RECLAIMABLE] = "enableReclaimable",
	[CONF_PREEMPTIVE] = "enablePreemptive",
	[CONF_QUEUE_ORDER] = "enableQueueOrder",
	[CONF_PREDICATE] = "enablePredicate",
	[CONF_BEST_NODE] = "enableBestNode",
	[CONF_NODE_ORDER] = "enableNodeOrder",
	[CONF_TARGET_JOB] = "enableTargetJob",
	[CONF_RESERVED_NODES] = "enableReservedNodes",
	[CONF_JOB_ENQUEUED] = "enableJobEnqueued",
	[CONF_JOB_STARVING] = "enableJobStarving",
	[CONF_CLUSTER_ORDER] = "enabledClusterOrder",
	[CONF_VICTIM] = "enabledVictim",
	[CONF_OVERUSED] = "enabledOverused",
	[CONF_ALLOCATABLE] = "enabledAllocatable",
	[CONF_HYPER_NODE_ORDER] = "enabledHyperNodeOrder",
	[CONF_SUB_JOB_READY] = "enabledSubJobReady",
	[CONF_SUB_JOB_PIPELINED] = "enabledSubJobPipelined",
	[CONF_SUB_JOB_ORDER] = "enabledSubJobOrder",
	[CONF_HYPER_NODE_GRADIENT] = "enabledHyperNodeGradient",
};

static bool is_on_by_default(enum conf_switch s)
{
	return s != CONF_HIERARCHY && s != CONF_CLUSTER_ORDER;
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

static void warn_unknown_key(const struct conf_read *r, const char *path, const char *key)
{
	const char *stem = stem_of(key);

	for (int i = 0; stem != NULL && i < CONF_SWITCH_COUNT_; i++) {
		if (strcasecmp(stem, stem_of(switch_key[i])) == 0) {
			conf_read_warn(r, key, "%s.%s: unknown key, ignored (did you mean %s?)",
				       path, key, switch_key[i]);
			return;
		}
	}
	conf_read_warn(r, key, "%s.%s: unknown key, ignored", path, key);
}

static int read_switch(const struct conf_read *r, const struct jdoc *d, const char *path,
		       struct conf_plugin *p, struct err *err)
{
	const char *key = jdoc_key(d);

	for (int i = 0; i < CONF_SWITCH_COUNT_; i++) {
		if (!str_streq(key, switch_key[i])) {
			continue;
		}
		if (jdoc_kind(d) == JDOC_BOOL) {
			p->on[i] = jdoc_bool(d, false);
		} else if (jdoc_kind(d) != JDOC_NULL) {
			return conf_read_fail(r, key, err, "%s.%s: expected true or false", path,
					      key);
		}
		return 0;
	}
	warn_unknown_key(r, path, key);
	return 0;
}

static int read_members(const struct conf_read *r, const struct jdoc *d, const char *path,
			struct conf_plugin *p, struct err *err)
{
	for (const struct jdoc *m = jdoc_first(d); m != NULL; m = jdoc_next(m)) {
		int rc = 0;

		if (str_streq(jdoc_key(m), "arguments")) {
			CLEANUP(xmalloc_freep) char *sub = xmalloc_printf("%s.arguments", path);

			rc = conf_read_args(r, m, sub, &p->args, &p->nargs, err);
		} else if (!str_streq(jdoc_key(m), "name")) {
			rc = read_switch(r, m, path, p, err);
		}
		if (rc < 0) {
			return rc;
		}
	}
	return 0;
}

static bool is_listed_before(const struct sched_conf *c, const char *name)
{
	for (size_t i = 0; i + 1 < c->nplugins; i++) {
		if (str_streq(c->plugins[i].name, name)) {
			return true;
		}
	}
	return false;
}

int conf_plugin_read(const struct conf_read *r, const struct jdoc *d, const char *path, size_t tier,
		     struct err *err)
{
	const char *name = jdoc_str(jdoc_get(d, "name"));
	struct sched_conf *c = r->conf;
	struct conf_plugin *p;

	if (name == NULL || name[0] == '\0') {
		return conf_read_fail(r, "plugins", err, "%s.name: missing", path);
	}
	if (!conf_read_in_list(r->opt->known.plugins, str_of(name))) {
		return conf_read_fail(r, name, err, "%s.name: unknown plugin \"%s\"", path, name);
	}
	if (c->nplugins == CONF_MAX_PLUGINS) {
		return conf_read_fail(r, name, err, "%s: more than %d plugins", path,
				      CONF_MAX_PLUGINS);
	}
	c->plugins = xmalloc_resize(c->plugins, c->nplugins + 1, sizeof(c->plugins[0]));
	p = &c->plugins[c->nplugins++];
	*p = (struct conf_plugin){ .name = xmalloc_dup(name), .tier = tier };
	for (int i = 0; i < CONF_SWITCH_COUNT_; i++) {
		p->on[i] = is_on_by_default((enum conf_switch)i);
	}
	if (!is_listed_before(c, name)) {
		conf_read_warn_absent(r, "plugin", name);
	}
	return read_members(r, d, path, p, err);
}
