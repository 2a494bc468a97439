#include "apiserver/kubectl/columns.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "apiserver/kubectl/jsonpath.h"
#include "apiserver/store/resource.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"

struct column {
	const char *name, *type;
	int priority;
	const char *path; /* dotted, or NULL with cell set */
	void (*cell)(const struct jdoc *doc, int64_t now, struct strbuf *out);
};

struct columns {
	const char *group, *plural;
	const struct column *v;
};

/* Go's duration.HumanDuration, as kubectl prints ages. */
static void human_age(int64_t ns, struct strbuf *out)
{
	int64_t s = ns / CLOCK_NS_PER_S;
	int64_t m = s / 60, h = m / 60, d = h / 24;

	if (s < 0) {
		strbuf_add_c(out, "0s");
	} else if (s < 120) {
		strbuf_printf(out, "%" PRId64 "s", s);
	} else if (m < 10 && s % 60 != 0) {
		strbuf_printf(out, "%" PRId64 "m%" PRId64 "s", m, s % 60);
	} else if (m < 180) {
		strbuf_printf(out, "%" PRId64 "m", m);
	} else if (h < 8 && m % 60 != 0) {
		strbuf_printf(out, "%" PRId64 "h%" PRId64 "m", h, m % 60);
	} else if (h < 48) {
		strbuf_printf(out, "%" PRId64 "h", h);
	} else if (d < 8 && h % 24 != 0) {
		strbuf_printf(out, "%" PRId64 "d%" PRId64 "h", d, h % 24);
	} else if (d < 730) {
		strbuf_printf(out, "%" PRId64 "d", d);
	} else {
		strbuf_printf(out, "%" PRId64 "y", d / 365);
	}
}

static void add_since(const char *text, int64_t now, struct strbuf *out)
{
	int64_t at;

	if (text == NULL || clock_parse_time(str_of(text), &at) < 0) {
		strbuf_add_c(out, "<unknown>");
		return;
	}
	human_age(now - at, out);
}

static void cell_age(const struct jdoc *doc, int64_t now, struct strbuf *out)
{
	add_since(jdoc_path_str(doc, "metadata.creationTimestamp"), now, out);
}

static void cell_last_seen(const struct jdoc *doc, int64_t now, struct strbuf *out)
{
	const char *at = jdoc_path_str(doc, "lastTimestamp");

	at = at != NULL ? at : jdoc_path_str(doc, "series.lastObservedTime");
	at = at != NULL ? at : jdoc_path_str(doc, "eventTime");
	at = at != NULL ? at : jdoc_path_str(doc, "deprecatedLastTimestamp");
	add_since(at != NULL ? at : jdoc_path_str(doc, "metadata.creationTimestamp"), now, out);
}

static void cell_ready(const struct jdoc *doc, int64_t now, struct strbuf *out)
{
	const struct jdoc *statuses = jdoc_path(doc, "status.containerStatuses");
	unsigned ready = 0;

	(void)now;
	for (const struct jdoc *s = jdoc_first(statuses); s != NULL; s = jdoc_next(s)) {
		ready += jdoc_bool(jdoc_get(s, "ready"), false);
	}
	strbuf_printf(out, "%u/%zu", ready, jdoc_count(jdoc_path(doc, "spec.containers")));
}

static const struct jdoc *condition(const struct jdoc *doc, const char *type)
{
	const struct jdoc *all = jdoc_path(doc, "status.conditions");

	for (const struct jdoc *c = jdoc_first(all); c != NULL; c = jdoc_next(c)) {
		if (jdoc_is_str(jdoc_get(c, "type"), type)) {
			return c;
		}
	}
	return NULL;
}

