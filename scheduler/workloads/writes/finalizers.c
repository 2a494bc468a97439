#include "scheduler/workloads/writes/finalizers.h"

#include <stdlib.h>

#include "api/kinds.h"
#include "api/kueue/kueue_keys.h"
#include "api/meta/meta.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "enc/json/json_out.h"
#include "enc/json/patch.h"
#include "kube/pool.h"
#include "scheduler/base/object_write.h"
#include "scheduler/workloads/model/quota_store.h"

#define POOL_SLOTS 8
#define NOWHERE SIZE_MAX

struct wrong { /* an object that needs a finalizer added or removed */
	enum sched_resource resource;
	char *name, *uid, *version;
	bool deleted; /* it is to go, once the object is not in use */
	bool empty;   /* it has no finalizer at all */
	size_t at;    /* of ours in the list; NOWHERE: it is missing */
	bool sent;
};

struct finalizers {
	struct object_write_target target;
	struct pool *pool;
	struct strmap *wrong; /* "plural/name" */
	size_t unsent;        /* of those, so many */
};

static void wrong_free(void *value)
{
	struct wrong *w = value;

	free(w->name);
	free(w->uid);
	free(w->version);
	free(w);
}

struct finalizers *finalizers_create(const struct pool_options *base,
				     void (*post)(void *ctx, struct sched_msg *msg))
{
	struct finalizers *f = xmalloc_zero(1, sizeof(*f));

	f->wrong = strmap_create(wrong_free);
	f->pool = object_write_pool(base, "quota-finalizer", POOL_SLOTS, post, &f->target);
	return f;
}

void finalizers_destroy(struct finalizers *f)
{
	if (f != NULL) {
		pool_destroy(f->pool);
		strmap_destroy(f->wrong);
		free(f);
	}
}

struct pool *finalizers_pool(struct finalizers *f)
{
	return f->pool;
}

/* Kueue: these kinds, and Workloads, of which the reconciler and the controller of owners take
 * care. */
static bool has_finalizer(enum sched_resource r)
{
	return r == SCHED_CLUSTER_QUEUES || r == SCHED_FLAVORS || r == SCHED_ADMISSION_CHECKS;
}

static size_t find_ours(const struct field_strs *list)
{
	for (size_t i = 0; i < list->n; i++) {
		if (str_streq(list->v[i], KUEUE_FINALIZER)) {
			return i;
		}
	}
	return NOWHERE;
}

static void set_sent(struct finalizers *f, struct wrong *w, bool sent)
{
	f->unsent += w->sent;
	f->unsent -= sent;
	w->sent = sent;
}

static void forget(struct finalizers *f, struct str name)
{
	struct wrong *w = strmap_get(f->wrong, name);

	if (w != NULL) {
		/* As sent it is out of the count of those that are not. */
		set_sent(f, w, true);
		(void)strmap_remove(f->wrong, name);
	}
}

void finalizers_seen(struct finalizers *f, enum sched_resource r, struct str key,
		     const struct api_meta *meta)
{
	CLEANUP(strbuf_finish) struct strbuf name = STRBUF_INIT;
	size_t at = meta == NULL ? NOWHERE : find_ours(&meta->finalizers);
	bool deleted = meta != NULL && meta->deleted != FIELD_NO_TIME;
	struct wrong *w;

	if (!has_finalizer(r)) {
		return;
	}
	strbuf_printf(&name, "%s/" STR_FMT, sched_kinds_names(r)->plural, STR_ARG(key));
	/* A new version is looked at from scratch: a write about the old one has been done, or its
	 * tests fail. */
	forget(f, strbuf_str(&name));
	/* As it should be: there while the object lives, gone when it is being deleted. */
	if (meta == NULL || deleted == (at == NOWHERE)) {
		return;
	}
	w = xmalloc_zero(1, sizeof(*w));
	w->resource = r;
	w->name = xmalloc_dup_n(key.p, key.len);
	w->uid = xmalloc_dup(meta->uid == NULL ? "" : meta->uid);
	w->version = xmalloc_dup(meta->resource_version == NULL ? "" : meta->resource_version);
	w->deleted = deleted;
	w->empty = meta->finalizers.n == 0;
	w->at = at;
	strmap_set(f->wrong, strbuf_str(&name), w);
	f->unsent++;
}

