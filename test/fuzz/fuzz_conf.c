/* A configuration either is refused with a text, or holds only known names within the limits; then
 * its plugins are created, or refused with a text that names the plugin. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "scheduler/pods/conf/conf.h"
#include "scheduler/pods/cycle/known_names.h"
#include "scheduler/pods/session/hooks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_known(const struct conf_name *names, const char *name)
{
	while (names->name != NULL && strcmp(names->name, name) != 0) {
		names++;
	}
	return names->name != NULL;
}

static void on_warning(void *ctx, const char *text)
{
	assert(strncmp(text, ctx, strlen(ctx)) == 0);
}

static void check(const struct sched_conf *c, const struct conf_names *known)
{
	assert(c->nactions > 0 && c->nactions <= CONF_MAX_ACTIONS);
	assert(c->ntiers <= CONF_MAX_TIERS && c->nplugins <= CONF_MAX_PLUGINS);
	for (size_t i = 0; i < c->nactions; i++) {
		assert(is_known(known->actions, c->actions[i].name));
		assert(c->actions[i].nargs <= CONF_MAX_ARGS);
	}
	for (size_t i = 0; i < c->nplugins; i++) {
		assert(is_known(known->plugins, c->plugins[i].name));
		assert(c->plugins[i].nargs <= CONF_MAX_ARGS);
		assert(c->plugins[i].tier < c->ntiers);
		assert(i == 0 || c->plugins[i - 1].tier <= c->plugins[i].tier);
		for (size_t k = 0; k < c->plugins[i].nargs; k++) {
			assert(c->plugins[i].args[k].key != NULL);
			assert(c->plugins[i].args[k].value != NULL);
		}
	}
}

static void check_plugins(const struct sched_conf *c)
{
	struct hooks *h = NULL;
	struct err err = ERR_INIT;

	if (hooks_create(c, plugin_registry, plugin_registry_count, &h, &err) < 0) {
		assert(h == NULL && strncmp(err.text, "plugin ", 7) == 0);
	}
	hooks_destroy(h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char name[] = "f.conf";
	const struct known_names_source from = { plugin_registry, plugin_registry_count,
						 action_registry, action_registry_count };
	struct conf_options opt = { .warn = on_warning, .ctx = name };
	struct err err = ERR_INIT;
	struct sched_conf *conf = NULL;
	struct known_names names;

	known_names_init(&names, &from);
	opt.known = known_names_conf(&names);
	if (conf_parse((struct str){ (const char *)data, size }, name, &opt, &conf, &err) < 0) {
		assert(conf == NULL && strncmp(err.text, name, strlen(name)) == 0);
	} else {
		check(conf, &opt.known);
		check_plugins(conf);
	}
	conf_destroy(conf);
	known_names_finish(&names);
	return 0;
}
