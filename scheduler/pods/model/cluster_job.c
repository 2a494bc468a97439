#include <assert.h>
#include <stdlib.h>

#include "base/intern.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/xmalloc.h"
#include "scheduler/pods/model/access.h"
#include "scheduler/pods/model/cluster.h"

static void job_key(struct strbuf *key, struct str namespace_, struct str name)
{
	strbuf_add_str(key, namespace_);
	strbuf_add_ch(key, '/');
	strbuf_add_str(key, name);
}

struct job *cluster_job_find(const struct cluster *c, struct str key)
{
	return strmap_get(c->job_by_key, key);
}

struct job *cluster_job_get(struct cluster *c, struct str namespace_, struct str name)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	uint32_t ns;
	struct job *j;

	job_key(&key, namespace_, name);
	j = cluster_job_find(c, strbuf_str(&key));
	if (j != NULL) {
		return j;
	}
	ns = intern_id(c->names, namespace_);
	assert(ns != INTERN_NONE);
	j = xmalloc_zero(1, sizeof(*j));
	j->namespace_ = intern_name(c->names, ns);
	j->name = xmalloc_dup_n(name.p, name.len);
	j->queue = j->queue_name = j->priority_class = j->barred_by = MODEL_NONE;
	j->created = MODEL_TIME_NONE;
	if (c->free_jobs.n > 0) {
		j->id = vec_pop(&c->free_jobs);
	} else {
		j->id = (uint32_t)c->jobs.n;
		vec_push(&c->jobs, NULL);
	}
	c->jobs.v[j->id] = j;
	strmap_set(c->job_by_key, strbuf_str(&key), j);
	return j;
}

void cluster_job_changed(struct cluster *c, struct job *j)
{
	struct queue *q = NULL;

	if (j->queue != MODEL_NONE) {
		q = c->queues.v[j->queue];
	} else if (j->queue_name != MODEL_NONE) {
		/* Pods of an unknown queue are told so: its placeholder is looked at like a queue.
		 */
		q = queue_find(c, intern_str(c->names, j->queue_name));
	}
	if (q != NULL) {
		q->jobs_gen++;
	}
}

static void leave_queue(struct cluster *c, struct job *j)
{
	struct queue *q;

	if (j->queue_name == MODEL_NONE) {
		return;
	}
	cluster_job_changed(c, j);
	q = queue_find(c, intern_str(c->names, j->queue_name));
	if (j->queue != MODEL_NONE) {
		vec_swap_remove(&q->jobs, j->queue_pos);
		if (j->queue_pos < q->jobs.n) {
			c->jobs.v[q->jobs.v[j->queue_pos]]->queue_pos = j->queue_pos;
		}
	} else {
		vec_swap_remove(&q->waiting, j->queue_pos);
		if (j->queue_pos < q->waiting.n) {
			c->jobs.v[q->waiting.v[j->queue_pos]]->queue_pos = j->queue_pos;
		}
	}
	j->queue = j->queue_name = MODEL_NONE;
	queue_prune(c, q);
}

void cluster_job_set_queue(struct cluster *c, struct job *j, struct str queue_name)
{
	struct queue *q;
	uint32_t id = MODEL_NONE;

	if (queue_name.len > 0) {
		id = intern_id(c->names, queue_name);
		assert(id != INTERN_NONE);
	}
	if (id == j->queue_name) {
		return;
	}
	leave_queue(c, j);
	if (id == MODEL_NONE) {
		return;
	}
	j->queue_name = id;
	q = queue_get(c, queue_name);
	if (q->exists) {
		j->queue = q->id;
		j->queue_pos = (uint32_t)q->jobs.n;
		vec_push(&q->jobs, j->id);
	} else {
		j->queue_pos = (uint32_t)q->waiting.n;
		vec_push(&q->waiting, j->id);
	}
	cluster_job_changed(c, j);
	(void)access_settle_job(c, j);
}

void cluster_job_prune(struct cluster *c, struct job *j)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;

	if (j->has_group || j->tasks.n > 0) {
		return;
	}
	leave_queue(c, j);
	job_key(&key, str_of(j->namespace_), str_of(j->name));
	strmap_remove(c->job_by_key, strbuf_str(&key));
	c->jobs.v[j->id] = NULL;
	vec_push(&c->free_jobs, j->id);
	unoffered_finish(&j->min_unoffered);
	vec_finish(&j->role_min);
	vec_finish(&j->tasks);
	free(j->name);
	free(j->uid);
	free(j);
}
