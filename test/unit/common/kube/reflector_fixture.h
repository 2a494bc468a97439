/* test/unit/common/kube/reflector_fixture.h: a reflector of pods on a fake transport and clock,
 * with all its callbacks written into a log: "U n/a 1;" upsert, "D n/a;" deletion without and "Do
 * n/a;" with object, "S;" synced, "R;" relisted, "F;" refreshed. Owner: the test's thread. */
#ifndef TEST_UNIT_COMMON_KUBE_REFLECTOR_FIXTURE_H
#define TEST_UNIT_COMMON_KUBE_REFLECTOR_FIXTURE_H

#include "base/clock.h"
#include "base/strbuf.h"
#include "kube/reflector/reflector.h"
#include "lib/net/fake_transport.h"

/* Texts as the server sends them, and request lines as the reflector sends them. */
#define OBJ(name, rv)                                                                              \
	"{\"metadata\":{\"namespace\":\"n\",\"name\":\"" name "\",\"resourceVersion\":\"" rv "\"}" \
	"}"
#define PAGE(rv, next, items)                                                                      \
	"{\"metadata\":{\"resourceVersion\":\"" rv "\",\"continue\":\"" next                       \
	"\"},\"items\":[" items "]}"
#define FRAME(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"
#define BOOKMARK(rv) FRAME("BOOKMARK", "{\"metadata\":{\"resourceVersion\":\"" rv "\"}}")
#define ERROR(code) FRAME("ERROR", "{\"kind\":\"Status\",\"code\":" code "}")
#define LIST "GET /api/v1/pods?limit=500"
#define WATCH(rv)                                                                                  \
	"GET /api/v1/pods?watch=1&allowWatchBookmarks=true&resourceVersion=" rv                    \
	"&timeoutSeconds=100"

struct reflector_fixture {
	struct clock_fake clock;
	struct fake_transport *transport;
	struct reflector *reflector;
	struct strbuf log; /* "U n/a 1;D n/a;S;R;" */
};

/* Creates and starts; path, transport, clock, callback and watch timeout are filled in. */
void reflector_fixture_begin_with(struct reflector_fixture *f, struct reflector_options opt);
void reflector_fixture_begin(struct reflector_fixture *f);
/* Lists a (version 1) at version 10 and returns the open stream. */
uint64_t reflector_fixture_begin_watch(struct reflector_fixture *f);
void reflector_fixture_end(struct reflector_fixture *f);
/* The log must read like this; it is emptied. */
void reflector_fixture_expect_log(struct reflector_fixture *f, const char *text);
/* The next request must be this one; returns its id. */
uint64_t reflector_fixture_expect(struct reflector_fixture *f, const char *line);
void reflector_fixture_answer(struct reflector_fixture *f, const char *line, int status,
			      const char *body);
/* No request for min; one request by max. */
void reflector_fixture_expect_wait(struct reflector_fixture *f, int64_t min, int64_t max);
struct reflector_stats reflector_fixture_stats(struct reflector_fixture *f);
/* Writes into the fixture that ctx is. */
void reflector_fixture_on_event(void *ctx, const struct reflector_event *e);

#endif
