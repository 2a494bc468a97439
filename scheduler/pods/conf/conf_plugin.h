/* scheduler/pods/conf/conf_plugin.h: one entry of `plugins` in the configuration. Owner: one
 * thread. */
#ifndef SCHEDULER_PODS_CONF_CONF_PLUGIN_H
#define SCHEDULER_PODS_CONF_CONF_PLUGIN_H

#include <stddef.h>

struct conf_read;
struct err;
struct jdoc;

/* Appends the plugin to the configuration being read. path: of the entry, for messages. */
int conf_plugin_read(const struct conf_read *r, const struct jdoc *d, const char *path, size_t tier,
		     struct err *err);

#endif
