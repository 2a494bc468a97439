#include "apiserver/apiserver.h"

#include <inttypes.h>
#include <stdlib.h>

#include "apiserver/faults.h"
#include "apiserver/kstatus.h"
#include "apiserver/kubectl/discovery.h"
#include "apiserver/options.h"
#include "apiserver/rules/admission_match.h"
#include "apiserver/server.h"
#include "apiserver/store/commit.h"
#include "apiserver/store/object.h"
#include "apiserver/verbs/apiserver_watch.h"
#include "apiserver/verbs/body.h"
#include "apiserver/verbs/create.h"
#include "apiserver/verbs/list.h"
#include "apiserver/verbs/pod_subs.h"
#include "apiserver/verbs/remove.h"
#include "apiserver/verbs/update.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"

static const char built_in_objects[] =
	"{apiVersion: v1, kind: Namespace, metadata: {name: default}}\n---\n"
	"{apiVersion: v1, kind: Namespace, metadata: {name: kube-system}}\n---\n"
	"{apiVersion: v1, kind: Namespace, metadata: {name: kube-public}}\n---\n"
	"{apiVersion: v1, kind: Namespace, metadata: {name: kube-node-lease}}\n---\n"
	"{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, value: 2000000000,\n"
	" metadata: {name: system-cluster-critical}}\n---\n"
	"{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, value: 2000001000,\n"
	" metadata: {name: system-node-critical}}\n";

struct apiserver *apiserver_create(const struct apiserver_options *opt)
{
	struct apiserver *s = xmalloc_zero(1, sizeof(*s));
	struct err err = ERR_INIT;

	s->opt = *opt;
	rng_init(&s->rng, opt->seed);
	s->expressions = admission_match_cache();
	resource_table_init(&s->resources,
			    opt->watch_ring > 0 ? opt->watch_ring : APISERVER_WATCH_RING);
	if (apiserver_load(s, STR_LIT(built_in_objects), opt->now, &err) < 0) {
		abort(); /* our own manifest */
	}
	return s;
}

void apiserver_destroy(struct apiserver *s)
{
	if (s == NULL) {
		return;
	}
	for (size_t i = 0; i < s->n_due; i++) {
		free(s->due[i].key);
		free(s->due[i].uid);
	}
	free(s->due);
	faults_destroy(s->faults);
	strmap_destroy(s->expressions);
	resource_table_finish(&s->resources);
	free(s);
}

void apiserver_response_reset(struct apiserver_response *resp)
{
	strbuf_reset(&resp->body);
	resp->status = 0;
	resp->content_type = NULL;
}

void apiserver_response_finish(struct apiserver_response *resp)
{
	strbuf_finish(&resp->body);
	strbuf_finish(&resp->warning);
}

static int handle_get(struct call *c, const struct watch_faults *wf)
{
	if ((c->res->flags & RESOURCE_VIRTUAL) != 0) {
		return kstatus_method(c->resp);
	}
	if (c->info.name.len > 0) {
		return list_get(c);
	}
	return c->info.watch ? apiserver_watch_open(c, wf) : list_collection(c);
}

/* Built-in resources have no route for it, custom ones say what they are. */
static int no_verb(struct call *c, const char *verb)
{
	return c->res->is_custom ? kstatus_no_verb(c->resp, c->res, verb) : kstatus_method(c->resp);
}

static int handle_post(struct call *c)
{
	if (call_is_sub(c, "binding")) {
		return pod_subs_bind(c);
	}
	if (call_is_sub(c, "eviction")) {
		return pod_subs_evict(c);
	}
	return c->info.name.len > 0 ? no_verb(c, "create") : create_post(c);
}

static bool is_write_only_sub(const struct call *c)
{
	return call_is_sub(c, "binding") || call_is_sub(c, "eviction");
}

static int handle_resource(struct call *c, const struct watch_faults *wf)
{
	bool named = c->info.name.len > 0;

	switch (c->req->method) {
	case HTTP_GET:
	case HTTP_HEAD:
		return handle_get(c, wf);
	case HTTP_POST:
		return handle_post(c);
	case HTTP_PUT:
		return !named || is_write_only_sub(c) ? kstatus_method(c->resp) : update_put(c);
	case HTTP_PATCH:
		return !named || is_write_only_sub(c) ? kstatus_method(c->resp) : update_patch(c);
	case HTTP_DELETE:
		if (c->info.sub.len > 0) {
			return no_verb(c, "delete");
		}
		return named ? remove_one(c) : remove_collection(c);
	case HTTP_OTHER:
	case HTTP_METHOD_COUNT_:
	default:
		return kstatus_method(c->resp);
	}
}

/* The path names a namespace exactly when the resource has them (lists may span all). */
static bool scope_fits(const struct call *c)
{
	bool has_ns = c->info.ns.p != NULL && c->info.ns.len > 0;

	if (!resource_is_namespaced(c->res)) {
		return !has_ns;
	}
	return has_ns || (c->info.name.len == 0 && c->req->method != HTTP_POST);
}

