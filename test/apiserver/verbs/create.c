#include "apiserver/verbs/create.h"

#include <stdlib.h>
#include <string.h>

#include "apiserver/kstatus.h"
#include "apiserver/kubectl/table.h"
#include "apiserver/rules/admission.h"
#include "apiserver/rules/defaults.h"
#include "apiserver/rules/pods.h"
#include "apiserver/rules/validate.h"
#include "apiserver/server.h"
#include "apiserver/store/commit.h"
#include "apiserver/store/object.h"
#include "apiserver/verbs/body.h"
#include "apiserver/verbs/virtual.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"

#define GENERATED_TAIL 5
#define GENERATED_PREFIX_MAX 58

static void generate_name(struct call *c, struct jdoc *meta)
{
	static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
	const char *prefix = jdoc_str_or(jdoc_get(meta, "generateName"), "");
	CLEANUP(strbuf_finish) struct strbuf name = STRBUF_INIT;

	strbuf_add_c(&name, prefix);
	if (name.len > GENERATED_PREFIX_MAX) {
		strbuf_truncate(&name, GENERATED_PREFIX_MAX);
	}
	for (int i = 0; i < GENERATED_TAIL; i++) {
		strbuf_add_ch(&name, letters[rng_below(&c->s->rng, sizeof(letters) - 1)]);
	}
	jdoc_set_str(meta, "name", name.p);
}

static bool is_empty_text(const struct jdoc *d)
{
	return jdoc_str_or(d, "")[0] == '\0';
}

/* Namespaces must exist and live. */
static int check_namespace(struct call *c)
{
	struct resource *spaces =
		resource_find(&c->s->resources, STR_LIT(""), STR_LIT("v1"), STR_LIT("namespaces"));
	struct object *ns;

	if (!resource_is_namespaced(c->res)) {
		return 0;
	}
	ns = commit_find(spaces, (struct str){ NULL, 0 }, c->info.ns);
	if (ns == NULL) {
		return kstatus_not_found(c->resp, spaces, c->info.ns);
	}
	if (ns->terminating) {
		return kstatus_forbidden(c->resp, c->res, c->info.name,
					 "unable to create new content in namespace " STR_FMT
					 " because it is being terminated",
					 STR_ARG(c->info.ns));
	}
	return 0;
}

static int check_meta(struct call *c, struct jdoc *meta)
{
	if (!is_empty_text(jdoc_get(meta, "resourceVersion")) && !c->trusted) {
		return kstatus_fail(c->resp, 500, "",
				    "resourceVersion should not be set on objects to be created");
	}
	return 0;
}

/* Sets the fields that only the server sets; again after mutation, which may have changed them. */
static void fill_in(struct call *c, struct jdoc *doc)
{
	char text[CLOCK_RFC3339_MAX];
	char uid[37];
	struct jdoc *meta = jdoc_ensure_object(doc, "metadata");

	if (is_empty_text(jdoc_get(meta, "name")) &&
	    !is_empty_text(jdoc_get(meta, "generateName"))) {
		generate_name(c, meta);
	}
	rng_uuid(&c->s->rng, uid);
	clock_format_time(c->now, text);
	jdoc_set_str(meta, "uid", uid);
	jdoc_set_str(meta, "creationTimestamp", text);
	jdoc_remove(meta, "deletionTimestamp");
	jdoc_remove(meta, "deletionGracePeriodSeconds");
	jdoc_remove(meta, "selfLink");
	jdoc_remove(meta, "generation");
	if (!c->applying) {
		jdoc_remove(meta, "managedFields");
	}
	if ((c->res->flags & RESOURCE_GENERATION) != 0) {
		jdoc_set_int(meta, "generation", 1);
	}
	if (c->res->is_custom && (c->res->flags & RESOURCE_SUB_STATUS) != 0 && !c->trusted) {
		jdoc_remove(doc, "status");
	}
}

/* Defaults, mutation, what the server fills in, validation. *doc may be replaced. */
static int prepare(struct call *c, struct jdoc **doc)
{
	int r = defaults_apply(c, *doc);

	if (r < 0) {
		return r;
	}
	if (!c->trusted) {
		r = admission_mutate(c, ADMISSION_CREATE, NULL, doc);
		if (r < 0) {
			return r;
		}
		r = body_check_object(c, *doc);
		if (r == 0 && c->patched) {
			r = defaults_apply(c, *doc);
		}
		if (r < 0) {
			return r;
		}
	}
	fill_in(c, *doc);
	if ((c->res->flags & RESOURCE_POD) != 0) {
		pods_prepare_create(c, *doc);
	}
	r = validate_object(c, *doc, NULL);
	if (r == 0 && !c->trusted) {
		r = admission_validate(c, ADMISSION_CREATE, NULL, *doc);
	}
	return r;
}

static int store(struct call *c, struct jdoc **doc)
{
	struct str name = str_of(jdoc_path_str(*doc, "metadata.name"));
	struct object *o = commit_find(c->res, c->info.ns, name);

	if (o != NULL) {
		return kstatus_exists(c->resp, c->res, name);
	}
	if (c->info.dry_run) {
		object_normalise(doc, c->s->rv);
		jdoc_remove(jdoc_get_mut(*doc, "metadata"), "resourceVersion");
		jdoc_format(*doc, &c->resp->body);
	} else {
		o = commit_put(c->s, c->res, doc, c->now);
		table_format_one(c, o, &c->resp->body);
	}
	c->resp->status = 201;
	return 0;
}

int create_object(struct call *c, struct jdoc *doc_take)
{
	CLEANUP(jdoc_destroyp) struct jdoc *doc = doc_take;
	int r = check_namespace(c);

	c->creating = true;
	if (r == 0) {
		r = check_meta(c, jdoc_get_mut(doc, "metadata"));
	}
	if (r == 0) {
		r = prepare(c, &doc);
	}
	return r < 0 ? r : store(c, &doc);
}

int create_post(struct call *c)
{
	struct jdoc *doc = NULL;
	int r;

	if ((c->res->flags & RESOURCE_VIRTUAL) != 0) {
		return virtual_create(c);
	}
	r = body_parse_object(c, &doc);
	return r < 0 ? r : create_object(c, doc);
}
