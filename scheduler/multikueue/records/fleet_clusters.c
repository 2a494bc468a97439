#include "scheduler/multikueue/records/fleet_clusters.h"

#include <stdlib.h>
#include <string.h>

#include "api/core/secret.h"
#include "api/kueue/kueue.h"
#include "api/kueue/kueue_workload.h"
#include "api/kueue/multikueue.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "enc/base64.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "scheduler/base/message.h"
#include "scheduler/multikueue/variants.h"
#include "scheduler/multikueue/worker/config_file.h"
#include "scheduler/multikueue/worker/link.h"
#include "scheduler/multikueue/worker_config.h"

#define SECRET_KEY "kubeconfig"

struct fleet_clusters {
	struct link_options link;
	const char *namespace_, *root;
	int64_t reread_at;      /* mono ns: when files with kubeconfigs are read again */
	struct strmap *objects; /* struct sched_msg with a MultiKueueCluster, by name */
	struct strmap *secrets; /* the same with a Secret */
	bool listed;            /* all Secrets have been read */
	struct VEC(struct fleet_cluster *) all;
	struct VEC(struct link *) closing; /* of deleted clusters */
};

static void free_message(void *value)
{
	message_free(value);
}

/* The replica of a variant, as a connection has shown it. */
struct shown_parent {
	uint64_t source;
	char *key;
};

static void free_parent(void *value)
{
	struct shown_parent *p = value;

	if (p != NULL) {
		free(p->key);
		free(p);
	}
}

struct fleet_clusters *fleet_clusters_create(const struct link_options *link,
					     const char *namespace_, const char *root)
{
	struct fleet_clusters *c = xmalloc_zero(1, sizeof(*c));

	c->link = *link;
	c->namespace_ = namespace_;
	c->root = root;
	c->objects = strmap_create(free_message);
	c->secrets = strmap_create(free_message);
	return c;
}

void fleet_clusters_destroy(struct fleet_clusters *c)
{
	if (c == NULL) {
		return;
	}
	for (size_t i = 0; i < c->all.n; i++) {
		link_destroy(c->all.v[i]->link);
		strmap_destroy(c->all.v[i]->queues);
		strmap_destroy(c->all.v[i]->variants);
		for (unsigned k = 0; k < CARRIED_COUNT_; k++) {
			strmap_destroy(c->all.v[i]->carried[k]);
		}
		free(c->all.v[i]->name);
		free(c->all.v[i]);
	}
	vec_finish(&c->all);
	for (size_t i = 0; i < c->closing.n; i++) {
		link_destroy(c->closing.v[i]);
	}
	vec_finish(&c->closing);
	strmap_destroy(c->objects);
	strmap_destroy(c->secrets);
	free(c);
}

size_t fleet_clusters_count(const struct fleet_clusters *c)
{
	return c->all.n;
}

struct fleet_cluster *fleet_clusters_at(const struct fleet_clusters *c, size_t i)
{
	return c->all.v[i];
}

struct fleet_cluster *fleet_clusters_any(const struct fleet_clusters *c, struct str name)
{
	for (size_t i = 0; i < c->all.n; i++) {
		if (str_eq_c(name, c->all.v[i]->name)) {
			return c->all.v[i];
		}
	}
	return NULL;
}

const struct api_multikueue_cluster *fleet_clusters_object(const struct fleet_clusters *c,
							   const char *name)
{
	const struct sched_msg *m = strmap_get(c->objects, str_of(name));

	return m == NULL ? NULL : m->object;
}

struct fleet_cluster *fleet_clusters_find(struct fleet_clusters *c, struct str name)
{
	struct fleet_cluster *found = fleet_clusters_any(c, name);

	return found == NULL || found->is_gone ? NULL : found;
}

struct fleet_cluster *fleet_clusters_of(struct fleet_clusters *c, uint64_t source)
{
	for (size_t i = 0; i < c->all.n; i++) {
		if (!c->all.v[i]->is_gone && link_source(c->all.v[i]->link) == source) {
			return c->all.v[i];
		}
	}
	return NULL;
}

