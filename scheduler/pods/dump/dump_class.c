#include "scheduler/pods/dump/dump_class.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "enc/json/jdoc.h"
#include "scheduler/pods/dump/dump_fields.h"
#include "scheduler/pods/dump/dump_images.h"
#include "scheduler/pods/dump/dump_pod_terms.h"
#include "scheduler/pods/dump/dump_terms.h"
#include "scheduler/pods/dump/dump_text.h"
#include "scheduler/pods/dump/dump_volumes.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/model/images.h"
#include "scheduler/pods/model/selectors.h"
#include "scheduler/pods/model/volumes.h"

static int load_tolerations(struct cluster *c, const struct jdoc *d, struct pod_class *k,
			    struct err *err)
{
	k->tolerations = xmalloc_zero(jdoc_count(d) + 1, sizeof(k->tolerations[0]));
	for (const struct jdoc *row = jdoc_first(d); row != NULL; row = jdoc_next(row)) {
		struct toleration *t = &k->tolerations[k->ntolerations++];
		int64_t effect = 0;

		if (dump_text_read(c, jdoc_get(row, "key"), &t->key, err) < 0 ||
		    dump_text_read_needed(c, jdoc_get(row, "value"), &t->value, err) < 0 ||
		    dump_fields_read_int(jdoc_get(row, "effect"), 0, TAINT_NO_EXECUTE, &effect,
					 err) < 0) {
			return err_wrap(err, "tolerations");
		}
		t->exists = jdoc_bool(jdoc_get(row, "exists"), false);
		t->any_effect = jdoc_bool(jdoc_get(row, "anyEffect"), false);
		t->effect = (uint8_t)effect;
	}
	return 0;
}

static int load_ports(struct cluster *c, const struct jdoc *d, struct pod_class *k, struct err *err)
{
	k->ports = xmalloc_zero(jdoc_count(d) + 1, sizeof(k->ports[0]));
	for (const struct jdoc *row = jdoc_first(d); row != NULL; row = jdoc_next(row)) {
		struct host_port *p = &k->ports[k->nports++];
		int64_t protocol = 0, port = 0;

		if (dump_text_read_needed(c, jdoc_get(row, "ip"), &p->ip, err) < 0 ||
		    dump_fields_read_int(jdoc_get(row, "protocol"), 0, 2, &protocol, err) < 0 ||
		    dump_fields_read_int(jdoc_get(row, "port"), 0, UINT16_MAX, &port, err) < 0) {
			return err_wrap(err, "ports");
		}
		p->protocol = (uint8_t)protocol;
		p->port = (uint16_t)port;
	}
	return 0;
}

static int load_parts(struct cluster *c, const struct jdoc *d, struct pod_class *k, struct err *err)
{
	const struct jdoc *refusal = jdoc_get(d, "unsupported");

	k->has_required = jdoc_get(d, "required") != NULL;
	k->charged_to_workload = jdoc_bool(jdoc_get(d, "elsewhere"), false);
	if (refusal != NULL) {
		k->unsupported = pod_class_refusal(str_of(jdoc_str(refusal)));
		if (k->unsupported == NULL) {
			return err_set(err, ERR_INVALID, "unsupported: unknown text");
		}
	}
	if (dump_fields_read_res(d, "request", c->res, 0, &k->request, err) < 0 ||
	    dump_fields_read_unoffered(d, "unoffered", &k->unoffered, err) < 0 ||
	    dump_text_read_labels(c, jdoc_get(d, "selector"), &k->selector, &k->nselector, err) <
		    0 ||
	    dump_terms_read(c, jdoc_get(d, "required"), &k->required, &k->nrequired, err) < 0 ||
	    dump_terms_read(c, jdoc_get(d, "preferred"), &k->preferred, &k->npreferred, err) < 0 ||
	    dump_pod_terms_read(c, jdoc_get(d, "podTerms"), k, err) < 0 ||
	    load_tolerations(c, jdoc_get(d, "tolerations"), k, err) < 0 ||
	    dump_images_read_class(c, d, k, err) < 0) {
		return -ERR_INVALID;
	}
	return load_ports(c, jdoc_get(d, "ports"), k, err) < 0
		       ? -ERR_INVALID
		       : dump_volumes_read_class(c, d, k, err);
}

static void destroyp(struct pod_class **pk)
{
	pod_class_destroy(*pk);
}

int dump_class_load(struct cluster *c, const struct jdoc *d, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf signature = STRBUF_INIT;
	CLEANUP(destroyp) struct pod_class *k = xmalloc_zero(1, sizeof(*k));

	if (load_parts(c, d, k, err) < 0) {
		return -ERR_INVALID;
	}
	pod_class_normalise(k);
	pod_class_format(k, &signature);
	if (strmap_has(c->classes, strbuf_str(&signature))) {
		return err_set(err, ERR_INVALID, "a class is there twice");
	}
	k->signature = xmalloc_dup(signature.p);
	/* Not interned, since that would give out a reference: the tasks bring theirs. */
	k->id = (uint32_t)c->class_by_id.n;
	strmap_set(c->classes, strbuf_str(&signature), k);
	selectors_add_class(c, k);
	volumes_enter_class(c, k);
	images_enter_class(c, k);
	vec_push(&c->class_by_id, take_ptr(&k));
	return 0;
}
