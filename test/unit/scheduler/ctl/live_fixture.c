#include "unit/scheduler/ctl/live_fixture.h"

#include "lib/unit.h"

#include "apiserver/front.h"
#include "apiserver/manifests.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "unit/scheduler/ctl/capture.h"

static const char *const crds[] = { "charts/headgate/files/crds",
				    "charts/headgate/files/crds/quota" };

void live_fixture_start(struct live_fixture *f)
{
	struct front_options opt = { .core = { .seed = 1 } };
	CLEANUP(xmalloc_freep) char *kubeconfig = NULL;
	struct err err = ERR_INIT;
	int64_t now;

	*f = (struct live_fixture){ .out = STRBUF_INIT };
	folder_make(&f->folder);
	if (front_start(&opt, &f->front, &err) < 0) {
		fail_msg("%s", err.text);
	}
	for (size_t i = 0; i < ARRAY_LEN(crds); i++) {
		struct apiserver *s = front_lock(f->front, &now);
		int r = manifests_load_dir(s, crds[i], now, &err);

		front_unlock(f->front);
		if (r < 0) {
			fail_msg("%s", err.text);
		}
	}
	kubeconfig = xmalloc_printf(
		"clusters: [{name: c, cluster: {server: '%s'}}]\n"
		"contexts: [{name: x, context: {cluster: c}}, {name: in-ns, context: "
		"{cluster: c, namespace: ns}}]\n"
		"current-context: x\n",
		front_url(f->front));
	folder_write(&f->folder, "kubeconfig", kubeconfig);
	live_fixture_load(f, "{apiVersion: v1, kind: Namespace, metadata: {name: ns}}");
}

void live_fixture_stop(struct live_fixture *f)
{
	front_destroy(f->front, 1000);
	folder_remove(&f->folder);
	strbuf_finish(&f->out);
}

void live_fixture_load(struct live_fixture *f, const char *yaml)
{
	struct err err = ERR_INIT;
	int64_t now;
	struct apiserver *s = front_lock(f->front, &now);
	int r = apiserver_load(s, str_of(yaml), now, &err);

	front_unlock(f->front);
	if (r < 0) {
		fail_msg("%s", err.text);
	}
}

void live_fixture_delete(struct live_fixture *f, const char *path)
{
	const struct http_request req = { .method = HTTP_DELETE, .path = str_of(path) };
	struct apiserver_response resp = APISERVER_RESPONSE_INIT;
	int64_t now;
	struct apiserver *s = front_lock(f->front, &now);
	int status;

	apiserver_handle(s, &req, now, &resp);
	status = resp.status;
	apiserver_response_finish(&resp);
	front_unlock(f->front);
	assert_int_equal(status, 200);
}

void live_fixture_fault(struct live_fixture *f, const char *script)
{
	struct err err = ERR_INIT;
	int64_t now;
	struct apiserver *s = front_lock(f->front, &now);
	int r = apiserver_set_faults(s, str_of(script), &err);

	front_unlock(f->front);
	if (r < 0) {
		fail_msg("%s", err.text);
	}
}

uint64_t live_fixture_struck(struct live_fixture *f)
{
	int64_t now;
	uint64_t n = apiserver_fault_count(front_lock(f->front, &now), "status");

	front_unlock(f->front);
	return n;
}

int live_fixture_run(struct live_fixture *f, const char *line)
{
	CLEANUP(strbuf_finish) struct strbuf words = STRBUF_INIT;

	for (const char *p = line; *p != '\0'; p++) {
		if (*p == '@') {
			strbuf_printf(&words, "%s/", f->folder.path);
		} else {
			strbuf_add_ch(&words, *p);
		}
	}
	strbuf_printf(&words, " --kubeconfig=%s/kubeconfig", f->folder.path);
	return capture_ctl(words.p, &f->out);
}

struct jdoc *live_fixture_get(struct live_fixture *f, const char *group, const char *plural,
			      const char *ns, const char *name)
{
	struct jdoc *d = NULL;
	int64_t now;
	struct apiserver *s = front_lock(f->front, &now);
	struct str text = apiserver_peek(s, group, plural, ns, name);
	int r = text.p == NULL ? 0 : jdoc_parse(text, &d, NULL);

	front_unlock(f->front);
	assert_int_equal(r, 0);
	return d;
}
