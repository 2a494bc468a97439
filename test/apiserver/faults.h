/* test/apiserver/faults.h: scripted failures of the server. A script is YAML, a list of rules; the
 * first rule that fits a request strikes:
 *   - fault: status        # answer with `code` (and retryAfter seconds) instead of handling
 *     code: 500
 *     retryAfter: 1
 *     method: PATCH        # optional, GET also for lists, WATCH for watches
 *     path: /api/v1/.*pods # optional, POSIX extended, matched at the start of the path
 *     from: 3              # optional, strikes from the 3rd fitting request on (1 = first)
 *     count: 2             # optional, so many times; 0: for ever
 *     every: 10            # optional, only every 10th fitting request
 *   fault: drop-before     # connection cut, nothing done
 *   fault: drop-after      # connection cut, the effect stays
 *   fault: status-after    # the effect stays, but the answer is `code`
 *   fault: delay           # answered after delayMs
 *   fault: stale           # GET and LIST see the state of `versions` resourceVersions ago
 *   fault: watch-late      # frames arrive delayMs after their change
 *   fault: watch-duplicate | watch-truncate | watch-close | watch-gone   # at frame number `frame`
 *   fault: compact         # the history is forgotten before the request is handled
 * Owner: the server. Limit: FAULTS_MAX rules. */
#ifndef TEST_APISERVER_FAULTS_H
#define TEST_APISERVER_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "net/http.h"

#define FAULTS_MAX 1000

struct err;
struct faults;

enum fault_kind {
	FAULT_STATUS,
	FAULT_DROP_BEFORE,
	FAULT_DROP_AFTER,
	FAULT_STATUS_AFTER,
	FAULT_DELAY,
	FAULT_STALE,
	FAULT_WATCH_LATE,
	FAULT_WATCH_DUPLICATE,
	FAULT_WATCH_TRUNCATE,
	FAULT_WATCH_CLOSE,
	FAULT_WATCH_GONE,
	FAULT_COMPACT,
	FAULT_COUNT_
};

struct fault {
	enum fault_kind kind;
	int code, retry_after_s;
	int64_t delay_ns, versions, frame;
};

int faults_parse(struct str script, struct faults **ret, struct err *err);
void faults_destroy(struct faults *f); /* NULL is fine */
/* Counts the request; the fault that strikes it, NULL: none. f may be NULL. */
const struct fault *faults_strike(struct faults *f, enum http_method method, bool is_watch,
				  struct str path);
uint64_t faults_struck(const struct faults *f, const char *kind);

#endif
