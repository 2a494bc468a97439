/* headgatectl drain:
 * 1. The registrations are deleted, so that no pod gets a gate after the pods were listed.
 * 2. The pods are listed, and our gate is removed from those that have it. The patch carries the
 *    UID, so that a pod of the same name that was created since is not touched.
 * 3. A failure is reported, and all else is done first: each gate that is left is a pod that
 *    never starts once Headgate is gone. The exit code says that something was left; running it
 *    again does the rest. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/core/pod.h"
#include "api/volcano/gate.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/vec.h"
#include "enc/decode.h"
#include "kube/rest.h"
#include "kube/transport.h"
#include "scheduler/base/sched_kinds.h"
#include "scheduler/ctl/cli/cluster_args.h"
#include "scheduler/ctl/ctl.h"
#include "scheduler/pods/writes/gate_removal.h"

#define CALL_NS (30 * CLOCK_NS_PER_S)
#define OURS "?labelSelector=app.kubernetes.io%2Fpart-of%3Dheadgate"
#define OF_INSTANCE "%2Capp.kubernetes.io%2Finstance%3D"

static const char *const registrations[] = {
	"/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
	"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
};

struct found {
	char *path, *shown;
	char *uid; /* NULL: not known */
};
struct drain {
	struct transport *transport;
	bool yes;
	const char *instance; /* NULL: of any release */
	struct VEC(struct found) webhooks, pods;
	struct err first; /* of all that failed */
	size_t kept_webhooks, kept_pods;
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

/* Reports a failure and goes on: everything else is done first. */
static void note_failure(struct drain *d, const struct err *why)
{
	fprintf(stderr, "headgatectl: %s\n", why->text);
	if (d->first.text[0] == '\0') {
		d->first = *why;
	}
}

struct listing {
	struct drain *drain;
	const char *path;
};

static void on_registration(void *ctx, struct str object UNUSED, const struct cut_meta *meta)
{
	struct listing *l = ctx;
	struct found f = { .path = xmalloc_printf("%s/" STR_FMT, l->path, STR_ARG(meta->name)),
			   .shown = xmalloc_dup_n(meta->name.p, meta->name.len) };

	vec_push(&l->drain->webhooks, f);
}

static bool has_our_gate(const struct api_pod *pod)
{
	for (size_t i = 0; i < pod->spec.gates.n; i++) {
		const char *name = pod->spec.gates.v[i].name;

		if (name != NULL && gate_by_name(name) != NULL) {
			return true;
		}
	}
	return false;
}

/* For a pod that does not decode: removing a gate that it does not have changes nothing. */
static bool may_have_our_gate(struct str object)
{
	for (size_t i = 0; gate_at(i) != NULL; i++) {
		const char *gate = gate_at(i)->gate;

		if (memmem(object.p, object.len, gate, strlen(gate)) != NULL) {
			return true;
		}
	}
	return false;
}

static void on_pod(void *ctx, struct str object, const struct cut_meta *meta)
{
	struct listing *l = ctx;
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct err why = ERR_INIT;
	struct api_pod pod;
	bool whole = decode_partial(&pod_admission_fields, object, &pod, arena, &why) == 0;
	const char *uid = pod.meta.uid;
	struct strbuf path = STRBUF_INIT;
	struct found f;

	if (!has_our_gate(&pod) && (whole || !may_have_our_gate(object))) {
		return;
	}
	if (!whole) {
		fprintf(stderr,
			"headgatectl: pod " STR_FMT "/" STR_FMT " cannot be decoded; removing its "
			"gate nevertheless: %s\n",
			STR_ARG(meta->namespace_), STR_ARG(meta->name), why.text);
	}
	f = (struct found){
		.shown = xmalloc_printf(STR_FMT "/" STR_FMT, STR_ARG(meta->namespace_),
					STR_ARG(meta->name)),
		.uid = uid == NULL ? NULL : xmalloc_dup(uid),
	};
	sched_kinds_key_path(SCHED_PODS, str_of(f.shown), NULL, &path);
	f.path = strbuf_steal(&path, NULL);
	vec_push(&l->drain->pods, f);
}

static void list(struct drain *d, const char *path, const char *query, list_page_fn each)
{
	CLEANUP(xmalloc_freep) char *url = xmalloc_printf("%s%s", path, query);
	struct listing l = { d, path };
	struct err why = ERR_INIT;

	if (rest_list_cut(d->transport, url, CALL_NS, each, &l, &why) < 0) {
		note_failure(d, &why);
	}
}

/* One that is gone already is no failure: drain may be repeated. */
static void remove_registrations(struct drain *d)
{
	CLEANUP(xmalloc_freep)
	char *ours = d->instance == NULL ? xmalloc_dup(OURS)
					 : xmalloc_printf("%s%s%s", OURS, OF_INSTANCE, d->instance);

	for (size_t i = 0; i < ARRAY_LEN(registrations); i++) {
		list(d, registrations[i], ours, on_registration);
	}
	for (size_t i = 0; i < d->webhooks.n; i++) {
		struct err why = ERR_INIT;
		int r = 0;

		printf("%s webhook registration %s\n", d->yes ? "deleting" : "would delete",
		       d->webhooks.v[i].shown);
		if (d->yes) {
			r = rest_call(d->transport, HTTP_DELETE, d->webhooks.v[i].path, NULL,
				      (struct str){ NULL, 0 }, CALL_NS, NULL, &why);
		}
		if (r < 0 && r != -ERR_NOT_FOUND) {
			(void)err_wrap(&why, "webhook registration %s", d->webhooks.v[i].shown);
			note_failure(d, &why);
			d->kept_webhooks++;
		}
	}
}

static int remove_gate(struct drain *d, const struct found *pod, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	int r;

	/* Without the UID of a pod that could not be read, the patch may meet a later pod of
	 * that name: then it removes the gate of that one, which is wanted, too. */
	gate_removal_body(pod->uid, NULL, &body);
	r = rest_call(d->transport, HTTP_PATCH, pod->path, "application/strategic-merge-patch+json",
		      strbuf_str(&body), CALL_NS, NULL, err);
	/* Deleted, or replaced by another pod: it has no gate of ours. */
	return r == -ERR_NOT_FOUND || rest_is_other_uid(r, err) ? 0 : r;
}

/* All pods of the cluster: no selector finds a gate. */
static void drain_pods(struct drain *d)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

