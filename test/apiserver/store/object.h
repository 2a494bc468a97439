/* test/apiserver/store/object.h: one stored version of an API object: its serialised text, which
 * LIST and WATCH copy without looking inside, and the few values that selectors and indices need.
 * Immutable after creation, shared by reference count. Owner: the API server's one thread (or the
 * mutex around it). */
#ifndef TEST_APISERVER_STORE_OBJECT_H
#define TEST_APISERVER_STORE_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

#define OBJECT_MAX_FIELDS 12

struct jdoc;
struct strbuf;

struct object {
	unsigned refs;
	int64_t rv;
	struct str text;               /* JSON, apiVersion, kind and metadata first */
	size_t meta_at;                /* where the text names "metadata" */
	size_t rv_at, rv_len;          /* where the text holds resourceVersion's digits */
	struct str key, ns, name, uid; /* key: "ns/name", or "name" of cluster-scoped objects */
	bool terminating;              /* has a deletionTimestamp */
	bool has_finalizers;
	unsigned n_labels, n_fields;
	const char *labels; /* key NUL value NUL ... */
	const char *fields; /* value NUL ... in the order of the resource's field names */
	char *blob;
	struct jdoc *doc; /* parsed by object_doc, NULL before */
};

/* Serialises doc; its metadata.resourceVersion must be rv already. fields: dotted paths ending
 * with NULL, at most OBJECT_MAX_FIELDS; absent ones read as "". One reference is the caller's. */
struct object *object_create(const struct jdoc *doc, int64_t rv, const char *const *fields);
struct object *object_ref(struct object *o);
void object_unref(struct object *o);               /* NULL is fine */
void object_unrefp(struct object **o);             /* for CLEANUP */
struct jdoc *object_parse(const struct object *o); /* a tree of its own; asserts that it parses */
/* The same tree at every call, borrowed from o: for what is looked at again and again. */
const struct jdoc *object_doc(struct object *o);
void object_keep_doc(struct object *o, struct jdoc *doc_take); /* that of which it was made */
void object_drop_doc(struct object *o);
/* Appends the text with another resourceVersion (deletions are sent with that of the event). */
void object_append_at(const struct object *o, int64_t rv, struct strbuf *out);
/* NULL when absent. */
const char *object_label(const struct object *o, struct str key);
const char *object_field(const struct object *o, unsigned i);
/* Moves apiVersion, kind and metadata to the front, and name, namespace, uid and resourceVersion to
 * the front of metadata; sets resourceVersion. Replaces *doc. */
void object_normalise(struct jdoc **doc, int64_t rv);

#endif
