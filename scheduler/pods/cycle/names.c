#include "scheduler/pods/cycle/names.h"

#include <stdlib.h>

#include "base/xmalloc.h"

void names_init(struct names *n, const struct names_source *from)
{
	size_t absent = 0;

	n->plugins = xmalloc_zero(from->nplugins + 1, sizeof(n->plugins[0]));
	n->actions = xmalloc_zero(from->nactions + 1, sizeof(n->actions[0]));
	n->absent = xmalloc_zero(from->nplugins + from->nactions + 1, sizeof(n->absent[0]));
	for (size_t i = 0; i < from->nplugins; i++) {
		n->plugins[i] = from->plugins[i].name;
		if (from->plugins[i].ops == NULL) {
			n->absent[absent++] = from->plugins[i].name;
		}
	}
	for (size_t i = 0; i < from->nactions; i++) {
		n->actions[i] = from->actions[i].name;
		if (from->actions[i].run == NULL) {
			n->absent[absent++] = from->actions[i].name;
		}
	}
}

void names_finish(struct names *n)
{
	free(n->plugins);
	free(n->actions);
	free(n->absent);
	*n = (struct names){ .plugins = NULL };
}

struct conf_names names_conf(const struct names *n)
{
	return (struct conf_names){ .plugins = n->plugins,
				    .actions = n->actions,
				    .absent = n->absent };
}
