#include "obs/process.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "process/file.h"

#define PROCESS_MAX_BYTES ((size_t)1 << 20)

/* Fields of proc(5) stat that follow the name, counted from the state as 0. */
enum {
	STAT_UTIME = 11,
	STAT_STIME = 12,
	STAT_THREADS = 17,
	STAT_START = 19,
	STAT_VSIZE = 20,
	STAT_RSS = 21,
	STAT_COUNT_
};

bool process_parse_stat(struct str text, struct process_info *ret)
{
	/* The last one: the name itself may contain parentheses. */
	const char *name_end = memrchr(text.p, ')', text.len);
	int64_t v[STAT_COUNT_] = { 0 };
	struct str rest;
	double tick = (double)sysconf(_SC_CLK_TCK);

	if (name_end == NULL) {
		return false;
	}
	rest = str_trim((struct str){ name_end + 1, (size_t)(text.p + text.len - name_end - 1) });
	for (size_t i = 0; i < STAT_COUNT_; i++) {
		struct str word = str_next(&rest, ' ');

		if (i > 0 && !str_to_i64(word, &v[i])) {
			return false;
		}
	}
	ret->cpu_seconds = (double)(v[STAT_UTIME] + v[STAT_STIME]) / tick;
	ret->start_seconds = (double)v[STAT_START] / tick;
	ret->threads = v[STAT_THREADS];
	ret->virtual_bytes = v[STAT_VSIZE];
	ret->resident_bytes = v[STAT_RSS] * sysconf(_SC_PAGESIZE);
	return true;
}

/* Unix time of the machine's start: "btime N" in /proc/stat. */
static bool boot_time(int64_t *ret)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct str rest;

	if (file_read_all("/proc/stat", PROCESS_MAX_BYTES, &text, NULL) < 0) {
		return false;
	}
	rest = strbuf_str(&text);
	while (rest.p != NULL) {
		struct str value = str_next(&rest, '\n');

		if (str_eq_c(str_next(&value, ' '), "btime")) {
			return str_to_i64(str_trim(value), ret);
		}
	}
	return false;
}

static int64_t count_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int64_t n = 0;

	if (dir == NULL) {
		return 0;
	}
	for (const struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
		n += e->d_name[0] != '.';
	}
	closedir(dir);
	return n - 1; /* the folder itself */
}

bool process_read(struct process_info *ret)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct process_info info = { 0 };
	struct rlimit limit;
	int64_t boot = 0;

	if (file_read_all("/proc/self/stat", PROCESS_MAX_BYTES, &text, NULL) < 0 ||
	    !process_parse_stat(strbuf_str(&text), &info) || !boot_time(&boot)) {
		return false;
	}
	info.start_seconds += (double)boot;
	info.open_files = count_files();
	info.max_files = -1;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
		info.max_files = (int64_t)limit.rlim_cur;
	}
	*ret = info;
	return true;
}
