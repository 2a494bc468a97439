#include "scheduler/multikueue/records/fleet_locals.h"

#include <stdlib.h>
#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "scheduler/base/message.h"
#include "scheduler/multikueue/manager/carried.h"
#include "scheduler/multikueue/manager/carried_custom.h"
#include "scheduler/multikueue/records/fleet_workload.h"

struct fleet_locals {
	unsigned kinds;
	struct VEC(struct carried_kind) customs;
	struct strmap *objects; /* struct fleet_local, by resource and key */
	struct strmap *jobs;    /* struct fleet_job, by its key */
	void (*look_at)(void *ctx, struct fleet_workload *w);
	void *ctx;
};

static void free_local(void *value)
{
	struct fleet_local *o = value;

	message_free(o->object);
	free(o->write.event);
	free(o->job);
	free(o);
}

static void free_job(void *value)
{
	struct fleet_job *j = value;

	vec_finish(&j->objects);
	vec_finish(&j->of);
	free(j);
}

struct fleet_locals *fleet_locals_create(unsigned kinds, struct custom_kinds customs,
					 void (*look_at)(void *ctx, struct fleet_workload *w),
					 void *ctx)
{
	struct fleet_locals *l = xmalloc_zero(1, sizeof(*l));

	l->kinds = kinds;
	for (size_t i = 0; i < customs.n; i++) {
		vec_push(&l->customs, carried_custom_row(&customs.v[i]));
	}
	l->objects = strmap_create(free_local);
	l->jobs = strmap_create(free_job);
	l->look_at = look_at;
	l->ctx = ctx;
	return l;
}

void fleet_locals_destroy(struct fleet_locals *l)
{
	if (l != NULL) {
		strmap_destroy(l->jobs);
		strmap_destroy(l->objects);
		vec_finish(&l->customs);
		free(l);
	}
}

/* --- jobs --------------------------------------------------------------------------------------*/

static void look_at_all(struct fleet_locals *l, const struct fleet_job *j)
{
	for (size_t i = 0; i < j->of.n; i++) {
		l->look_at(l->ctx, j->of.v[i]);
	}
}

static struct fleet_job *need_job(struct fleet_locals *l, const char *key)
{
	struct fleet_job *j = strmap_get(l->jobs, str_of(key));

	if (j == NULL) {
		j = xmalloc_zero(1, sizeof(*j));
		strmap_set(l->jobs, str_of(key), j);
	}
	return j;
}

static void forget_if_empty(struct fleet_locals *l, const char *key)
{
	const struct fleet_job *j = strmap_get(l->jobs, str_of(key));

	if (j != NULL && j->objects.n == 0 && j->of.n == 0) {
		(void)strmap_remove(l->jobs, str_of(key));
	}
}

/* --- objects -----------------------------------------------------------------------------------*/

static struct str object_key(enum sched_resource r, struct str key, struct strbuf *out)
{
	strbuf_printf(out, "%s/" STR_FMT, sched_kinds_label(r), STR_ARG(key));
	return strbuf_str(out);
}

#define GROUP "PodGroup"

/* The caller frees it. kind: of the owner, or GROUP. */
static char *job_key(const char *kind, const char *namespace_, const char *name)
{
	return xmalloc_printf("%s/%s/%s", kind, namespace_, name);
}

/* The job of an object; the caller frees it. */
static char *job_of_object(const struct carried_kind *kind, const struct sched_msg *m)
{
	const struct api_meta *meta = kind->meta(m->object);
	const char *group = kind->resource == SCHED_PODS
				    ? field_map_get(&meta->labels, KUEUE_POD_GROUP_NAME)
				    : NULL;

	if (kind->resource == SCHED_CUSTOM) {
		return xmalloc_dup_n(m->key.p, m->key.len); /* begins with the kind's name */
	}
	return group != NULL && group[0] != '\0'
		       ? job_key(GROUP, meta->namespace_, group)
		       : job_key(kind->kind, meta->namespace_, meta->name);
}

static void link_object(struct fleet_job *j, struct fleet_local *o)
{
	size_t at = j->objects.n;

	vec_push(&j->objects, o);
	while (at > 0 && str_cmp(j->objects.v[at - 1]->object->key, o->object->key) > 0) {
		j->objects.v[at] = j->objects.v[at - 1];
		at--;
	}
	j->objects.v[at] = o;
}

static void unlink_object(struct fleet_locals *l, const struct fleet_local *o)
{
	struct fleet_job *j = strmap_get(l->jobs, str_of(o->job));

	for (size_t i = 0; j != NULL && i < j->objects.n; i++) {
		if (j->objects.v[i] == o) {
			memmove(&j->objects.v[i], &j->objects.v[i + 1],
				(j->objects.n - i - 1) * sizeof(j->objects.v[0]));
			j->objects.n--;
			break;
		}
	}
}

static void remove_object(struct fleet_locals *l, struct str key, const struct fleet_local *o)
{
	CLEANUP(xmalloc_freep) char *job = xmalloc_dup(o->job);

	unlink_object(l, o);
	(void)strmap_remove(l->objects, key);
	look_at_all(l, need_job(l, job));
	forget_if_empty(l, job);
}

