/* test/demo/chart.h: the timeline of a finished demo as an SVG picture: a panel per act, a row per
 * pod, coloured by what autoscalers could see, and the number of nodes below. */
#ifndef TEST_DEMO_CHART_H
#define TEST_DEMO_CHART_H

#include <stddef.h>

struct err;
struct mirror;

/* Texts go into the picture as they are: no characters that XML reserves. */
struct chart_panel {
	const char *title;
	const char *prefix; /* of the keys of the pods that are shown */
	const char *pool;   /* prefix of the names of the nodes that are counted */
};

/* From the history of the mirror, when nothing changes any more. Panels fill two columns. All of
 * them have the same scale of time. */
int chart_write(struct mirror *m, const struct chart_panel *panels, size_t npanels,
		const char *path, struct err *err);

#endif
