/* scheduler/pods/conf/conf_line.h: where in a configuration text a word stands, for messages: the
 * document tree keeps no positions. Any thread. */
#ifndef SCHEDULER_PODS_CONF_CONF_LINE_H
#define SCHEDULER_PODS_CONF_CONF_LINE_H

#include "base/str.h"

/* Number of the first line, from 1, that holds word as a whole word outside comments; 0: none. */
unsigned conf_line_find(struct str text, struct str word);

#endif