	sched_kinds_path(SCHED_PODS, NULL, NULL, NULL, &path);
	list(d, path.p, "", on_pod);
	for (size_t i = 0; i < d->pods.n && d->yes; i++) {
		struct err why = ERR_INIT;

		if (remove_gate(d, &d->pods.v[i], &why) < 0) {
			(void)err_wrap(&why, "pod %s still has its gate", d->pods.v[i].shown);
			note_failure(d, &why);
			d->kept_pods++;
		}
	}
	printf("%s the gate from %zu pods\n", d->yes ? "removed" : "would remove",
	       d->pods.n - d->kept_pods);
}

static int result(const struct drain *d, struct err *err)
{
	if (d->first.text[0] == '\0') {
		return 0;
	}
	return err_set(err, d->first.code,
		       "not everything was drained (registrations left: %zu, pods still with a "
		       "gate: %zu); first failure: %s",
		       d->kept_webhooks, d->kept_pods, d->first.text);
}

static int drain(const struct cluster_args *f, struct err *err)
{
	CLEANUP(drain_finish)
	struct drain d = {
		.transport = NULL, .yes = f->yes, .instance = f->instance, .first = ERR_INIT
	};
	int r = cluster_args_connect(f, &d.transport, err);

	if (r < 0) {
		return r;
	}
	remove_registrations(&d);
	drain_pods(&d);
	if (!f->yes) {
		printf("nothing was changed; run it with --yes to make the changes\n");
	}
	return result(&d, err);
}

static int run_verb(int argc, char **argv)
{
	struct cluster_args f;
	struct err err = ERR_INIT;
	int code;

	if (!cluster_args_parse(&ctl_drain_verb, argc, argv, &f, &code)) {
		return code;
	}
	return drain(&f, &err) < 0 ? verb_fail(&err) : VERB_OK;
}

static const struct flags_row *const tables[] = {
	cluster_args_reach, cluster_args_instance, cluster_args_yes, flags_help, NULL,
};

const struct verb ctl_drain_verb = {
	VERB("drain"),
	.help = "remove Headgate's gates from all pods, before uninstalling",
	.flags.doc =
		"Remove Headgate's scheduling gates from all pods, before uninstalling: first the "
		"webhook registrations are deleted, then the gates are removed.",
	.flags.tables = tables,
	.run = run_verb,
};