/* Custom resources know what sub-resources there may be. */
static int answer_no_sub(struct call *c)
{
	bool possible = call_is_sub(c, "status") || call_is_sub(c, "scale");

	if (c->res->is_custom && possible && scope_fits(c)) {
		return kstatus_not_found(c->resp, c->res, c->info.name);
	}
	return kstatus_no_path(c->resp);
}

static bool is_path_name(struct str name)
{
	return str_eq_c(name, ".") || str_eq_c(name, "..");
}

static void dispatch(struct call *c, const struct watch_faults *wf)
{
	if (!c->info.is_resource) {
		(void)discovery_handle(c);
		return;
	}
	c->res = resource_find(&c->s->resources, c->info.group, c->info.version, c->info.plural);
	if (c->res == NULL) {
		(void)(resource_has_version(&c->s->resources, c->info.group, c->info.version)
			       ? kstatus_no_path(c->resp)
			       : kstatus_no_route(c->resp));
	} else if (!resource_has_sub(c->res, c->info.sub) || !scope_fits(c)) {
		(void)answer_no_sub(c);
	} else if (is_path_name(c->info.name)) {
		(void)kstatus_bad_request(c->resp,
					  "Name parameter invalid: \"" STR_FMT
					  "\": may not be '" STR_FMT "'",
					  STR_ARG(c->info.name), STR_ARG(c->info.name));
	} else if (options_check(c) == 0) {
		(void)handle_resource(c, wf);
	}
}

static struct watch_faults watch_faults_of(const struct fault *f)
{
	struct watch_faults w = { 0, -1, -1, -1, -1 };

	w.late_ns = f->kind == FAULT_WATCH_LATE ? f->delay_ns : 0;
	w.dup_at = f->kind == FAULT_WATCH_DUPLICATE ? f->frame : -1;
	w.cut_at = f->kind == FAULT_WATCH_TRUNCATE ? f->frame : -1;
	w.close_at = f->kind == FAULT_WATCH_CLOSE ? f->frame : -1;
	w.gone_at = f->kind == FAULT_WATCH_GONE ? f->frame : -1;
	return w;
}

static void answer_fault(struct call *c, const struct fault *f)
{
	apiserver_watch_close(take_ptr(&c->resp->watch));
	if (f->kind == FAULT_DROP_BEFORE || f->kind == FAULT_DROP_AFTER) {
		apiserver_response_reset(c->resp);
		return;
	}
	(void)kstatus_fail(c->resp, f->code,
			   f->code == 429   ? "TooManyRequests"
			   : f->code == 503 ? "ServiceUnavailable"
			   : f->code == 410 ? "Expired"
					    : "InternalError",
			   "scripted fault");
	c->resp->retry_after_s = f->retry_after_s;
}

static void run(struct call *c, const struct fault *f)
{
	struct watch_faults wf = f != NULL ? watch_faults_of(f) : (struct watch_faults){ 0 };

	if (f == NULL) {
		dispatch(c, NULL);
		return;
	}
	if (f->kind == FAULT_STATUS || f->kind == FAULT_DROP_BEFORE) {
		answer_fault(c, f);
		return;
	}
	if (f->kind == FAULT_STALE) {
		c->stale_rv = c->s->rv > f->versions ? c->s->rv - f->versions : 0;
	} else if (f->kind == FAULT_COMPACT) {
		apiserver_compact(c->s);
	}
	dispatch(c, &wf);
	if (f->kind == FAULT_DROP_AFTER || f->kind == FAULT_STATUS_AFTER) {
		answer_fault(c, f);
	} else if (f->kind == FAULT_DELAY) {
		c->resp->delay_ns = f->delay_ns;
	}
}

void apiserver_handle(struct apiserver *s, const struct http_request *req, int64_t now,
		      struct apiserver_response *ret)
{
	struct http_request copy = *req;
	struct call c = { .s = s, .req = &copy, .now = now, .resp = ret, .stale_rv = -1 };
	const struct fault *fault;

	if (copy.body.p == NULL) {
		copy.body = STR_LIT("");
	}

	apiserver_response_reset(ret);
	strbuf_reset(&ret->warning);
	ret->retry_after_s = 0;
	ret->delay_ns = 0;
	ret->watch = NULL;
	apiserver_tick(s, now);
	reqinfo_init(&c.info);
	reqinfo_parse(&c.info, req);
	fault = faults_strike(s->faults, req->method, c.info.watch, strbuf_str(&c.info.path));
	run(&c, fault);
	reqinfo_finish(&c.info);
}

