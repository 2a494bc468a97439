#include "scheduler/pods/dump/dump_images.h"

#include "base/err.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "enc/json/json_out.h"
#include "scheduler/pods/dump/dump_fields.h"
#include "scheduler/pods/model/images.h"
#include "scheduler/pods/values/pod_class.h"

void dump_images_write(struct json_out *o, const struct cluster *c, const struct image *i)
{
	(void)c;
	json_out_kv(o, "name", i->name);
	json_out_key(o, "bytes");
	dump_fields_write_int(o, i->bytes);
}

int dump_images_read(struct cluster *c, const struct jdoc *d, struct err *err)
{
	struct str name = str_of(jdoc_str(jdoc_get(d, "name")));
	int64_t bytes = 0;

	if (name.len == 0 || name.len > IMAGES_NAME_MAX || images_find(c, name) != NULL) {
		return err_set(err, ERR_INVALID, "name: absent, too long or not unique");
	}
	if (dump_fields_read_int(jdoc_get(d, "bytes"), 0, IMAGES_BYTES_MAX, &bytes, err) < 0) {
		return err_wrap(err, "bytes");
	}
	images_add(c, name)->bytes = bytes;
	return 0;
}

void dump_images_write_class(struct json_out *o, const struct pod_class *k)
{
	if (k->nimages == 0) {
		return;
	}
	json_out_key(o, "images");
	json_out_array(o);
	for (size_t i = 0; i < k->nimages; i++) {
		json_out_object(o);
		json_out_kv(o, "name", k->images[i].name);
		json_out_kv_int(o, "times", k->images[i].times);
		json_out_object_end(o);
	}
	json_out_array_end(o);
	json_out_kv_int(o, "imageSources", k->image_sources);
}

#define TIMES_MAX (1 << 20) /* containers of one pod */

int dump_images_read_class(const struct cluster *c, const struct jdoc *d, struct pod_class *k,
			   struct err *err)
{
	const struct jdoc *list = jdoc_get(d, "images");
	int64_t sources = 0;

	if (list == NULL) {
		return 0;
	}
	if (jdoc_count(list) > POD_CLASS_IMAGES_MAX) {
		return err_set(err, ERR_INVALID, "images: too many");
	}
	k->images = xmalloc_zero(jdoc_count(list) + 1, sizeof(k->images[0]));
	for (const struct jdoc *row = jdoc_first(list); row != NULL; row = jdoc_next(row)) {
		struct pod_image *i = &k->images[k->nimages++];
		int64_t times = 0;

		i->name = jdoc_str(jdoc_get(row, "name"));
		if (i->name == NULL || images_find(c, str_of(i->name)) == NULL ||
		    dump_fields_read_int(jdoc_get(row, "times"), 1, TIMES_MAX, &times, err) < 0) {
			return err_set(err, ERR_INVALID, "images: without a known name or times");
		}
		i->times = (uint32_t)times;
	}
	if (dump_fields_read_int(jdoc_get(d, "imageSources"), 1, TIMES_MAX, &sources, err) < 0) {
		return err_wrap(err, "imageSources");
	}
	k->image_sources = (uint32_t)sources;
	return 0;
}

void dump_images_write_node(struct json_out *o, const struct node *n)
{
	if (n->images.n == 0) {
		return;
	}
	json_out_key(o, "images");
	json_out_array(o);
	for (size_t i = 0; i < n->images.n; i++) {
		json_out_int(o, n->images.v[i]);
	}
	json_out_array_end(o);
}

int dump_images_read_node(struct cluster *c, const struct jdoc *d, struct node *n, struct err *err)
{
	int64_t next = 0, id = 0;

	for (const struct jdoc *i = jdoc_first(jdoc_get(d, "images")); i != NULL;
	     i = jdoc_next(i)) {
		if (dump_fields_read_int(i, next, (int64_t)c->images.n - 1, &id, err) < 0 ||
		    c->images.v[id] == NULL) {
			return err_set(err, ERR_INVALID, "images: not ids in ascending order");
		}
		images_put(n, c->images.v[id]);
		next = id + 1;
	}
	return 0;
}
