#include "lib/folder.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/xmalloc.h"
#include "lib/unit.h"
#include "process/file.h"
#include "unit/scheduler/ctl/capture.h"

void folder_make(struct folder *f)
{
	*f = (struct folder){ .path = "/tmp/headgate-test-XXXXXX" };
	assert_non_null(mkdtemp(f->path));
}

void folder_write(struct folder *f, const char *name, const char *text)
{
	char *path = xmalloc_printf("%s/%s", f->path, name);

	assert_int_equal(file_write_atomic(path, str_of(text), 0600, NULL), 0);
	vec_push(&f->files, path);
}

void folder_remove(struct folder *f)
{
	for (size_t i = 0; i < f->files.n; i++) {
		unlink(f->files.v[i]);
		free(f->files.v[i]);
	}
	vec_finish(&f->files);
	assert_int_equal(rmdir(f->path), 0);
}

int folder_run(const struct folder *f, int (*run)(int argc, char **argv), const char *line,
	       struct strbuf *out)
{
	CLEANUP(strbuf_finish) struct strbuf words = STRBUF_INIT;

	for (const char *p = line; *p != '\0'; p++) {
		if (*p == '@') {
			strbuf_printf(&words, "%s/", f->path);
		} else {
			strbuf_add_ch(&words, *p);
		}
	}
	strbuf_reset(out);
	return capture_run(run, words.p, out);
}
