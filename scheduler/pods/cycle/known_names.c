#include "scheduler/pods/cycle/known_names.h"

#include <stdlib.h>

#include "base/xmalloc.h"

void known_names_init(struct known_names *n, const struct known_names_source *from)
{
	size_t unimplemented = 0;

	n->plugins = xmalloc_zero(from->nplugins + 1, sizeof(n->plugins[0]));
	n->actions = xmalloc_zero(from->nactions + 1, sizeof(n->actions[0]));
	n->unimplemented =
		xmalloc_zero(from->nplugins + from->nactions + 1, sizeof(n->unimplemented[0]));
	n->reasons = xmalloc_zero(from->nplugins + from->nactions + 1, sizeof(n->reasons[0]));
	for (size_t i = 0; i < from->nplugins; i++) {
		n->plugins[i] = from->plugins[i].name;
		if (from->plugins[i].ops == NULL) {
			n->unimplemented[unimplemented++] = from->plugins[i].name;
		}
	}
	for (size_t i = 0; i < from->nactions; i++) {
		n->actions[i] = from->actions[i].name;
		if (from->actions[i].run == NULL) {
			n->reasons[unimplemented] = from->actions[i].absent;
			n->unimplemented[unimplemented++] = from->actions[i].name;
		}
	}
}

void known_names_finish(struct known_names *n)
{
	free(n->plugins);
	free(n->actions);
	free(n->unimplemented);
	free(n->reasons);
	*n = (struct known_names){ .plugins = NULL };
}

struct conf_names known_names_conf(const struct known_names *n)
{
	return (struct conf_names){ .plugins = n->plugins,
				    .actions = n->actions,
				    .absent = n->unimplemented,
				    .absent_reasons = n->reasons };
}