static void set_object(struct fleet_locals *l, struct str key, char *job_take, struct sched_msg *m)
{
	struct fleet_local *o = strmap_get(l->objects, key);
	struct fleet_job *j;

	if (o != NULL && !str_streq(o->job, job_take)) {
		remove_object(l, key, o); /* its labels have changed */
		o = NULL;
	}
	if (o == NULL) {
		o = xmalloc_zero(1, sizeof(*o));
		o->job = job_take;
		strmap_set(l->objects, key, o);
	} else {
		unlink_object(l, o);
		message_free(o->object);
		free(job_take);
	}
	o->object = message_ref(m);
	j = need_job(l, o->job);
	link_object(j, o);
	look_at_all(l, j);
}

void fleet_locals_handle(struct fleet_locals *l, struct sched_msg *m)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct str key = object_key(m->resource, m->key, &text);
	const struct fleet_local *o = strmap_get(l->objects, key);
	enum carried c;

	if (!carried_find(m->resource, &c)) {
		return;
	}
	if (m->kind == SCHED_MSG_UPSERT) {
		set_object(l, key, job_of_object(carried_row(c), m), m);
	} else if (m->kind == SCHED_MSG_DELETE && o != NULL) {
		remove_object(l, key, o);
	}
}

/* --- Workloads ---------------------------------------------------------------------------------*/

static const struct api_owner *owner_of(const struct api_workload *local)
{
	const struct api_owner *o = meta_controller(&local->meta);

	return o == NULL && local->meta.owners.n > 0 ? local->meta.owners.v : o;
}

/* NULL: it is not carried. */
static const struct carried_kind *kind_of(const struct fleet_locals *l, const struct api_owner *o)
{
	const struct carried_kind *kind = carried_of(o);

	for (size_t i = 0; kind == NULL && i < l->customs.n; i++) {
		if (str_streq(o->api_version, l->customs.v[i].api_version) &&
		    str_streq(o->kind, l->customs.v[i].kind)) {
			return &l->customs.v[i];
		}
	}
	return kind;
}

const struct carried_kind *fleet_locals_kind(const struct fleet_locals *l,
					     const struct fleet_workload *w)
{
	const struct api_workload *local = fleet_workload_local(w);
	const struct api_owner *o = local == NULL ? NULL : owner_of(local);
	const struct carried_kind *kind = o == NULL ? NULL : kind_of(l, o);
	enum carried c;

	return kind != NULL && (kind->custom != NULL ||
				(carried_find(kind->resource, &c) && (l->kinds & 1u << c) != 0))
		       ? kind
		       : NULL;
}

/* The caller frees it. NULL: its owner is not carried. */
static char *job_of_workload(const struct fleet_locals *l, const struct fleet_workload *w)
{
	const struct api_workload *local = fleet_workload_local(w);
	const struct carried_kind *kind = fleet_locals_kind(l, w);
	const char *name = kind == NULL ? NULL : owner_of(local)->name;

	if (name == NULL) {
		return NULL;
	}
	return carried_is_group(&local->meta, kind)
		       ? job_key(GROUP, local->meta.namespace_, local->meta.name)
		       : job_key(kind->custom != NULL ? kind->custom->name : kind->kind,
				 local->meta.namespace_, name);
}

void fleet_locals_leave(struct fleet_locals *l, struct fleet_workload *w)
{
	struct fleet_managed *g = w->managed;
	struct fleet_job *j = g->job == NULL ? NULL : strmap_get(l->jobs, str_of(g->job));

	for (size_t i = 0; j != NULL && i < j->of.n; i++) {
		if (j->of.v[i] == w) {
			vec_swap_remove(&j->of, i);
			break;
		}
	}
	if (j != NULL) {
		forget_if_empty(l, g->job);
	}
	free(g->job);
	g->job = NULL;
}

bool fleet_locals_follow(struct fleet_locals *l, struct fleet_workload *w)
{
	CLEANUP(xmalloc_freep) char *key = job_of_workload(l, w);
	struct fleet_managed *g = w->managed;
	struct fleet_job *j;

	if (str_streq(key, g->job)) {
		return false;
	}
	fleet_locals_leave(l, w);
	g->job = take_ptr(&key);
	if (g->job != NULL) {
		j = need_job(l, g->job);
		vec_push(&j->of, w);
	}
	return true;
}

const struct fleet_job *fleet_locals_of(const struct fleet_locals *l,
					const struct fleet_workload *w)
{
	return w->managed->job == NULL ? NULL : strmap_get(l->jobs, str_of(w->managed->job));
}

struct fleet_local *fleet_locals_find(const struct fleet_locals *l, enum sched_resource r,
				      struct str key)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	return strmap_get(l->objects, object_key(r, key, &text));
}

const struct fleet_job *fleet_locals_with(const struct fleet_locals *l, enum sched_resource r,
					  struct str key)
{
	const struct fleet_local *o = fleet_locals_find(l, r, key);

	return o == NULL ? NULL : strmap_get(l->jobs, str_of(o->job));
}
