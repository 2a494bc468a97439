/* test/play/line.h: the network between two programs of this machine: connections to a port of
 * 127.0.0.1 are forwarded to another one, until the line is cut. Owner: one thread; the forwarding
 * is done by a thread of the line's own. */
#ifndef TEST_PLAY_LINE_H
#define TEST_PLAY_LINE_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct line;

/* Connections to line_port are forwarded to this port. */
int line_open(uint16_t to, struct line **ret, struct err *err);
uint16_t line_port(const struct line *l);
/* Cut: all connections end at once, and new ones end as soon as they are made. */
void line_cut(struct line *l, bool cut);
void line_close(struct line *l); /* NULL is fine */

#endif
