#include "scheduler/pods/cycle/known_names.h"

#include <stdlib.h>

#include "base/xmalloc.h"

void known_names_init(struct known_names *n, const struct known_names_source *from)
{
	n->plugins = xmalloc_zero(from->nplugins + 1, sizeof(n->plugins[0]));
	n->actions = xmalloc_zero(from->nactions + 1, sizeof(n->actions[0]));
	for (size_t i = 0; i < from->nplugins; i++) {
		const struct plugin_row *row = &from->plugins[i];

		n->plugins[i] = (struct conf_name){
			.name = row->name,
			.arguments = row->ops == NULL ? NULL : row->ops->arguments,
			.limits_queues = row->ops != NULL && row->ops->quota_limits != NULL,
			.absent = row->ops == NULL,
		};
	}
	for (size_t i = 0; i < from->nactions; i++) {
		const struct action_row *row = &from->actions[i];

		n->actions[i] = (struct conf_name){ .name = row->name,
						    .arguments = row->arguments,
						    .absent = row->run == NULL,
						    .why = row->absent };
	}
}

void known_names_finish(struct known_names *n)
{
	free(n->plugins);
	free(n->actions);
	*n = (struct known_names){ .plugins = NULL };
}

struct conf_names known_names_conf(const struct known_names *n)
{
	return (struct conf_names){ .plugins = n->plugins, .actions = n->actions };
}