/* A replica names its cluster as long as it is kept, so that the entry of a deleted cluster stays,
 * for one of the same name. */
static struct fleet_cluster *add(struct fleet_clusters *c, struct str name)
{
	struct fleet_cluster *k = fleet_clusters_any(c, name);

	if (k == NULL) {
		k = xmalloc_zero(1, sizeof(*k));
		k->name = xmalloc_dup_n(name.p, name.len);
		k->is_gone = true;
		for (unsigned i = 0; i < CARRIED_COUNT_; i++) {
			k->carried[i] = strmap_create(free_message);
		}
		vec_push(&c->all, k);
	}
	if (k->is_gone) {
		struct link_options lo = c->link;

		k->is_gone = false;
		lo.cluster = k->name;
		lo.seed = c->link.seed + c->all.n;
		k->link = link_create(&lo);
		k->queues = strmap_create(free);
		k->variants = strmap_create(free_parent);
	}
	return k;
}

static void remove_cluster(struct fleet_clusters *c, struct fleet_cluster *k)
{
	link_configure(k->link, NULL, "Deleted", "the MultiKueueCluster was deleted");
	vec_push(&c->closing, k->link);
	strmap_destroy(k->queues);
	strmap_destroy(k->variants);
	k->link = NULL;
	k->queues = k->variants = NULL;
	k->source = 0;
	k->gone_at = clock_wall(c->link.clock);
	k->is_gone = true;
}

/* 0 and the text of the kubeconfig. Errors say what is missing. */
static int read_secret(const struct fleet_clusters *c, const char *name, struct strbuf *out,
		       struct err *err)
{
	const struct sched_msg *m = strmap_get(c->secrets, str_of(name));
	const struct api_secret *s = m == NULL ? NULL : m->object;
	const char *text = s == NULL ? NULL : field_map_get(&s->data, SECRET_KEY);

	if (s == NULL) {
		return err_set(err, ERR_NOT_FOUND, "Secret %s/%s does not exist", c->namespace_,
			       name);
	}
	if (text == NULL) {
		return err_set(err, ERR_INVALID, "Secret %s/%s has no data[" SECRET_KEY "]",
			       c->namespace_, name);
	}
	if (base64_decode(str_of(text), out, err) < 0) {
		return err_set(err, ERR_INVALID, "Secret %s/%s: data[" SECRET_KEY "] is not base64",
			       c->namespace_, name);
	}
	return 0;
}

static bool is_file(const struct api_multikueue_kube_config *from)
{
	return from != NULL && str_streq(from->location_type, MULTIKUEUE_LOCATION_PATH);
}

static int read_location(const struct fleet_clusters *c,
			 const struct api_multikueue_kube_config *from, struct strbuf *out,
			 struct err *err)
{
	if (is_file(from)) {
		return config_file_read(from->location, c->root, out, err) < 0
			       ? err_wrap(err, "spec.clusterSource.kubeConfig.location")
			       : 0;
	}
	if (from->location_type != NULL &&
	    !str_streq(from->location_type, MULTIKUEUE_LOCATION_SECRET)) {
		return err_set(err, ERR_INVALID,
			       "spec.clusterSource.kubeConfig.locationType: neither Secret nor "
			       "Path");
	}
	return read_secret(c, from->location, out, err);
}

static int read_config(const struct fleet_clusters *c, const struct api_multikueue_cluster *object,
		       struct kubeconfig **ret, const char **ret_reason, struct err *err)
{
	const struct api_multikueue_kube_config *from = object->spec.kube_config;
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	*ret_reason = "BadKubeConfig";
	if (from == NULL && object->spec.cluster_profile != NULL) {
		*ret_reason = "MultiKueueClusterProfileFeatureDisabled"; /* Kueue's */
		return err_set(err, ERR_INVALID,
			       "spec.clusterSource.clusterProfileRef: ClusterProfiles are not "
			       "supported: %s",
			       object->spec.cluster_profile->name == NULL
				       ? "without a name"
				       : object->spec.cluster_profile->name);
	}
	if (from == NULL || from->location == NULL) {
		return err_set(err, ERR_INVALID,
			       "spec.clusterSource.kubeConfig.location: required");
	}
	if (read_location(c, from, &text, err) < 0) {
		return -ERR_INVALID;
	}
	return worker_config_parse(strbuf_str(&text), ret, ret_reason, err);
}

