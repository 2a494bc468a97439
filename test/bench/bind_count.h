/* test/bench/bind_count.h: counts pods of a key prefix as they get their node, without keeping the
 * pods. For benches. Watches on the transport's thread; the rest on any other. */
#ifndef TEST_BENCH_BIND_COUNT_H
#define TEST_BENCH_BIND_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bind_count;
struct transport;

/* Returns when the first LIST is complete. prefix is borrowed. */
struct bind_count *bind_count_start(struct transport *t, const char *prefix);
bool bind_count_wait(struct bind_count *b, size_t n, int64_t timeout_ns);
size_t bind_count_bound(const struct bind_count *b);
int64_t bind_count_first_at(const struct bind_count *b); /* monotonic ns, 0: none yet */
int64_t bind_count_last_at(const struct bind_count *b);
void bind_count_destroy(struct bind_count *b); /* after the transport */

#endif
