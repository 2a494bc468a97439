#include "scheduler/pods/dump/dump_volumes.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "enc/json/jdoc.h"
#include "enc/json/json_out.h"
#include "scheduler/pods/dump/dump.h"
#include "scheduler/pods/dump/dump_fields.h"
#include "scheduler/pods/dump/dump_terms.h"
#include "scheduler/pods/dump/dump_text.h"
#include "scheduler/pods/model/storage_capacity.h"
#include "scheduler/pods/model/volume_limits.h"
#include "scheduler/pods/model/volumes.h"
#include "scheduler/pods/values/pod_class.h"

static void put_text(struct json_out *o, const char *key, const char *text)
{
	if (text != NULL) {
		json_out_kv(o, key, text);
	}
}

static void put_flag(struct json_out *o, const char *key, bool value)
{
	if (value) {
		json_out_kv_bool(o, key, true);
	}
}

static void put_form(struct json_out *o, const struct volume_form *form)
{
	json_out_key(o, "bytes");
	dump_fields_write_int(o, form->bytes);
	json_out_kv_int(o, "access", form->access);
	put_flag(o, "block", form->block);
	put_text(o, "attributes", form->attributes);
}

static void put_claim(struct json_out *o, const struct claim *cl)
{
	json_out_object(o);
	json_out_kv(o, "key", cl->key);
	put_text(o, "uid", cl->uid);
	put_text(o, "owner", cl->owner);
	put_text(o, "volume", cl->volume == NULL ? NULL : cl->volume->name);
	put_text(o, "class", cl->klass == NULL ? NULL : cl->klass->name);
	put_text(o, "selected", cl->selected);
	put_flag(o, "writing", cl->writing);
	put_flag(o, "bound", cl->bound);
	put_flag(o, "lost", cl->lost);
	put_flag(o, "deleting", cl->deleting);
	put_form(o, &cl->form);
	if (cl->selector != NULL) {
		dump_terms_write(o, "selector", cl->selector, 1);
	}
	put_text(o, "taken", cl->taken == NULL ? NULL : cl->taken->name);
	json_out_key(o, "rv");
	dump_fields_write_int(o, cl->resource_version);
	json_out_key(o, "written");
	dump_fields_write_int(o, cl->written);
	json_out_object_end(o);
}

static void put_claim_ref(struct json_out *o, const struct volume *v)
{
	put_text(o, "ref", v->ref == NULL ? NULL : v->ref->key);
	put_text(o, "refUID", v->ref_uid);
	put_flag(o, "writing", v->writing);
	json_out_key(o, "rv");
	dump_fields_write_int(o, v->resource_version);
	json_out_key(o, "written");
	dump_fields_write_int(o, v->written);
}

static void put_volume(struct json_out *o, const struct volume *v)
{
	json_out_object(o);
	json_out_kv(o, "name", v->name);
	put_text(o, "uid", v->uid);
	put_text(o, "driver", v->driver);
	if (v->restricted) {
		dump_terms_write(o, "affinity", v->affinity, v->naffinity);
	}
	if (v->nzones > 0) {
		dump_terms_write(o, "zones", v->zones, v->nzones);
	}
	put_text(o, "class", v->klass == NULL ? NULL : v->klass->name);
	put_form(o, &v->form);
	put_flag(o, "available", v->available);
	put_flag(o, "deleting", v->deleting);
	if (v->labels.n > 0) {
		dump_text_write_labels(o, "labels", v->labels.v, v->labels.n);
	}
	put_claim_ref(o, v);
	json_out_object_end(o);
}

static bool put_storage_class(struct str key, void *value, void *ctx)
{
	const struct storage_class *k = value;
	struct json_out *o = ctx;

	(void)key;
	if (k->exists) {
		json_out_object(o);
		json_out_kv(o, "name", k->name);
		put_text(o, "provisioner", k->provisioner);
		put_flag(o, "waits", k->waits);
		if (k->restricted) {
			dump_terms_write(o, "topologies", k->topologies, k->ntopologies);
		}
		json_out_object_end(o);
	}
	return true;
}

static bool put_driver(struct str key, void *value, void *ctx)
{
	(void)value;
	json_out_object(ctx);
	json_out_key(ctx, "name");
	json_out_slice(ctx, key);
	json_out_object_end(ctx);
	return true;
}

static bool put_capacity(struct str key, void *value, void *ctx)
{
	const struct storage_capacity *p = value;
	struct json_out *o = ctx;

	(void)key;
	json_out_object(o);
	json_out_kv(o, "key", p->key);
	json_out_kv(o, "class", p->klass->name);
	if (p->nodes != NULL) {
		dump_terms_write(o, "nodes", p->nodes, 1);
	}
	json_out_key(o, "bytes");
	dump_fields_write_int(o, p->bytes);
	json_out_object_end(o);
	return true;
}

