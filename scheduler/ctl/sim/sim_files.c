#include "scheduler/ctl/sim/sim_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/yaml.h"
#include "process/file.h"
#include "scheduler/ctl/sim/sim_input.h"

static int read_file(const char *path, struct sim_input *in, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	/* Large files are dumps of a cluster, as one List in JSON: those are cut into items
	 * without a tree of the whole. */
	size_t most = str_has_suffix(str_of(path), ".json") ? SIM_FILES_JSON_MAX : YAML_MAX_BYTES;
	int r = file_read_all(path, most, &text, err);

	if (r < 0) {
		return r;
	}
	return text.len > YAML_MAX_BYTES ? sim_input_add_list(in, path, strbuf_str(&text), err)
					 : sim_input_add(in, path, strbuf_str(&text), err);
}

static int is_manifest(const struct dirent *e)
{
	static const char *const ends[] = { ".yaml", ".yml", ".json" };

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		if (str_has_suffix(str_of(e->d_name), ends[i])) {
			return 1;
		}
	}
	return 0;
}

/* Bytewise, independent of the locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int read_folder(const char *path, struct sim_input *in, struct err *err)
{
	struct dirent **entries = NULL;
	int n = scandir(path, &entries, is_manifest, by_name), r = 0;

	if (n < 0) {
		return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	}
	if (n == 0) {
		r = err_set(err, ERR_INVALID, "%s: no file ending in .yaml, .yml or .json", path);
	}
	for (int i = 0; i < n; i++) {
		CLEANUP(xmalloc_freep)
		char *file = xmalloc_printf("%s/%s", path, entries[i]->d_name);

		r = r < 0 ? r : read_file(file, in, err);
		free(entries[i]);
	}
	free(entries);
	return r;
}

int sim_files_read(const char *const *paths, size_t n, struct sim_input *in, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		struct stat st;
		/* A path that is not there is reported when it is read, with its name. */
		bool folder = stat(paths[i], &st) == 0 && S_ISDIR(st.st_mode);

		r = folder ? read_folder(paths[i], in, err) : read_file(paths[i], in, err);
	}
	return r;
}

int sim_files_read_document(const char *path, struct jdoc **ret, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	int r = file_read_all(path, YAML_MAX_BYTES, &text, err);

	if (r == 0 && yaml_parse(strbuf_str(&text), ret, err) < 0) {
		r = err_wrap(err, "%s", path);
	}
	return r;
}
