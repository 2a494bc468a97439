/* scheduler/ctl/cli/columns.h: tables as kubectl prints them: upper-case heads, columns as wide as
 * their widest cell, three blanks between. One thread. */
#ifndef SCHEDULER_CTL_CLI_COLUMNS_H
#define SCHEDULER_CTL_CLI_COLUMNS_H

#include <stdio.h>

#include "base/attrs.h"

#define COLUMNS_MAX 16

struct columns;

/* heads: NULL-terminated, at most COLUMNS_MAX; borrowed. */
struct columns *columns_create(const char *const *heads);
void columns_destroyp(struct columns **pc); /* for CLEANUP */
/* The next cell, cut at 511 bytes; rows fill from left to right. */
void columns_add(struct columns *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
void columns_print(const struct columns *c, FILE *to);

#endif