static void cell_pod_status(const struct jdoc *doc, int64_t now, struct strbuf *out)
{
	const struct jdoc *scheduled = condition(doc, "PodScheduled");
	const char *reason = jdoc_path_str(doc, "status.reason");

	(void)now;
	if (jdoc_path(doc, "metadata.deletionTimestamp") != NULL) {
		strbuf_add_c(out, "Terminating");
	} else if (jdoc_is_str(jdoc_get(scheduled, "reason"), "SchedulingGated")) {
		strbuf_add_c(out, "SchedulingGated");
	} else if (reason != NULL && reason[0] != '\0') {
		strbuf_add_c(out, reason);
	} else {
		strbuf_add_c(out, jdoc_str_or(jdoc_path(doc, "status.phase"), ""));
	}
}

static void cell_restarts(const struct jdoc *doc, int64_t now, struct strbuf *out)
{
	const struct jdoc *statuses = jdoc_path(doc, "status.containerStatuses");
	int64_t n = 0;

	(void)now;
	for (const struct jdoc *s = jdoc_first(statuses); s != NULL; s = jdoc_next(s)) {
		n += jdoc_int(jdoc_get(s, "restartCount"), 0);
	}
	strbuf_printf(out, "%" PRId64, n);
}

static void cell_gates(const struct jdoc *doc, int64_t now, struct strbuf *out)
{
	const struct jdoc *gates = jdoc_path(doc, "spec.schedulingGates");

	(void)now;
	for (const struct jdoc *g = jdoc_first(gates); g != NULL; g = jdoc_next(g)) {
		strbuf_printf(out, "%s%s", g == jdoc_first(gates) ? "" : ",",
			      jdoc_str_or(jdoc_get(g, "name"), ""));
	}
	if (jdoc_first(gates) == NULL) {
		strbuf_add_c(out, "<none>");
	}
}

static void cell_node_status(const struct jdoc *doc, int64_t now, struct strbuf *out)
{
	const struct jdoc *ready = condition(doc, "Ready");

	(void)now;
	if (ready == NULL) {
		strbuf_add_c(out, "Unknown");
	} else {
		strbuf_add_c(out,
			     jdoc_is_str(jdoc_get(ready, "status"), "True") ? "Ready" : "NotReady");
	}
	if (jdoc_bool(jdoc_path(doc, "spec.unschedulable"), false)) {
		strbuf_add_c(out, ",SchedulingDisabled");
	}
}

static void cell_node_roles(const struct jdoc *doc, int64_t now, struct strbuf *out)
{
	const struct jdoc *labels = jdoc_path(doc, "metadata.labels");
	bool any = false;

	(void)now;
	for (const struct jdoc *l = jdoc_first(labels); l != NULL; l = jdoc_next(l)) {
		if (str_has_prefix(str_of(jdoc_key(l)), "node-role.kubernetes.io/")) {
			strbuf_printf(out, "%s%s", any ? "," : "", strchr(jdoc_key(l), '/') + 1);
			any = true;
		}
	}
	if (!any) {
		strbuf_add_c(out, "<none>");
	}
}

static void cell_event_object(const struct jdoc *doc, int64_t now, struct strbuf *out)
{
	const struct jdoc *about = jdoc_get(doc, "involvedObject");

	(void)now;
	about = about != NULL ? about : jdoc_get(doc, "regarding");
	for (const char *p = jdoc_str_or(jdoc_get(about, "kind"), ""); *p != '\0'; p++) {
		strbuf_add_ch(out, (char)(*p >= 'A' && *p <= 'Z' ? *p + 32 : *p));
	}
	strbuf_printf(out, "/%s", jdoc_str_or(jdoc_get(about, "name"), ""));
}

static void cell_event_message(const struct jdoc *doc, int64_t now, struct strbuf *out)
{
	const char *note = jdoc_path_str(doc, "note");

	(void)now;
	strbuf_add_c(out, note != NULL ? note : jdoc_str_or(jdoc_get(doc, "message"), ""));
}

static void cell_count(const struct jdoc *doc, int64_t now, struct strbuf *out)
{
	(void)now;
	strbuf_printf(out, "%zu", jdoc_count(jdoc_get(doc, "data")));
}

