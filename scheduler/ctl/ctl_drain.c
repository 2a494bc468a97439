#include <stdio.h>
#include <stdlib.h>

#include "api/gate.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "base/xmalloc.h"
#include "ctl/cluster_args.h"
#include "enc/jdoc.h"
#include "exec/gate_removal.h"
#include "kube/rest.h"
#include "kube/transport.h"

#define CALL_NS (30 * CLOCK_NS_PER_S)
#define OURS "?labelSelector=app.kubernetes.io%2Fpart-of%3Dheadgate"

static const char *const registrations[] = {
	"/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
	"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
};

struct found {
	char *path, *uid, *shown;
};
struct drain {
	struct transport *transport;
	struct VEC(struct found) webhooks, pods;
};

static void found_free(struct found *f)
{
	free(f->path);
	free(f->uid);
	free(f->shown);
}

static void drain_finish(struct drain *d)
{
	for (size_t i = 0; i < d->webhooks.n; i++) {
		found_free(&d->webhooks.v[i]);
	}
	for (size_t i = 0; i < d->pods.n; i++) {
		found_free(&d->pods.v[i]);
	}
	vec_finish(&d->webhooks);
	vec_finish(&d->pods);
	transport_destroy(d->transport);
}

struct listing {
	struct drain *drain;
	const char *path;
};

static void on_registration(void *ctx, const struct jdoc *item)
{
	struct listing *l = ctx;
	const char *name = jdoc_path_str(item, "metadata.name");
	struct found f;

	if (name != NULL) {
		f = (struct found){ xmalloc_printf("%s/%s", l->path, name), NULL,
				    xmalloc_dup(name) };
		vec_push(&l->drain->webhooks, f);
	}
}

static bool has_our_gate(const struct jdoc *pod)
{
	for (const struct jdoc *g = jdoc_first(jdoc_path(pod, "spec.schedulingGates")); g != NULL;
	     g = jdoc_next(g)) {
		const char *name = jdoc_str(jdoc_get(g, "name"));

		if (name != NULL && gate_is_ours(name) != NULL) {
			return true;
		}
	}
	return false;
}

static void on_pod(void *ctx, const struct jdoc *item)
{
	struct listing *l = ctx;
	const char *space = jdoc_path_str(item, "metadata.namespace"),
		   *name = jdoc_path_str(item, "metadata.name");
	struct found f;

	if (space != NULL && name != NULL && has_our_gate(item)) {
		f = (struct found){ xmalloc_printf("/api/v1/namespaces/%s/pods/%s", space, name),
				    xmalloc_dup(jdoc_str_or(jdoc_path(item, "metadata.uid"), "")),
				    xmalloc_printf("%s/%s", space, name) };
		vec_push(&l->drain->pods, f);
	}
}

/* Registrations first, so that no pod gets a gate after the pods were listed. */
static int remove_registrations(struct drain *d, bool yes, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < ARRAY_LEN(registrations) && r == 0; i++) {
		struct listing l = { d, registrations[i] };
		CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

		strbuf_printf(&path, "%s%s", registrations[i], OURS);
		r = rest_list(d->transport, path.p, CALL_NS, on_registration, &l, err);
	}
	for (size_t i = 0; i < d->webhooks.n && r == 0; i++) {
		printf("%s webhook registration %s\n", yes ? "deleting" : "would delete",
		       d->webhooks.v[i].shown);
		if (yes) {
			r = rest_call(d->transport, HTTP_DELETE, d->webhooks.v[i].path, NULL,
				      (struct str){ NULL, 0 }, CALL_NS, NULL, err);
			r = r == -ERR_NOT_FOUND ? 0 : r;
		}
	}
	return r;
}

static int remove_gate(struct drain *d, const struct found *pod, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	int r;

	gate_removal_body(pod->uid, NULL, &body);
	r = rest_call(d->transport, HTTP_PATCH, pod->path, "application/strategic-merge-patch+json",
		      strbuf_str(&body), CALL_NS, NULL, err);
	/* Gone, or another pod by now: nothing of ours is left on it. */
	return r == -ERR_NOT_FOUND || r == -ERR_CONFLICT ? 0
	       : r < 0                                   ? err_wrap(err, "pod %s", pod->shown)
							 : 0;
}

static int drain_pods(struct drain *d, bool yes, struct err *err)
{
	struct listing l = { d, NULL };
	size_t failed = 0;
	struct err first = ERR_INIT;
	int r = rest_list(d->transport, "/api/v1/pods", CALL_NS, on_pod, &l, err);

	for (size_t i = 0; i < d->pods.n && r == 0 && yes; i++) {
		struct err one = ERR_INIT;

		if (remove_gate(d, &d->pods.v[i], &one) < 0) {
			fprintf(stderr, "%s\n", one.text);
			first = failed++ == 0 ? one : first;
		}
	}
	if (r < 0) {
		return r;
	}
	printf("%s the gate off %zu pods\n", yes ? "took" : "would take", d->pods.n - failed);
	if (failed > 0) {
		return err_set(err, first.code, "%zu pods kept their gate, the first: %s", failed,
			       first.text);
	}
	return 0;
}

static int drain(const struct cluster_args *f, struct err *err)
{
	CLEANUP(drain_finish) struct drain d = { .transport = NULL };
	int r = cluster_args_connect(f, &d.transport, err);

	if (r == 0) {
		r = remove_registrations(&d, f->yes, err);
	}
	if (r == 0) {
		r = drain_pods(&d, f->yes, err);
	}
	if (r == 0 && !f->yes) {
		printf("nothing was changed; --yes does it\n");
	}
	return r;
}

int ctl_drain_run(int argc, char **argv)
{
	static const struct cluster_args_usage usage = {
		NULL,
		"Take our scheduling gates off all pods, before uninstalling: "
		"first the webhook registrations "
		"are deleted, then every gate is removed.",
		"y"
	};
	struct cluster_args f;
	struct err err = ERR_INIT;
	int code;

	if (!cluster_args_parse(&usage, argc, argv, &f, &code)) {
		return code;
	}
	return drain(&f, &err) < 0 ? ctl_fail(&err) : CTL_OK;
}
