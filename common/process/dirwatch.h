/* common/process/dirwatch.h: reports when files may have changed (inotify on their directories,
 * which also sees the symlink swap of a mounted ConfigMap or Secret). Owner: one thread. */
#ifndef COMMON_PROCESS_DIRWATCH_H
#define COMMON_PROCESS_DIRWATCH_H

#include <stdbool.h>

struct err;
struct dirwatch;

int dirwatch_create(struct dirwatch **ret, struct err *err);
void dirwatch_destroy(struct dirwatch *w);
int dirwatch_add_file(struct dirwatch *w, const char *path, struct err *err);
int dirwatch_fd(const struct dirwatch *w); /* readable when something happened */
bool dirwatch_drain(struct dirwatch *w);   /* true: at least one event; empties the fd */

#endif
