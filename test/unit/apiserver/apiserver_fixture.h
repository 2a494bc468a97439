/* test/unit/apiserver/apiserver_fixture.h: an embedded API server in a test, one request after the
 * other. Owner: the test's thread. */
#ifndef TEST_UNIT_APISERVER_APISERVER_FIXTURE_H
#define TEST_UNIT_APISERVER_APISERVER_FIXTURE_H

#include "apiserver/apiserver.h"

#define APISERVER_FIXTURE_NOW INT64_C(1767225600000000000) /* 2026-01-01T00:00:00Z */
#define APISERVER_FIXTURE_JSON "application/json"
#define APISERVER_FIXTURE_YAML "application/yaml"
#define APISERVER_FIXTURE_MERGE "application/merge-patch+json"
#define APISERVER_FIXTURE_STRATEGIC "application/strategic-merge-patch+json"
#define APISERVER_FIXTURE_APPLY "application/apply-patch+yaml"

struct jdoc;

struct apiserver_fixture {
	struct apiserver *server;
	struct apiserver_response resp;
	struct jdoc *doc; /* the latest answer, NULL when it was no JSON */
	int64_t now;
};

/* review may be NULL. */
void apiserver_fixture_start(struct apiserver_fixture *f, apiserver_review_fn review, void *ctx);
void apiserver_fixture_stop(struct apiserver_fixture *f); /* closes an open watch, too */
/* The status of the answer. type and body may be NULL. */
int apiserver_fixture_do(struct apiserver_fixture *f, enum http_method method, const char *url,
			 const char *type, const char *body);
/* Text at a dotted path of the latest answer, "" when absent. */
const char *apiserver_fixture_text(const struct apiserver_fixture *f, const char *path);
/* Loads a manifest file; aborts the test program when it is refused. */
void apiserver_fixture_load(struct apiserver_fixture *f, const char *path);

#endif
