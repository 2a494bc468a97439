#include "play/kube_mirror.h"

#include <stdlib.h>

#include "base/attrs.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "enc/json/cut.h"

static void on_event(void *ctx, const struct reflector_event *e)
{
	struct kube_mirror *m = ctx;

	pthread_mutex_lock(&m->lock);
	switch (e->kind) {
	case REFLECTOR_UPSERT:
		m->upserts++;
		strmap_set(m->versions, e->key,
			   xmalloc_printf("%lld", (long long)e->resource_version));
		break;
	case REFLECTOR_DELETE:
		m->deletes++;
		strmap_remove(m->versions, e->key);
		break;
	case REFLECTOR_SYNCED:
		m->synced++;
		break;
	case REFLECTOR_RELISTED:
		m->relisted++;
		break;
	case REFLECTOR_REFRESHED:
		break;
	}
	pthread_cond_signal(&m->changed);
	pthread_mutex_unlock(&m->lock);
}

void kube_mirror_start(struct kube_mirror *m, struct kube_fixture *f)
{
	const struct reflector_options opt = { .path = "/api/v1/configmaps",
					       .transport = f->transport,
					       .clock = clock_real(),
					       .on_event = on_event,
					       .ctx = m,
					       .seed = 1 };

	*m = (struct kube_mirror){ .f = f,
				   .lock = PTHREAD_MUTEX_INITIALIZER,
				   .changed = PTHREAD_COND_INITIALIZER };
	m->versions = strmap_create(free);
	m->reflector = reflector_create(&opt);
	reflector_start(m->reflector);
}

struct comparison {
	const struct strmap *versions;
	size_t objects;
	bool same;
};

static void compare(void *ctx, struct str text)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	struct comparison *c = ctx;
	struct cut_meta meta;
	const char *version;

	c->objects++;
	if (!cut_meta(text, &meta)) {
		abort();
	}
	strbuf_printf(&key, STR_FMT "/" STR_FMT, STR_ARG(meta.namespace_), STR_ARG(meta.name));
	version = strmap_get(c->versions, strbuf_str(&key));
	c->same = c->same && version != NULL && str_eq_c(meta.resource_version, version);
}

/* With the mirror's lock held. */
static bool is_converged(struct kube_mirror *m)
{
	struct comparison c = { .versions = m->versions, .same = true };

	apiserver_each(front_lock(m->f->front, NULL), "", "configmaps", compare, &c);
	front_unlock(m->f->front);
	return c.same && c.objects == strmap_count(m->versions) && m->synced > 0;
}

void kube_mirror_wait(struct kube_mirror *m)
{
	pthread_mutex_lock(&m->lock);
	while (!is_converged(m)) {
		kube_fixture_cond_wait(&m->changed, &m->lock);
	}
	pthread_mutex_unlock(&m->lock);
}

void kube_mirror_stop(struct kube_mirror *m)
{
	transport_destroy(m->f->transport);
	m->f->transport = NULL;
	reflector_destroy(m->reflector);
	strmap_destroy(m->versions);
	pthread_mutex_destroy(&m->lock);
	pthread_cond_destroy(&m->changed);
}