static void put_capacities(struct json_out *o, const struct cluster *c)
{
	json_out_key(o, "capacityDrivers");
	json_out_array(o);
	strmap_each(c->capacity_drivers, put_driver, o);
	json_out_array_end(o);
	json_out_key(o, "storageCapacities");
	json_out_array(o);
	strmap_each(c->capacity_by_key, put_capacity, o);
	json_out_array_end(o);
}

void dump_volumes_write(struct json_out *o, const struct cluster *c)
{
	put_capacities(o, c);
	json_out_key(o, "storageClasses");
	json_out_array(o);
	strmap_each(c->storage_class_by_name, put_storage_class, o);
	json_out_array_end(o);
	json_out_key(o, "volumes");
	json_out_array(o);
	for (size_t i = 0; i < c->volumes.n; i++) {
		if (c->volumes.v[i] != NULL && c->volumes.v[i]->exists) {
			put_volume(o, c->volumes.v[i]);
		}
	}
	json_out_array_end(o);
	json_out_key(o, "claims");
	json_out_array(o);
	for (size_t i = 0; i < c->claims.n; i++) {
		if (c->claims.v[i] != NULL && c->claims.v[i]->exists) {
			put_claim(o, c->claims.v[i]);
		}
	}
	json_out_array_end(o);
}

void dump_volumes_write_class(struct json_out *o, const struct pod_class *k)
{
	if (k->nclaims == 0) {
		return;
	}
	json_out_kv(o, "claimsIn", k->claims_in);
	json_out_key(o, "claims");
	json_out_array(o);
	for (size_t i = 0; i < k->nclaims; i++) {
		json_out_object(o);
		json_out_kv(o, "name", k->claims[i].name);
		put_text(o, "owner", k->claims[i].owner);
		json_out_object_end(o);
	}
	json_out_array_end(o);
}

void dump_volumes_write_limits(struct json_out *o, const struct node *n)
{
	if (n->limits.n == 0) {
		return;
	}
	json_out_key(o, "volumeLimits");
	json_out_array(o);
	for (size_t i = 0; i < n->limits.n; i++) {
		json_out_object(o);
		json_out_kv(o, "driver", n->limits.v[i].driver);
		json_out_kv_int(o, "count", n->limits.v[i].count);
		json_out_object_end(o);
	}
	json_out_array_end(o);
}

/* --- back --------------------------------------------------------------------------------------
 */

static const char *text_of(const struct jdoc *d, const char *key)
{
	return jdoc_str(jdoc_get(d, key));
}

static bool flag_of(const struct jdoc *d, const char *key)
{
	return jdoc_bool(jdoc_get(d, key), false);
}

/* A member that is absent is 0. */
static int read_number(const struct jdoc *d, const char *key, int64_t max, int64_t *ret,
		       struct err *err)
{
	*ret = 0;
	if (jdoc_get(d, key) != NULL &&
	    dump_fields_read_int(jdoc_get(d, key), max == INT64_MAX ? INT64_MIN : 0, max, ret,
				 err) < 0) {
		return err_wrap(err, "%s", key);
	}
	return 0;
}

static int read_form(struct cluster *c, const struct jdoc *d, struct volume_form *form,
		     struct err *err)
{
	int64_t access;

	if (read_number(d, "bytes", INT64_MAX, &form->bytes, err) < 0 ||
	    read_number(d, "access", UINT8_MAX, &access, err) < 0) {
		return -ERR_INVALID;
	}
	form->access = (uint8_t)access;
	form->block = flag_of(d, "block");
	return dump_text_read(c, jdoc_get(d, "attributes"), &form->attributes, err);
}

/* The write of a volume for the claim that is on its way, or that is not seen yet. */
static int read_taken(struct cluster *c, struct claim *cl, const char *name, struct err *err)
{
	struct volume *v = name == NULL ? NULL : volumes_find_volume(c, str_of(name));
	bool writing;
	int64_t written;

	if (name == NULL) {
		return 0;
	}
	if (v == NULL || !v->exists || v->taker != NULL || cl->taken != NULL || cl->bound) {
		return err_set(err, ERR_INVALID, "taken: not a volume that the claim can get");
	}
	writing = v->writing;
	written = v->written;
	v->writing = false;
	volumes_take(cl, v);
	v->writing = writing;
	v->written = written;
	return 0;
}

