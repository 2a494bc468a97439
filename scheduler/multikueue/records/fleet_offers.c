#include "scheduler/multikueue/records/fleet_offers.h"

#include <stdlib.h>

#include "api/kueue/kueue.h"
#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "api/kueue/multikueue.h"
#include "base/attrs.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "scheduler/base/message.h"

struct fleet_offers {
	struct strmap *checks, *configs; /* struct sched_msg with the object, by name */
};

static void free_message(void *value)
{
	message_free(value);
}

struct fleet_offers *fleet_offers_create(void)
{
	struct fleet_offers *o = xmalloc_zero(1, sizeof(*o));

	o->checks = strmap_create(free_message);
	o->configs = strmap_create(free_message);
	return o;
}

void fleet_offers_destroy(struct fleet_offers *o)
{
	if (o != NULL) {
		strmap_destroy(o->checks);
		strmap_destroy(o->configs);
		free(o);
	}
}

bool fleet_offers_handle(struct fleet_offers *o, struct sched_msg *m)
{
	struct strmap *map = m->resource == SCHED_ADMISSION_CHECKS     ? o->checks
			     : m->resource == SCHED_MULTIKUEUE_CONFIGS ? o->configs
								       : NULL;

	if (map == NULL) {
		return false;
	}
	if (m->kind == SCHED_MSG_DELETE) {
		return strmap_remove(map, m->key);
	}
	if (m->kind != SCHED_MSG_UPSERT) {
		return false;
	}
	strmap_set(map, m->key, message_ref(m));
	return true;
}

/* NULL: no check of this name, or one of another controller. */
static const struct api_admission_check *find_check(const struct fleet_offers *o, const char *name)
{
	const struct sched_msg *m = name == NULL ? NULL : strmap_get(o->checks, str_of(name));
	const struct api_admission_check *check = m == NULL ? NULL : m->object;

	return check != NULL && str_streq(check->spec.controller_name, FLEET_OFFERS_CONTROLLER)
		       ? check
		       : NULL;
}

const struct api_check_state *fleet_offers_check(const struct fleet_offers *o,
						 const struct api_workload *w)
{
	for (size_t i = 0; i < w->status.admission_checks.n; i++) {
		const struct api_check_state *s = &w->status.admission_checks.v[i];

		if (find_check(o, s->name) != NULL) {
			return s;
		}
	}
	return NULL;
}

struct each {
	void (*fn)(void *ctx, const struct api_admission_check *check);
	void *ctx;
};

static bool give_check(struct str key UNUSED, void *value, void *ctx)
{
	const struct sched_msg *m = value;
	const struct api_admission_check *check = m->object;
	const struct each *e = ctx;

	if (str_streq(check->spec.controller_name, FLEET_OFFERS_CONTROLLER)) {
		e->fn(e->ctx, check);
	}
	return true;
}

void fleet_offers_each(const struct fleet_offers *o,
		       void (*fn)(void *ctx, const struct api_admission_check *check), void *ctx)
{
	struct each e = { fn, ctx };

	strmap_each(o->checks, give_check, &e);
}

const struct field_strs *fleet_offers_config(const struct fleet_offers *o, const char *name)
{
	const struct sched_msg *m = strmap_get(o->configs, str_of(name));
	const struct api_multikueue_config *config = m == NULL ? NULL : m->object;

	return config == NULL ? NULL : &config->spec.clusters;
}

const struct field_strs *fleet_offers_clusters(const struct fleet_offers *o, const char *check)
{
	const struct api_admission_check *c = find_check(o, check);
	const struct api_check_parameters *p = c == NULL ? NULL : c->spec.parameters;

	if (p == NULL || p->name == NULL || !str_streq(p->api_group, KUEUE_GROUP) ||
	    !str_streq(p->kind, "MultiKueueConfig")) {
		return NULL;
	}
	return fleet_offers_config(o, p->name);
}
