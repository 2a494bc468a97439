/* scheduler/pods/conf/conf_line.h: the line of a configuration text to which a message belongs: the
 * document tree keeps no positions. Any thread. */
#ifndef SCHEDULER_PODS_CONF_CONF_LINE_H
#define SCHEDULER_PODS_CONF_CONF_LINE_H

#include "base/str.h"

/* Number of the line, from 1, on which the last word of the path is, behind those before it: for
 * "configurations[1].arguments" the arguments behind the second name behind configurations. Then
 * word is looked for behind that, unless it is the last name. Only whole words outside comments
 * count. A word that is not found is left out; 0: nothing was found. */
unsigned conf_line_find(struct str text, struct str path, struct str word);

#endif
