/* test/demo/timeline.h: prints what happens to pods, queues and nodes, one line per change of
 * interest. Listens to the mirror; runs on its transport's thread. */
#ifndef TEST_DEMO_TIMELINE_H
#define TEST_DEMO_TIMELINE_H

#include <stdbool.h>

struct mirror;
struct timeline;

/* color: escape sequences. Create before mirror_start. */
struct timeline *timeline_create(struct mirror *m, bool color);
void timeline_heading(struct timeline *t, const char *text); /* any thread */
void timeline_ordered(struct timeline *t, const char *node,
		      const char *pod); /* transport's thread */
void timeline_destroy(struct timeline *t);

#endif
