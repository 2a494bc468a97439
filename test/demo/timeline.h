/* test/demo/timeline.h: the story of a run on standard output, in lines of at most 80 columns: what
 * happens to pods, Jobs and nodes. The same thing happening to several objects within a moment is
 * one line. Colours on a terminal. Owner: the main thread; events come on the mirror's transport
 * thread. */
#ifndef TEST_DEMO_TIMELINE_H
#define TEST_DEMO_TIMELINE_H

#include <stdbool.h>

struct mirror;
struct timeline;

/* Registers itself with the mirror; create before mirror_start. */
struct timeline *timeline_create(struct mirror *m, bool color);
void timeline_heading(struct timeline *t, const char *title, const char *explanation);
void timeline_ordered(struct timeline *t, const char *node); /* by the autoscaler */
void timeline_flush(struct timeline *t);                     /* prints what is not printed yet */
void timeline_destroy(struct timeline *t);                   /* after the mirror's transport */

#endif
