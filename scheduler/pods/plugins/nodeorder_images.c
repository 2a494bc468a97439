#include "scheduler/pods/plugins/nodeorder_images.h"

#include "base/arena.h"
#include "base/strbuf.h"
#include "scheduler/pods/model/images.h"
#include "scheduler/pods/values/pod_class.h"
#include "scheduler/pods/values/signature.h"

#define SCORE_MAX 100
#define MIB (INT64_C(1) << 20)
#define LEAST (23 * MIB)
#define MOST_OF_EACH (1000 * MIB)

/* Cut off for each image, as kube-scheduler does. */
static int64_t scaled(const struct image *i, size_t nodes)
{
	return (int64_t)((double)i->bytes * ((double)i->nodes / (double)nodes));
}

struct nodeorder_images nodeorder_images_judge(const struct cluster *c, const struct pod_class *k,
					       size_t nodes, struct arena *arena)
{
	struct nodeorder_images w = { .most = MOST_OF_EACH * k->image_sources };
	int64_t sum = 0;

	w.v = arena_alloc(arena, (k->nimages + 1) * sizeof(*w.v));
	for (size_t i = 0; i < k->nimages; i++) {
		const struct image *image = c->images.v[k->images[i].id];
		int64_t bytes = image->nodes == 0 ? 0 : scaled(image, nodes) * k->images[i].times;

		if (bytes > 0) {
			w.v[w.n++] = (struct nodeorder_image){ image->id, bytes };
			sum += bytes;
		}
	}
	/* Most images are on few nodes, or on none: pods with those are like pods without. */
	w.n = sum <= LEAST ? 0 : w.n;
	return w;
}

int64_t nodeorder_images_score(const struct nodeorder_images *w, const struct node *n)
{
	int64_t sum = 0;

	for (size_t i = 0; i < w->n; i++) {
		sum += images_is_on(n, w->v[i].id) ? w->v[i].bytes : 0;
	}
	if (sum <= LEAST) {
		return 0;
	}
	sum = sum < w->most ? sum : w->most;
	return SCORE_MAX * (sum - LEAST) / (w->most - LEAST);
}

void nodeorder_images_format(const struct nodeorder_images *w, struct strbuf *out)
{
	for (size_t i = 0; i < w->n; i++) {
		strbuf_add_ch(out, 'i');
		signature_put_int(out, w->v[i].id);
		strbuf_add_ch(out, '=');
		signature_put_int(out, w->v[i].bytes);
	}
	if (w->n > 0) {
		strbuf_add_ch(out, '/');
		signature_put_int(out, w->most);
	}
}