void finalizers_done(struct finalizers *f, const struct sched_msg *m)
{
	struct wrong *w = strmap_get(f->wrong, m->key);

	/* It was not sent. Any other outcome is final for this version of the object. */
	if (w != NULL && m->outcome == SCHED_CANCELLED) {
		set_sent(f, w, false);
	}
}

/* --- in use ------------------------------------------------------------------------------------*/

static bool has_flavor(const struct quota_node *n, const char *name, const struct quota_model *q)
{
	for (size_t g = 0; g < n->groups.n; g++) {
		for (size_t i = 0; i < n->groups.v[g].nflavors; i++) {
			uint32_t flavor = n->groups.v[g].flavors[i];

			if (str_streq(q->flavors.v[flavor]->name, name)) {
				return true;
			}
		}
	}
	return false;
}

static bool has_check(const struct quota_node *n, const char *name)
{
	for (size_t i = 0; i < n->queue->checks.n; i++) {
		if (str_streq(n->queue->checks.v[i].name, name)) {
			return true;
		}
	}
	return false;
}

static bool is_used_by(const struct quota_node *n, const struct wrong *w,
		       const struct quota_model *q)
{
	return w->resource == SCHED_FLAVORS ? has_flavor(n, w->name, q) : has_check(n, w->name);
}

/* Kueue: a ClusterQueue is in use while Workloads hold its quota; a ResourceFlavor or an
 * AdmissionCheck while a ClusterQueue names it. */
static bool is_used(const struct wrong *w, const struct quota_model *q)
{
	if (w->resource == SCHED_CLUSTER_QUEUES) {
		const struct quota_node *own = quota_queue_find(q, str_of(w->name));

		return own != NULL && own->exists && own->queue->holders.n > 0;
	}
	for (size_t i = 0; i < q->nodes.n; i++) {
		const struct quota_node *n = q->nodes.v[i];

		if (n != NULL && n->is_queue && n->exists && is_used_by(n, w, q)) {
			return true;
		}
	}
	return false;
}

/* --- writes ------------------------------------------------------------------------------------*/

/* The test operations make the patch fail for another object of this name, for a second time, and
 * where another client changed the list. */
static void format(const struct wrong *w, struct strbuf *out)
{
	const struct str finalizer = STR_LIT(KUEUE_FINALIZER);
	CLEANUP(strbuf_finish) struct strbuf at = STRBUF_INIT;
	struct json_out o;

	patch_begin(&o, out);
	patch_test_str(&o, "/metadata/uid", NULL, str_of(w->uid));
	if (w->deleted) {
		strbuf_printf(&at, "/metadata/finalizers/%zu", w->at);
		patch_test_str(&o, at.p, NULL, finalizer);
		patch_remove(&o, at.p, NULL);
	} else {
		/* An addition does not fail by itself if the finalizer is there already: the
		 * version makes sure that the list is the one that was read. */
		patch_test_str(&o, "/metadata/resourceVersion", NULL, str_of(w->version));
		if (w->empty) {
			patch_add(&o, "/metadata/finalizers", NULL);
			json_out_array(&o);
			json_out_slice(&o, finalizer);
			json_out_array_end(&o);
			patch_add_end(&o);
		} else {
			patch_add_str(&o, "/metadata/finalizers", "-", finalizer);
		}
	}
	patch_end(&o);
}

struct running {
	struct finalizers *f;
	const struct quota_model *q;
};

static bool run_one(struct str key, void *value, void *ctx)
{
	const struct running *r = ctx;
	struct wrong *w = value;
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT, body = STRBUF_INIT;
	struct object_write_spec spec = { .request = SCHED_REQ_QUOTA_FINALIZER,
					  .resource = w->resource,
					  .method = HTTP_PATCH,
					  .key = key,
					  .content_type = "application/json-patch+json" };

	/* One that is in use is asked about again at each run: what uses it may end without a new
	 * version of it. */
	if (w->sent || (w->deleted && is_used(w, r->q))) {
		return true;
	}
	set_sent(r->f, w, true);
	sched_kinds_path(w->resource, NULL, w->name, NULL, &path);
	format(w, &body);
	spec.path = path.p;
	spec.body = strbuf_str(&body);
	pool_add(r->f->pool, key, object_write_new(&spec));
	return true;
}

void finalizers_run(struct finalizers *f, const struct quota_model *q)
{
	struct running r = { f, q };

	if (f->unsent > 0) {
		strmap_each(f->wrong, run_one, &r);
	}
}
