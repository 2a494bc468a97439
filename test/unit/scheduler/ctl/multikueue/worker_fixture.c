#include "unit/scheduler/ctl/multikueue/worker_fixture.h"

#include "lib/unit.h"

#include <string.h>

#include "apiserver/apiserver.h"
#include "apiserver/manifests.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "enc/base64.h"
#include "enc/json/jdoc.h"
#include "scheduler/ctl/multikueue/worker_account.h"

#define REVIEWS "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
#define SECRETS "/api/v1/namespaces/headgate-system/secrets/"

static int64_t now(void)
{
	return clock_wall(clock_real());
}

static bool is_missing(const struct worker_fixture *f, const struct jdoc *attributes)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	const struct worker_role_right right = {
		.group = jdoc_str_or(jdoc_get(attributes, "group"), ""),
		.resource = jdoc_str_or(jdoc_get(attributes, "resource"), ""),
		.sub = jdoc_str(jdoc_get(attributes, "subresource")),
		.verb = jdoc_str_or(jdoc_get(attributes, "verb"), ""),
	};

	worker_role_describe(&right, &text);
	for (size_t i = 0; f->how.missing != NULL && f->how.missing[i] != NULL; i++) {
		if (str_streq(f->how.missing[i], text.p)) {
			return true;
		}
	}
	return false;
}

static void review(const struct worker_fixture *f, const struct http_request *req,
		   struct arena *arena, struct http_response *ret)
{
	CLEANUP(jdoc_destroyp) struct jdoc *doc = NULL;
	bool allowed = jdoc_parse(req->body, &doc, NULL) == 0 &&
		       !is_missing(f, jdoc_path(doc, "spec.resourceAttributes"));

	ret->status = 201;
	ret->body = str_of(
		arena_printf(arena, "{\"status\":{\"allowed\":%s}}", allowed ? "true" : "false"));
}

/* As the token controller: some time after the Secret was created it has a token. */
static void make_token(struct worker_fixture *f)
{
	CLEANUP(strbuf_finish) struct strbuf yaml = STRBUF_INIT;
	struct str text =
		apiserver_peek(f->core, "", "secrets", "headgate-system", WORKER_ACCOUNT_NAME);

	if (text.p == NULL || f->how.no_tokens) {
		return;
	}
	strbuf_add_c(&yaml,
		     "{apiVersion: v1, kind: Secret, type: "
		     "kubernetes.io/service-account-token, metadata: {name: " WORKER_ACCOUNT_NAME
		     ", namespace: headgate-system}, data: {token: ");
	base64_encode(STR_LIT(WORKER_FIXTURE_TOKEN), &yaml);
	strbuf_add_c(&yaml, ", ca.crt: ");
	base64_encode(strbuf_str(&f->https.ca.cert), &yaml);
	strbuf_add_c(&yaml, "}}");
	(void)apiserver_load(f->core, strbuf_str(&yaml), now(), NULL);
}

static void serve(struct worker_fixture *f, const struct http_request *req, struct arena *arena,
		  struct http_response *ret)
{
	struct apiserver_response resp = APISERVER_RESPONSE_INIT;

	apiserver_handle(f->core, req, now(), &resp);
	if (req->method == HTTP_GET && str_has_prefix(req->path, SECRETS)) {
		make_token(f);
	}
	ret->status = resp.status;
	ret->content_type = resp.content_type;
	ret->body = arena_str(arena, strbuf_str(&resp.body));
	apiserver_response_finish(&resp);
}

static void answer(struct worker_fixture *f, const struct http_request *req, struct arena *arena,
		   struct http_response *ret)
{
	if (f->how.silent) {
		ret->wait_for = 1; /* which is never woken */
	} else if (f->how.token != NULL && !(str_has_prefix(req->authorization, "Bearer ") &&
					     str_has_suffix(req->authorization, f->how.token))) {
		ret->status = 401;
	} else if (str_eq_c(req->path, REVIEWS)) {
		review(f, req, arena, ret);
	} else {
		serve(f, req, arena, ret);
	}
}

static void on_request(void *ctx, const struct http_request *req, struct arena *arena,
		       struct http_response *ret)
{
	struct worker_fixture *f = ctx;

	pthread_mutex_lock(&f->lock);
	answer(f, req, arena, ret);
	pthread_mutex_unlock(&f->lock);
}

