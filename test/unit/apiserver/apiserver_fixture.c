#include "unit/apiserver/apiserver_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apiserver/manifests.h"
#include "base/err.h"
#include "enc/json/jdoc.h"

void apiserver_fixture_start(struct apiserver_fixture *f, apiserver_review_fn review, void *ctx)
{
	const struct apiserver_options opt = {
		.seed = 1, .now = APISERVER_FIXTURE_NOW, .review = review, .review_ctx = ctx
	};

	*f = (struct apiserver_fixture){ .resp = APISERVER_RESPONSE_INIT };
	f->now = APISERVER_FIXTURE_NOW;
	f->server = apiserver_create(&opt);
}

void apiserver_fixture_stop(struct apiserver_fixture *f)
{
	apiserver_watch_close(f->resp.watch);
	apiserver_response_finish(&f->resp);
	jdoc_destroy(f->doc);
	apiserver_destroy(f->server);
}

int apiserver_fixture_do(struct apiserver_fixture *f, enum http_method method, const char *url,
			 const char *type, const char *body)
{
	const char *query = strchr(url, '?');
	const struct http_request req = {
		.method = method,
		.path = { url, query == NULL ? strlen(url) : (size_t)(query - url) },
		.query = str_of(query == NULL ? NULL : query + 1),
		.content_type = str_of(type),
		.body = str_of(body),
		.accept = STR_LIT("application/json"),
		.user_agent = STR_LIT("test/1"),
	};

	apiserver_handle(f->server, &req, f->now, &f->resp);
	jdoc_destroy(f->doc);
	f->doc = NULL;
	(void)jdoc_parse(strbuf_str(&f->resp.body), &f->doc, NULL);
	return f->resp.status;
}

const char *apiserver_fixture_text(const struct apiserver_fixture *f, const char *path)
{
	return jdoc_str_or(jdoc_path(f->doc, path), "");
}

void apiserver_fixture_load(struct apiserver_fixture *f, const char *path)
{
	struct err err = ERR_INIT;

	if (manifests_load_file(f->server, path, f->now, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
}