static void cell_replicas(const struct jdoc *doc, int64_t now, struct strbuf *out)
{
	(void)now;
	strbuf_printf(out, "%" PRId64 "/%" PRId64,
		      jdoc_int(jdoc_path(doc, "status.readyReplicas"), 0),
		      jdoc_int(jdoc_path(doc, "spec.replicas"), 0));
}

static void cell_completions(const struct jdoc *doc, int64_t now, struct strbuf *out)
{
	(void)now;
	strbuf_printf(out, "%" PRId64 "/%" PRId64, jdoc_int(jdoc_path(doc, "status.succeeded"), 0),
		      jdoc_int(jdoc_path(doc, "spec.completions"), 1));
}

#define NAME_COLUMN                                                                                \
	{                                                                                          \
		"Name", "string", 0, "metadata.name", NULL                                         \
	}
#define AGE_COLUMN                                                                                 \
	{                                                                                          \
		"Age", "string", 0, NULL, cell_age                                                 \
	}
#define END_COLUMN                                                                                 \
	{                                                                                          \
		NULL, NULL, 0, NULL, NULL                                                          \
	}

static const struct column any_columns[] = { NAME_COLUMN, AGE_COLUMN, END_COLUMN };
static const struct column pod_columns[] = {
	NAME_COLUMN,
	{ "Ready", "string", 0, NULL, cell_ready },
	{ "Status", "string", 0, NULL, cell_pod_status },
	{ "Restarts", "string", 0, NULL, cell_restarts },
	AGE_COLUMN,
	{ "IP", "string", 1, "status.podIP", NULL },
	{ "Node", "string", 1, "spec.nodeName", NULL },
	{ "Nominated Node", "string", 1, "status.nominatedNodeName", NULL },
	{ "Scheduling Gates", "string", 1, NULL, cell_gates },
	END_COLUMN,
};
static const struct column node_columns[] = {
	NAME_COLUMN,
	{ "Status", "string", 0, NULL, cell_node_status },
	{ "Roles", "string", 0, NULL, cell_node_roles },
	AGE_COLUMN,
	{ "Version", "string", 0, "status.nodeInfo.kubeletVersion", NULL },
	END_COLUMN,
};
static const struct column namespace_columns[] = {
	NAME_COLUMN, { "Status", "string", 0, "status.phase", NULL }, AGE_COLUMN, END_COLUMN
};
static const struct column event_columns[] = {
	{ "Last Seen", "string", 0, NULL, cell_last_seen },
	{ "Type", "string", 0, "type", NULL },
	{ "Reason", "string", 0, "reason", NULL },
	{ "Object", "string", 0, NULL, cell_event_object },
	{ "Message", "string", 0, NULL, cell_event_message },
	{ "Name", "string", 1, "metadata.name", NULL },
	END_COLUMN,
};
static const struct column data_columns[] = {
	NAME_COLUMN, { "Data", "string", 0, NULL, cell_count }, AGE_COLUMN, END_COLUMN
};
static const struct column replica_columns[] = {
	NAME_COLUMN, { "Ready", "string", 0, NULL, cell_replicas }, AGE_COLUMN, END_COLUMN
};
static const struct column job_columns[] = {
	NAME_COLUMN, { "Completions", "string", 0, NULL, cell_completions }, AGE_COLUMN, END_COLUMN
};
static const struct column class_columns[] = {
	NAME_COLUMN,
	{ "Value", "integer", 0, "value", NULL },
	{ "Global-Default", "boolean", 0, "globalDefault", NULL },
	AGE_COLUMN,
	END_COLUMN,
};
static const struct column lease_columns[] = {
	NAME_COLUMN, { "Holder", "string", 0, "spec.holderIdentity", NULL }, AGE_COLUMN, END_COLUMN
};

