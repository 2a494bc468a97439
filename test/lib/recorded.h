/* test/lib/recorded.h: a whole output, kept in a file beside the test. With WRITE_OUTPUTS in the
 * environment the file is written anew: read the difference before it is kept. */
#ifndef TEST_LIB_RECORDED_H
#define TEST_LIB_RECORDED_H

struct metric_registry;
struct strbuf;

/* path: from the folder of the source tree. The first line that differs fails the running test. */
void recorded_check(const char *path, const struct strbuf *got);

/* Appends all series of the registry but those of buckets and of the build, under a title. */
void recorded_series(struct metric_registry *r, const char *title, struct strbuf *out);

#endif
