#include "scheduler/multikueue/fleet/fleet_writes.h"

#include <stdlib.h>
#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/decode.h"
#include "enc/encode.h"
#include "enc/json/json_out.h"
#include "enc/json/patch.h"
#include "kube/pool.h"
#include "scheduler/base/message.h"
#include "scheduler/base/object_write.h"
#include "scheduler/multikueue/fleet/fleet.h"
#include "scheduler/multikueue/gate_write.h"
#include "scheduler/multikueue/records/fleet_workload.h"
#include "scheduler/multikueue/worker/link.h"

#define POOL_SLOTS 64
#define REFUSED_PAUSE_NS (30 * CLOCK_NS_PER_S)

struct fleet_writes {
	struct object_write_target target;
	struct pool *pool;
};

struct fleet_writes *fleet_writes_create(const struct pool_options *base,
					 void (*post)(void *ctx, struct sched_msg *msg))
{
	struct fleet_writes *f = xmalloc_zero(1, sizeof(*f));

	f->pool = object_write_pool(base, "preemption-token", POOL_SLOTS, post, &f->target);
	return f;
}

void fleet_writes_destroy(struct fleet_writes *f)
{
	if (f != NULL) {
		pool_destroy(f->pool);
		free(f);
	}
}

struct pool *fleet_writes_pool(struct fleet_writes *f)
{
	return f->pool;
}

/* A grant is decided from the whole object: it is for this version of it. */
static void format_grant(const struct api_workload *local, const char *text, struct strbuf *out)
{
	struct field_pair annotation = { TOKEN_ANNOTATION, text };
	struct api_workload patch;

	decode_init(&kueue_workload_fields, &patch);
	patch.meta.uid = local->meta.uid;
	patch.meta.resource_version = local->meta.resource_version;
	patch.meta.annotations = (struct field_map){ &annotation, 1 };
	encode_text(&kueue_workload_fields, &patch, out);
}

/* A token that comes free has to be the one that was read, and nothing else: the core writes the
 * admission, which often ends it, in the same moment. */
static void format_end(const struct api_workload *local, const char *text, struct strbuf *out)
{
	const char *old = field_map_get(&local->meta.annotations, TOKEN_ANNOTATION);
	struct json_out o;

	patch_begin(&o, out);
	patch_test_str(&o, "/metadata/uid", NULL, str_of(local->meta.uid));
	patch_test_str(&o, "/metadata/annotations", TOKEN_ANNOTATION, str_of(old));
	patch_add_str(&o, "/metadata/annotations", TOKEN_ANNOTATION, str_of(text));
	patch_end(&o);
}

void fleet_writes_token(struct fleet_writes *f, struct fleet_workload *w, const struct token *t)
{
	const struct api_workload *local = fleet_workload_local(w);
	bool ends = t->phase == TOKEN_FREE &&
		    field_map_get(&local->meta.annotations, TOKEN_ANNOTATION) != NULL;
	CLEANUP(strbuf_finish)
	struct strbuf path = STRBUF_INIT, text = STRBUF_INIT, body = STRBUF_INIT;
	struct object_write_spec spec = { .request = SCHED_REQ_PREEMPTION_TOKEN,
					  .resource = SCHED_WORKLOADS,
					  .method = HTTP_PATCH,
					  .key = str_of(w->key),
					  .content_type = ends ? "application/json-patch+json"
							       : "application/merge-patch+json",
					  .names_version = true };

	token_format(t, &text);
	if (ends) {
		format_end(local, text.p, &body);
	} else {
		format_grant(local, text.p, &body);
	}
	sched_kinds_key_path(SCHED_WORKLOADS, str_of(w->key), NULL, &path);
	strbuf_add_c(&path, "?fieldManager=" FLEET_NAME);
	spec.path = path.p;
	spec.body = strbuf_str(&body);
	w->token_in_flight = true;
	w->token_sent = w->local->resource_version;
	pool_add(f->pool, spec.key, object_write_new(&spec));
}

void fleet_writes_gate(struct link *l, const struct fleet_workload *w, struct fleet_replica *r,
		       bool open, int64_t now)
{
	struct variant *v = !open && r->stray != NULL ? r->stray : r->target;
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT, body = STRBUF_INIT;
	const struct api_meta replica = { .name = strchr(v->key, '/') + 1,
					  .namespace_ = fleet_workload_local(w)->meta.namespace_,
					  .uid = v->uid,
					  .resource_version = v->version };
	struct object_write_spec spec = { .request = SCHED_REQ_PREEMPTION_GATE,
					  .resource = SCHED_WORKLOADS,
					  .method = HTTP_PATCH,
					  .key = str_of(w->key),
					  .about = str_of(v->uid),
					  .content_type = "application/apply-patch+yaml",
					  .names_version = true };

	gate_write_format(&replica, KUEUE_GATE_MULTIKUEUE, open, link_gate_fields(l), now, &body);
	sched_kinds_key_path(SCHED_WORKLOADS, str_of(v->key), "status", &path);
	strbuf_add_c(&path, "?fieldManager=" GATE_WRITE_FIELD_MANAGER "&force=true");
	spec.path = path.p;
	spec.body = strbuf_str(&body);
	r->in_flight = true;
	r->opens = open;
	r->sent = v->version_n;
	free(r->sent_to);
	r->sent_to = xmalloc_dup(v->uid);
	v->tried += v->tried_epoch != w->token.epoch ? 1 : 0;
	v->tried_epoch = w->token.epoch;
	pool_add(link_pool(l), spec.key, object_write_new(&spec));
}

/* The version of its object that shows how a write ended: the one that it made; after the answer
 * that the object had changed before, any later one than was known. */
static int64_t shown_by(const struct sched_msg *m, int64_t known)
{
	return m->outcome == SCHED_DONE    ? m->resource_version
	       : m->outcome == SCHED_STALE ? known + 1
					   : 0;
}

void fleet_writes_token_done(struct fleet_workload *w, const struct sched_msg *m, int64_t now)
{
	w->token_in_flight = false;
	w->token_written = shown_by(m, w->token_sent);
	w->token_pause_until = m->outcome == SCHED_REJECTED ? now + REFUSED_PAUSE_NS : 0;
}

/* Refused, or accepted without effect: an API server drops fields that its definition of Workloads
 * does not have. In neither case does a repetition change anything. */
static bool is_refused(const struct fleet_replica *r, const struct sched_msg *m)
{
	return m->outcome == SCHED_REJECTED ||
	       (m->outcome == SCHED_DONE && m->resource_version == r->sent);
}

void fleet_writes_gate_done(struct fleet_replica *r, const struct sched_msg *m, int64_t now)
{
	struct variant *v = fleet_workload_sent_to(r);
	bool refused = is_refused(r, m);

	if (r->sent_to != NULL && !str_streq(m->about, r->sent_to)) {
		return; /* of a write to a variant that is gone; another one is under way */
	}
	r->in_flight = false;
	if (v == NULL) {
		return;
	}
	r->written = shown_by(m, r->sent);
	r->pause_until = refused ? now + REFUSED_PAUSE_NS : 0;
	if (refused && r->opens) {
		v->refused++;
		observe_refused(&r->seen);
	}
}

bool fleet_writes_is_paused(int64_t until, int64_t now)
{
	return until > now && until - now <= REFUSED_PAUSE_NS;
}