static void configure(struct fleet_clusters *c, struct fleet_cluster *k)
{
	const struct sched_msg *m = strmap_get(c->objects, str_of(k->name));
	struct kubeconfig *config = NULL;
	const char *reason;
	struct err err = ERR_INIT;

	if (m == NULL || !c->listed) {
		return;
	}
	if (read_config(c, m->object, &config, &reason, &err) < 0) {
		CLEANUP(xmalloc_freep)
		char *message = xmalloc_printf("load client config failed: %s", err.text);

		link_configure(k->link, NULL, reason, message);
	} else {
		link_configure(k->link, config, NULL, NULL);
	}
}

static void configure_all(struct fleet_clusters *c)
{
	for (size_t i = 0; i < c->all.n; i++) {
		if (!c->all.v[i]->is_gone) {
			configure(c, c->all.v[i]);
		}
	}
}

void fleet_clusters_secrets_listed(struct fleet_clusters *c)
{
	c->listed = true;
	configure_all(c);
}

static void handle_secret(struct fleet_clusters *c, struct sched_msg *m)
{
	struct str key = m->key, space = str_next(&key, '/');

	if (!str_eq_c(space, c->namespace_)) {
		return;
	}
	if (m->kind == SCHED_MSG_DELETE) {
		(void)strmap_remove(c->secrets, key);
	} else {
		strmap_set(c->secrets, key, message_ref(m));
	}
	configure_all(c);
}

void fleet_clusters_handle(struct fleet_clusters *c, struct sched_msg *m)
{
	if (m->kind != SCHED_MSG_UPSERT && m->kind != SCHED_MSG_DELETE) {
		return;
	}
	if (m->resource == SCHED_SECRETS) {
		handle_secret(c, m);
	} else if (m->resource == SCHED_MULTIKUEUE_CLUSTERS && m->kind == SCHED_MSG_UPSERT) {
		strmap_set(c->objects, m->key, message_ref(m));
		configure(c, add(c, m->key));
	} else if (m->resource == SCHED_MULTIKUEUE_CLUSTERS) {
		struct fleet_cluster *k = fleet_clusters_find(c, m->key);

		(void)strmap_remove(c->objects, m->key);
		if (k != NULL) {
			remove_cluster(c, k);
		}
	}
}

void fleet_clusters_queue(struct fleet_cluster *k, const struct sched_msg *m)
{
	const struct api_local_queue *q = m->object;

	if (m->kind == SCHED_MSG_UPSERT && q->spec.cluster_queue != NULL) {
		strmap_set(k->queues, m->key, xmalloc_dup(q->spec.cluster_queue));
	} else {
		(void)strmap_remove(k->queues, m->key);
	}
}

struct keeping {
	uint64_t source;
	struct strmap *kept;
};

static bool keep_parent(struct str key, void *value, void *ctx)
{
	const struct shown_parent *p = value;
	const struct keeping *k = ctx;
	struct shown_parent *copy;

	if (p->source == k->source) {
		copy = xmalloc_zero(1, sizeof(*copy));
		*copy = (struct shown_parent){ p->source, xmalloc_dup(p->key) };
		strmap_set(k->kept, key, copy);
	}
	return true;
}

/* Deletions are not shown while there is no connection, so that an entry would stay for ever. */
static void keep_parents(struct fleet_cluster *k, uint64_t source)
{
	struct keeping keeping = { source, strmap_create(free_parent) };

	strmap_each(k->variants, keep_parent, &keeping);
	strmap_destroy(k->variants);
	k->variants = keeping.kept;
}