static int read_claim(struct cluster *c, const struct jdoc *d, struct err *err)
{
	struct match_term *selector = NULL;
	size_t nselector = 0;
	struct volumes_claim_spec spec = {
		.key = str_of(text_of(d, "key")),
		.volume = str_of(text_of(d, "volume")),
		.klass = str_of(text_of(d, "class")),
		.uid = text_of(d, "uid"),
		.owner = text_of(d, "owner"),
		.selected = text_of(d, "selected"),
		.bound = flag_of(d, "bound"),
		.lost = flag_of(d, "lost"),
		.deleting = flag_of(d, "deleting"),
	};
	struct claim *cl;
	int64_t written;
	int r;

	if (spec.key.len == 0 || strchr(spec.key.p, '/') == NULL) {
		return err_set(err, ERR_INVALID, "key: not a namespace and a name");
	}
	/* A claim that is bound names its volume. */
	if (spec.bound && spec.volume.len == 0) {
		return err_set(err, ERR_INVALID, "volume: absent");
	}
	if (dump_fields_read_int(jdoc_get(d, "rv"), INT64_MIN, INT64_MAX, &spec.resource_version,
				 err) < 0) {
		return err_wrap(err, "rv");
	}
	if (read_number(d, "written", INT64_MAX, &written, err) < 0 ||
	    read_form(c, d, &spec.form, err) < 0) {
		return -ERR_INVALID;
	}
	r = dump_terms_read(c, jdoc_get(d, "selector"), &selector, &nselector, err);
	spec.selector = nselector == 1 ? selector : NULL;
	if (r == 0) {
		(void)volumes_set_claim(c, &spec);
	}
	match_terms_free(selector, nselector);
	if (r < 0) {
		return err_wrap(err, "selector");
	}
	cl = volumes_find_claim(c, spec.key);
	cl->writing = flag_of(d, "writing");
	cl->written = written;
	return read_taken(c, cl, text_of(d, "taken"), err);
}

/* Of members that need no list of their own. */
static int read_volume_plain(struct cluster *c, const struct jdoc *d,
			     struct volumes_volume_spec *spec, struct err *err)
{
	spec->klass = str_of(text_of(d, "class"));
	spec->available = flag_of(d, "available");
	spec->deleting = flag_of(d, "deleting");
	spec->uid = text_of(d, "uid");
	spec->ref = str_of(text_of(d, "ref"));
	spec->ref_uid = text_of(d, "refUID");
	if (spec->ref.p != NULL && strchr(spec->ref.p, '/') == NULL) {
		return err_set(err, ERR_INVALID, "ref: not a namespace and a name");
	}
	if (read_number(d, "rv", INT64_MAX, &spec->resource_version, err) < 0 ||
	    read_form(c, d, &spec->form, err) < 0) {
		return -ERR_INVALID;
	}
	return dump_text_read(c, jdoc_get(d, "driver"), &spec->driver, err);
}

static void add_volume(struct cluster *c, const struct jdoc *d,
		       const struct volumes_volume_spec *spec, int64_t written)
{
	struct volume *v;

	volumes_set_volume(c, spec);
	v = volumes_find_volume(c, spec->name);
	v->writing = flag_of(d, "writing");
	v->written = written;
}

static int read_volume(struct cluster *c, const struct jdoc *d, struct err *err)
{
	struct volumes_volume_spec spec = { .name = str_of(text_of(d, "name")),
					    .restricted = jdoc_get(d, "affinity") != NULL };
	struct label *labels = NULL;
	int64_t written;
	int r;

	if (spec.name.len == 0) {
		return err_set(err, ERR_INVALID, "name: absent");
	}
	r = dump_terms_read(c, jdoc_get(d, "affinity"), &spec.affinity, &spec.naffinity, err);
	if (r == 0) {
		r = dump_terms_read(c, jdoc_get(d, "zones"), &spec.zones, &spec.nzones, err);
	}
	if (r == 0) {
		r = dump_text_read_labels(c, jdoc_get(d, "labels"), &labels, &spec.nlabels, err);
	}
	if (r == 0) {
		r = read_volume_plain(c, d, &spec, err);
	}
	if (r == 0) {
		r = read_number(d, "written", INT64_MAX, &written, err);
	}
	if (r == 0) {
		spec.labels = labels;
		add_volume(c, d, &spec, written);
	}
	match_terms_free(spec.affinity, spec.naffinity);
	match_terms_free(spec.zones, spec.nzones);
	free(labels);
	return r;
}

