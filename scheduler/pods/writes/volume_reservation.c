#include "scheduler/pods/writes/volume_reservation.h"

#include "api/storage/storage.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "enc/json/json_out.h"
#include "kube/rest.h"
#include "scheduler/pods/model/model.h"
#include "scheduler/pods/writes/pod_write.h"

enum { CLAIM_UID, VERSION, CLAIM_NAMESPACE, CLAIM_NAME }; /* texts */

static void write_claim_ref(const struct pod_write *w, struct json_out *o)
{
	json_out_key(o, "spec");
	json_out_object(o);
	json_out_key(o, "claimRef");
	json_out_object(o);
	json_out_kv(o, "apiVersion", "v1");
	json_out_kv(o, "kind", "PersistentVolumeClaim");
	json_out_kv(o, "namespace", w->texts[CLAIM_NAMESPACE]);
	json_out_kv(o, "name", w->texts[CLAIM_NAME]);
	json_out_kv(o, "uid", w->texts[CLAIM_UID]);
	json_out_object_end(o);
	json_out_object_end(o);
}

/* The annotation lets Kubernetes take the claimRef off again when the claim is bound elsewhere. */
static void volume_reservation_fill(const struct pod_write *w, struct http_call *call,
				    struct strbuf *scratch)
{
	struct json_out o;
	size_t body;

	sched_kinds_path(SCHED_VOLUMES, NULL, w->name, NULL, scratch);
	strbuf_add_ch(scratch, '\0');
	body = scratch->len;
	json_out_init(&o, scratch);
	json_out_object(&o);
	pod_write_put_metadata(w, w->texts[VERSION], STORAGE_BOUND_BY_CONTROLLER, "yes", &o);
	write_claim_ref(w, &o);
	json_out_object_end(&o);
	json_out_end(&o);
	rest_fill(call, scratch, body, HTTP_PATCH, "application/merge-patch+json");
}

static enum pod_write_judgement volume_reservation_judge(const struct pod_write *w,
							 const struct jdoc *volume)
{
	return pod_write_judge_version(
		volume, jdoc_is_str(jdoc_path(volume, "spec.claimRef.uid"), w->texts[CLAIM_UID]),
		w->texts[VERSION]);
}

static const struct pod_write_kind volume_reservation_kind = {
	.request = SCHED_REQ_VOLUME,
	.resource = SCHED_VOLUMES,
	.fill = volume_reservation_fill,
	.judge = volume_reservation_judge,
	/* The patch may be repeated: the version in it makes it a conflict then. */
	.read_after_unknown = false,
};

struct pod_write *volume_reservation_new(const struct volume *v, const struct claim *cl)
{
	struct str name = str_of(cl->key), space = str_next(&name, '/');
	struct pod_write *w = pod_write_new_for(&volume_reservation_kind, (struct str){ .p = NULL },
						str_of(v->name), v->uid == NULL ? "" : v->uid);

	w->texts[CLAIM_UID] = xmalloc_dup(cl->uid == NULL ? "" : cl->uid);
	w->texts[VERSION] = xmalloc_printf("%lld", (long long)v->resource_version);
	w->texts[CLAIM_NAMESPACE] = xmalloc_dup_n(space.p, space.len);
	w->texts[CLAIM_NAME] = xmalloc_dup_n(name.p, name.len);
	return w;
}