void fleet_clusters_reach(struct fleet_cluster *k)
{
	keep_parents(k, k->source);
	k->variants_complete = k->source;
}

char *fleet_clusters_variant(struct fleet_cluster *k, const struct sched_msg *m, char **ret_before)
{
	const struct api_workload *w = m->kind == SCHED_MSG_UPSERT ? m->object : NULL;
	const char *parent = w == NULL ? NULL : variants_parent(w);
	const struct shown_parent *old;
	struct shown_parent *shown;
	char *before, *of;

	if (k->variants_source != m->source) {
		keep_parents(k, k->variants_complete);
		k->variants_source = m->source;
	}
	old = strmap_get(k->variants, m->key);
	before = old == NULL ? NULL : xmalloc_dup(old->key);
	of = parent != NULL ? xmalloc_printf("%s/%s", w->meta.namespace_, parent)
	     : w != NULL    ? NULL
			    : xmalloc_dup_or_null(before);
	if (of == NULL || m->kind == SCHED_MSG_DELETE) {
		(void)strmap_remove(k->variants, m->key);
	} else {
		shown = xmalloc_zero(1, sizeof(*shown));
		*shown = (struct shown_parent){ m->source, xmalloc_dup(of) };
		strmap_set(k->variants, m->key, shown);
	}
	*ret_before = before;
	return of;
}

const char *fleet_clusters_queue_of(const struct fleet_cluster *k, const char *local_queue)
{
	const char *found = local_queue == NULL ? NULL : strmap_get(k->queues, str_of(local_queue));

	return found == NULL ? local_queue : found;
}

/* A file says nothing when it changes. Returns when it is looked at next. */
static int64_t reread_files(struct fleet_clusters *c)
{
	int64_t now = clock_mono(c->link.clock);
	bool due = now >= c->reread_at, any = false;

	for (size_t i = 0; i < c->all.n; i++) {
		const struct sched_msg *m = strmap_get(c->objects, str_of(c->all.v[i]->name));
		const struct api_multikueue_cluster *object = m == NULL ? NULL : m->object;

		if (object != NULL && is_file(object->spec.kube_config)) {
			any = true;
			if (due) {
				configure(c, c->all.v[i]);
			}
		}
	}
	if (due) {
		c->reread_at = now + FLEET_CLUSTERS_REREAD_NS;
	}
	return any ? c->reread_at : CLOCK_NEVER;
}

int64_t fleet_clusters_step(struct fleet_clusters *c)
{
	int64_t at = reread_files(c);

	for (size_t i = 0; i < c->closing.n;) {
		at = clock_earlier(at, link_step(c->closing.v[i]));
		if (link_is_closed(c->closing.v[i])) {
			link_destroy(c->closing.v[i]);
			vec_swap_remove(&c->closing, i);
		} else {
			i++;
		}
	}
	for (size_t i = 0; i < c->all.n; i++) {
		if (!c->all.v[i]->is_gone) {
			at = clock_earlier(at, link_step(c->all.v[i]->link));
		}
	}
	return at;
}

struct sched_msg *fleet_clusters_carried(const struct fleet_cluster *c, enum sched_resource r,
					 struct str key)
{
	enum carried k;

	return carried_find(r, &k) ? strmap_get(c->carried[k], key) : NULL;
}

bool fleet_clusters_stall(struct fleet_cluster *c, enum sched_resource r, bool fails, int64_t now)
{
	enum carried k;
	bool is_job = carried_find(r, &k);

	if (r != SCHED_WORKLOADS && !is_job) {
		return false;
	}
	if (!c->is_stalled && c->stalled_jobs == 0) {
		c->stalled_at = now;
	}
	if (!is_job) {
		c->is_stalled = fails;
	} else {
		c->stalled_jobs = (c->stalled_jobs & ~(1u << k)) | (unsigned)fails << k;
	}
	return true;
}