void apiserver_tick(struct apiserver *s, int64_t now)
{
	size_t n = 0;

	while (n < s->n_due && s->due[n].at <= now) {
		struct server_due *d = &s->due[n++];
		struct object *o = sorted_find(&d->res->bucket.objects, str_of(d->key));

		if (o != NULL && o->terminating && !o->has_finalizers && str_eq_c(o->uid, d->uid)) {
			commit_remove(s, d->res, o->key);
		}
		free(d->key);
		free(d->uid);
	}
	if (n > 0) {
		s->n_due -= n;
		memmove(s->due, s->due + n, s->n_due * sizeof(s->due[0]));
	}
}

static int load_one(struct apiserver *s, struct jdoc *doc_take, int64_t now, struct err *err)
{
	CLEANUP(jdoc_destroyp) struct jdoc *doc = doc_take;
	struct apiserver_response resp = APISERVER_RESPONSE_INIT;
	const struct http_request none = { .method = HTTP_POST };
	struct call c = {
		.s = s, .req = &none, .now = now, .resp = &resp, .trusted = true, .stale_rv = -1
	};
	const char *version = jdoc_str_or(jdoc_get(doc, "apiVersion"), "");
	const char *kind = jdoc_str_or(jdoc_get(doc, "kind"), "");
	const char *name = jdoc_str_or(jdoc_path(doc, "metadata.name"), "");
	const char *ns = jdoc_str_or(jdoc_path(doc, "metadata.namespace"), "default");
	CLEANUP(xmalloc_freep) char *what = xmalloc_printf("%s %s", kind, name);
	CLEANUP(xmalloc_freep) char *ns_copy = xmalloc_dup(ns);
	CLEANUP(xmalloc_freep) char *name_copy = xmalloc_dup(name);
	struct object *old;
	int r;

	c.res = resource_find_kind(&s->resources, version, kind);
	if (c.res == NULL) {
		return err_set(err, ERR_NOT_FOUND, "%s: no kind %s in version %s", what, kind,
			       version);
	}
	reqinfo_init(&c.info);
	c.info.ns = str_of(ns_copy);
	r = body_check_object(&c, doc);
	old = r < 0 ? NULL : commit_find(c.res, c.info.ns, str_of(name_copy));
	if (old != NULL) {
		commit_remove(s, c.res, old->key);
	}
	r = r < 0 ? r : create_object(&c, take_ptr(&doc));
	if (r < 0) {
		(void)err_set(err, (enum err_code) - r, "%s: %s", what, resp.body.p);
	}
	reqinfo_finish(&c.info);
	apiserver_response_finish(&resp);
	return r;
}

int apiserver_load(struct apiserver *s, struct str manifest, int64_t now, struct err *err)
{
	CLEANUP(jdoc_destroyp) struct jdoc *all = NULL;
	int r = yaml_parse_all(manifest, &all, err);

	for (const struct jdoc *d = jdoc_first(all); r == 0 && d != NULL; d = jdoc_next(d)) {
		const struct jdoc *items = jdoc_get(d, "items");

		if (jdoc_kind(d) == JDOC_NULL) {
			continue;
		}
		if (!jdoc_is_str(jdoc_get(d, "kind"), "List")) {
			r = load_one(s, jdoc_copy(d), now, err);
			continue;
		}
		for (const struct jdoc *i = jdoc_first(items); r == 0 && i != NULL;
		     i = jdoc_next(i)) {
			r = load_one(s, jdoc_copy(i), now, err);
		}
	}
	return r;
}

int apiserver_set_faults(struct apiserver *s, struct str script, struct err *err)
{
	struct faults *f = NULL;
	int r = faults_parse(script, &f, err);

	if (r < 0) {
		return r;
	}
	faults_destroy(s->faults);
	s->faults = f;
	return 0;
}

uint64_t apiserver_fault_count(const struct apiserver *s, const char *kind)
{
	return faults_struck(s->faults, kind);
}

int64_t apiserver_version(const struct apiserver *s)
{
	return s->rv;
}

void apiserver_compact(struct apiserver *s)
{
	for (size_t i = 0; i < s->resources.n; i++) {
		bucket_compact(&s->resources.v[i]->bucket, s->rv);
	}
}

struct str apiserver_peek(const struct apiserver *s, const char *group, const char *plural,
			  const char *ns, const char *name)
{
	const struct resource *res = resource_find(&s->resources, str_of(group),
						   (struct str){ NULL, 0 }, str_of(plural));
	const struct object *o =
		res == NULL ? NULL : commit_find(res, str_of(ns == NULL ? "" : ns), str_of(name));

	return o == NULL ? (struct str){ NULL, 0 } : o->text;
}

void apiserver_each(const struct apiserver *s, const char *group, const char *plural,
		    void (*each)(void *ctx, struct str text), void *ctx)
{
	const struct resource *res = resource_find(&s->resources, str_of(group),
						   (struct str){ NULL, 0 }, str_of(plural));
	struct sorted_pos pos = { 0, 0 };
	struct object *o;

	while (res != NULL && (o = sorted_next(&res->bucket.objects, &pos)) != NULL) {
		each(ctx, o->text);
	}
}