static const struct columns built_in[] = {
	{ "", "pods", pod_columns },
	{ "", "nodes", node_columns },
	{ "", "namespaces", namespace_columns },
	{ "", "events", event_columns },
	{ "events.k8s.io", "events", event_columns },
	{ "", "configmaps", data_columns },
	{ "", "secrets", data_columns },
	{ "apps", "deployments", replica_columns },
	{ "apps", "replicasets", replica_columns },
	{ "apps", "statefulsets", replica_columns },
	{ "batch", "jobs", job_columns },
	{ "scheduling.k8s.io", "priorityclasses", class_columns },
	{ "coordination.k8s.io", "leases", lease_columns },
};

static const struct column *find_columns(const struct resource *res)
{
	for (size_t i = 0; i < ARRAY_LEN(built_in); i++) {
		if (str_streq(res->group, built_in[i].group) &&
		    str_streq(res->plural, built_in[i].plural)) {
			return built_in[i].v;
		}
	}
	return any_columns;
}

static void add_header(struct jdoc *arr, const char *name, const char *type, int64_t priority)
{
	struct jdoc *h = jdoc_append_take(arr, jdoc_new_object());

	jdoc_set_str(h, "name", name);
	jdoc_set_str(h, "type", type);
	jdoc_set_str(h, "format", str_streq(name, "Name") ? "name" : "");
	jdoc_set_str(h, "description", "");
	jdoc_set_int(h, "priority", priority);
}

struct jdoc *columns_headers(const struct resource *res)
{
	struct jdoc *arr = jdoc_new_array();

	if (res->columns == NULL) {
		for (const struct column *c = find_columns(res); c->name != NULL; c++) {
			add_header(arr, c->name, c->type, c->priority);
		}
		return arr;
	}
	add_header(arr, "Name", "string", 0);
	for (const struct jdoc *c = jdoc_first(res->columns); c != NULL; c = jdoc_next(c)) {
		add_header(arr, jdoc_str_or(jdoc_get(c, "name"), ""),
			   jdoc_str_or(jdoc_get(c, "type"), "string"),
			   jdoc_int(jdoc_get(c, "priority"), 0));
	}
	return arr;
}

static void add_custom_cell(struct jdoc *cells, const struct jdoc *column, const struct jdoc *doc,
			    int64_t now)
{
	const struct jdoc *v = jsonpath_get(doc, jdoc_str_or(jdoc_get(column, "jsonPath"), ""));

	if (v == NULL) {
		jdoc_append_take(cells, jdoc_new_null());
	} else if (jdoc_is_str(jdoc_get(column, "type"), "date")) {
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

		add_since(jdoc_str(v), now, &text);
		jdoc_append_take(cells, jdoc_new_str(text.p));
	} else if (jdoc_kind(v) == JDOC_OBJECT || jdoc_kind(v) == JDOC_ARRAY) {
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

		jdoc_format(v, &text);
		jdoc_append_take(cells, jdoc_new_str(text.p));
	} else {
		jdoc_append_take(cells, jdoc_copy(v));
	}
}

struct jdoc *columns_cells(const struct resource *res, const struct jdoc *doc, int64_t now)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct jdoc *cells = jdoc_new_array();

	if (res->columns != NULL) {
		jdoc_append_take(cells,
				 jdoc_new_str(jdoc_str_or(jdoc_path(doc, "metadata.name"), "")));
		for (const struct jdoc *c = jdoc_first(res->columns); c != NULL; c = jdoc_next(c)) {
			add_custom_cell(cells, c, doc, now);
		}
		return cells;
	}
	for (const struct column *c = find_columns(res); c->name != NULL; c++) {
		strbuf_reset(&text);
		if (c->cell != NULL) {
			c->cell(doc, now, &text);
			jdoc_append_take(cells, jdoc_new_str(text.p));
		} else {
			const struct jdoc *v = jdoc_path(doc, c->path);

			jdoc_append_take(cells, v != NULL ? jdoc_copy(v) : jdoc_new_str("<none>"));
		}
	}
	return cells;
}
