/* test/lib/folder.h: a folder of small files that goes with the test. Owner: the test. */
#ifndef TEST_LIB_FOLDER_H
#define TEST_LIB_FOLDER_H

#include "base/strbuf.h"
#include "collections/vec.h"

struct folder {
	char path[64];
	struct VEC(char *) files;
};

/* Both fail the running test when they cannot. */
void folder_make(struct folder *f);
void folder_write(struct folder *f, const char *name, const char *text);
void folder_remove(struct folder *f);
/* Runs a verb with its output captured: each "@NAME" of the line is that file, "@" the folder. */
int folder_run(const struct folder *f, int (*run)(int argc, char **argv), const char *line,
	       struct strbuf *out);

#endif
