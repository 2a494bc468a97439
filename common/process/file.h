/* common/process/file.h: whole small files. Any thread. Errors name the path. */
#ifndef COMMON_PROCESS_FILE_H
#define COMMON_PROCESS_FILE_H

#include <stddef.h>

#include "base/str.h"

struct err;
struct strbuf;

/* Appends the file to out. More than max bytes: -ERR_INVALID. Path "-" reads standard input. */
int file_read_all(const char *path, size_t max, struct strbuf *out, struct err *err);
/* Writes a temporary file in the same directory, fsyncs and renames it, so that readers see the old
 * or the new content. */
int file_write_atomic(const char *path, struct str bytes, unsigned mode, struct err *err);
int file_make_dirs(const char *path, struct err *err); /* like mkdir -p */

#endif