static int read_storage_class(struct cluster *c, const struct jdoc *d, struct err *err)
{
	struct volumes_class_spec spec = { .name = str_of(text_of(d, "name")),
					   .waits = flag_of(d, "waits"),
					   .restricted = jdoc_get(d, "topologies") != NULL };
	int r;

	if (spec.name.len == 0) {
		return err_set(err, ERR_INVALID, "name: absent");
	}
	r = dump_terms_read(c, jdoc_get(d, "topologies"), &spec.topologies, &spec.ntopologies, err);
	if (r == 0) {
		r = dump_text_read(c, jdoc_get(d, "provisioner"), &spec.provisioner, err);
	}
	if (r == 0) {
		volumes_set_class(c, &spec);
	}
	match_terms_free(spec.topologies, spec.ntopologies);
	return r;
}

static int read_driver(struct cluster *c, const struct jdoc *d, struct err *err)
{
	struct str name = str_of(text_of(d, "name"));

	if (name.len == 0) {
		return err_set(err, ERR_INVALID, "name: absent");
	}
	(void)storage_capacity_set_driver(c, name, true);
	return 0;
}

static int read_capacity(struct cluster *c, const struct jdoc *d, struct err *err)
{
	struct storage_capacity_spec spec = { .key = str_of(text_of(d, "key")),
					      .klass = str_of(text_of(d, "class")) };
	struct match_term *nodes = NULL;
	size_t n = 0;
	int r;

	if (spec.key.len == 0 || spec.klass.len == 0) {
		return err_set(err, ERR_INVALID, "key or class: absent");
	}
	if (dump_fields_read_int(jdoc_get(d, "bytes"), -1, INT64_MAX, &spec.bytes, err) < 0) {
		return err_wrap(err, "bytes");
	}
	r = dump_terms_read(c, jdoc_get(d, "nodes"), &nodes, &n, err);
	if (r == 0) {
		spec.nodes = n == 1 ? nodes : NULL;
		(void)storage_capacity_set(c, &spec);
	}
	match_terms_free(nodes, n);
	return r < 0 ? err_wrap(err, "nodes") : 0;
}

int dump_volumes_read(struct cluster *c, const struct jdoc *doc, struct err *err)
{
	static const struct {
		const char *key;
		int (*read)(struct cluster *c, const struct jdoc *d, struct err *err);
	} lists[] = { { "capacityDrivers", read_driver },
		      { "storageCapacities", read_capacity },
		      { "storageClasses", read_storage_class },
		      { "volumes", read_volume },
		      { "claims", read_claim } };

	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		size_t n = 0;

		for (const struct jdoc *d = jdoc_first(jdoc_get(doc, lists[i].key)); d != NULL;
		     d = jdoc_next(d), n++) {
			if (n == DUMP_MAX_OBJECTS) {
				return err_set(err, ERR_INVALID, "%s: more than %u", lists[i].key,
					       DUMP_MAX_OBJECTS);
			}
			if (lists[i].read(c, d, err) < 0) {
				return err_wrap(err, "%s[%zu]", lists[i].key, n);
			}
		}
	}
	return 0;
}

int dump_volumes_read_class(struct cluster *c, const struct jdoc *d, struct pod_class *k,
			    struct err *err)
{
	const struct jdoc *list = jdoc_get(d, "claims");

	if (jdoc_count(list) == 0) {
		return 0;
	}
	if (jdoc_count(list) > POD_CLASS_CLAIMS_MAX ||
	    dump_text_read_needed(c, jdoc_get(d, "claimsIn"), &k->claims_in, err) < 0) {
		return err_set(err, ERR_INVALID, "claims: too many, or without claimsIn");
	}
	k->claims = xmalloc_zero(jdoc_count(list), sizeof(k->claims[0]));
	for (const struct jdoc *row = jdoc_first(list); row != NULL; row = jdoc_next(row)) {
		struct pod_claim *claim = &k->claims[k->nclaims++];

		if (dump_text_read_needed(c, jdoc_get(row, "name"), &claim->name, err) < 0 ||
		    dump_text_read(c, jdoc_get(row, "owner"), &claim->owner, err) < 0) {
			return err_wrap(err, "claims");
		}
	}
	return 0;
}

int dump_volumes_read_limits(struct cluster *c, const struct jdoc *d, struct node *n,
			     struct err *err)
{
	for (const struct jdoc *row = jdoc_first(jdoc_get(d, "volumeLimits")); row != NULL;
	     row = jdoc_next(row)) {
		struct volume_limit limit = { .driver = NULL };
		int64_t count = 0;

		if (dump_text_read_needed(c, jdoc_get(row, "driver"), &limit.driver, err) < 0 ||
		    dump_fields_read_int(jdoc_get(row, "count"), 0, UINT32_MAX, &count, err) < 0) {
			return err_wrap(err, "volumeLimits");
		}
		limit.count = (uint32_t)count;
		vec_push(&n->limits, limit);
	}
	volume_limits_sort(n->limits.v, n->limits.n);
	return 0;
}