void worker_fixture_start(struct worker_fixture *f, bool kueue)
{
	struct apiserver_options opt = { .seed = 1, .now = now() };
	struct err err = ERR_INIT;

	*f = (struct worker_fixture){ .lock = PTHREAD_MUTEX_INITIALIZER };
	f->core = apiserver_create(&opt);
	if (kueue &&
	    manifests_load_dir(f->core, "charts/headgate/files/crds/quota", now(), &err) < 0) {
		fail_msg("%s", err.text);
	}
	https_fixture_start(&f->https,
			    (struct http_server_options){ .handler = on_request, .ctx = f }, false);
}

void worker_fixture_stop(struct worker_fixture *f)
{
	https_fixture_stop(&f->https);
	apiserver_destroy(f->core);
	pthread_mutex_destroy(&f->lock);
}

void worker_fixture_load(struct worker_fixture *f, const char *yaml)
{
	struct err err = ERR_INIT;
	int r;

	pthread_mutex_lock(&f->lock);
	r = apiserver_load(f->core, str_of(yaml), now(), &err);
	pthread_mutex_unlock(&f->lock);
	if (r < 0) {
		fail_msg("%s", err.text);
	}
}

void worker_fixture_behave(struct worker_fixture *f, struct worker_behaviour how)
{
	pthread_mutex_lock(&f->lock);
	f->how = how;
	pthread_mutex_unlock(&f->lock);
}

void worker_fixture_set_faults(struct worker_fixture *f, const char *yaml)
{
	struct err err = ERR_INIT;
	int r;

	pthread_mutex_lock(&f->lock);
	r = apiserver_set_faults(f->core, str_of(yaml), &err);
	pthread_mutex_unlock(&f->lock);
	if (r < 0) {
		fail_msg("%s", err.text);
	}
}

void worker_fixture_kubeconfig(const struct worker_fixture *f, const char *token,
			       struct strbuf *out)
{
	strbuf_printf(out,
		      "clusters: [{name: c, cluster: {server: '%s', "
		      "certificate-authority-data: ",
		      f->https.base);
	base64_encode(strbuf_str(&f->https.ca.cert), out);
	strbuf_printf(out,
		      "}}]\nusers: [{name: u, user: {token: '%s'}}]\ncontexts: [{name: x, "
		      "context: {cluster: c, user: u}}]\ncurrent-context: x\n",
		      token == NULL ? "" : token);
}

void worker_fixture_manifests(const struct worker_fixture *f, const char *name, struct strbuf *out)
{
	CLEANUP(strbuf_finish) struct strbuf config = STRBUF_INIT;

	worker_fixture_kubeconfig(f, "t", &config);
	strbuf_printf(out,
		      "{apiVersion: v1, kind: Secret, metadata: {name: %s-kubeconfig, namespace: "
		      "kueue-system}, data: {kubeconfig: ",
		      name);
	base64_encode(strbuf_str(&config), out);
	strbuf_printf(out,
		      "}}\n---\n{apiVersion: kueue.x-k8s.io/v1beta2, kind: MultiKueueCluster, "
		      "metadata: {name: %s}, spec: {clusterSource: {kubeConfig: {location: "
		      "%s-kubeconfig, locationType: Secret}}}}\n",
		      name, name);
}

bool worker_fixture_has(struct worker_fixture *f, const char *group, const char *plural,
			const char *ns, const char *name, const char *text)
{
	struct str object;
	bool has;

	pthread_mutex_lock(&f->lock);
	object = apiserver_peek(f->core, group, plural, ns, name);
	has = object.p != NULL && memmem(object.p, object.len, text, strlen(text)) != NULL;
	pthread_mutex_unlock(&f->lock);
	return has;
}

void worker_fixture_uid(struct worker_fixture *f, const char *ns, const char *name,
			struct strbuf *out)
{
	CLEANUP(jdoc_destroyp) struct jdoc *doc = NULL;

	pthread_mutex_lock(&f->lock);
	assert_int_equal(
		jdoc_parse(apiserver_peek(f->core, "kueue.x-k8s.io", "workloads", ns, name), &doc,
			   NULL),
		0);
	pthread_mutex_unlock(&f->lock);
	strbuf_add_c(out, jdoc_path_str(doc, "metadata.uid"));
}
