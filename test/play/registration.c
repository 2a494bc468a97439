#include "play/registration.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "certs/ca.h"
#include "certs/leaf.h"
#include "enc/base64.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"
#include "kube/rest.h"
#include "process/file.h"

#define FOLDER "charts/headgate/files/"
#define URL_MARK "@WEBHOOK_URL@"
#define CA_MARK "@CA_BUNDLE@"
#define TIMEOUT "timeoutSeconds: 5\n"
#define PATIENT "timeoutSeconds: 30\n"
#define MAX_FILE (1u << 20)

static int write_pair(const char *dir, const char *name, const struct pair *p, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;
	int r;

	strbuf_printf(&path, "%s/%s.crt", dir, name);
	r = file_write_atomic(path.p, strbuf_str(&p->cert), 0644, err);
	if (r == 0) {
		strbuf_reset(&path);
		strbuf_printf(&path, "%s/%s.key", dir, name);
		r = file_write_atomic(path.p, strbuf_str(&p->key), 0600, err);
	}
	return r;
}

int registration_make_certificates(const char *dir, struct err *err)
{
	static const char *const dns[] = { "localhost" }, *const ip[] = { "127.0.0.1" };
	CLEANUP(pair_finish) struct pair ca = PAIR_INIT;
	CLEANUP(pair_finish) struct pair leaf = PAIR_INIT;
	char cert[PATH_MAX], key[PATH_MAX];
	int64_t now = clock_wall(clock_real());
	struct ca_options co = { .now_ns = now };
	struct leaf_options lo = {
		.ca = &ca, .dns = dns, .dns_count = 1, .ip = ip, .ip_count = 1, .now_ns = now
	};
	int r;

	snprintf(cert, sizeof(cert), "%s/ca.crt", dir);
	snprintf(key, sizeof(key), "%s/ca.key", dir);
	if (pair_read(cert, key, &ca, NULL) < 0) {
		pair_finish(&ca);
		r = ca_create(&co, &ca, err);
		if (r == 0) {
			r = write_pair(dir, "ca", &ca, err);
		}
		if (r < 0) {
			return r;
		}
	}
	r = leaf_create(&lo, &leaf, err);
	return r < 0 ? r : write_pair(dir, "tls", &leaf, err);
}

void registration_fill(struct str text, const char *url, struct str ca, struct strbuf *out)
{
	const char *p = text.p, *end = text.p + text.len;

	while (p < end) {
		if ((size_t)(end - p) >= strlen(URL_MARK) &&
		    memcmp(p, URL_MARK, strlen(URL_MARK)) == 0) {
			strbuf_add_c(out, url);
			p += strlen(URL_MARK);
		} else if ((size_t)(end - p) >= strlen(CA_MARK) &&
			   memcmp(p, CA_MARK, strlen(CA_MARK)) == 0) {
			strbuf_add_str(out, ca);
			p += strlen(CA_MARK);
		} else {
			strbuf_add_ch(out, *p++);
		}
	}
}

/* The chart's webhooks with a longer timeout: a busy machine is no reason to refuse. */
static void add_patient(struct str text, struct strbuf *out)
{
	const char *at = memmem(text.p, text.len, TIMEOUT, sizeof(TIMEOUT) - 1);

	for (; at != NULL; at = memmem(text.p, text.len, TIMEOUT, sizeof(TIMEOUT) - 1)) {
		size_t before = (size_t)(at - text.p), all = before + sizeof(TIMEOUT) - 1;

		strbuf_add(out, text.p, before);
		strbuf_add_c(out, PATIENT);
		text = (struct str){ text.p + all, text.len - all };
	}
	strbuf_add_str(out, text);
}

/* Appends one of the chart's files of registrations, filled. */
static int render_file(const char *source, const char *name, const char *url, struct str ca64,
		       struct strbuf *out, struct err *err)
{
	CLEANUP(strbuf_finish)
	struct strbuf path = STRBUF_INIT, text = STRBUF_INIT, patient = STRBUF_INIT;
	int r;

	strbuf_printf(&path, "%s/" FOLDER "%s", source, name);
	r = file_read_all(path.p, MAX_FILE, &text, err);
	if (r == 0) {
		add_patient(strbuf_str(&text), &patient);
		registration_fill(strbuf_str(&patient), url, ca64, out);
	}
	return r;
}

int registration_render(const char *source, const char *dir, uint16_t port, bool quota,
			struct strbuf *out, struct err *err)
{
	CLEANUP(strbuf_finish)
	struct strbuf path = STRBUF_INIT, ca = STRBUF_INIT, ca64 = STRBUF_INIT;
	char url[64];
	int r;

	strbuf_printf(&path, "%s/ca.crt", dir);
	r = file_read_all(path.p, MAX_FILE, &ca, err);
	if (r < 0) {
		return r;
	}
	base64_encode(strbuf_str(&ca), &ca64);
	snprintf(url, sizeof(url), "https://127.0.0.1:%u", port);
	r = render_file(source, "webhooks.yaml", url, strbuf_str(&ca64), out, err);
	if (r == 0 && quota) {
		strbuf_add_c(out, "\n---\n");
		r = render_file(source, "webhooks-quota.yaml", url, strbuf_str(&ca64), out, err);
	}
	return r;
}

void registration_drop(struct jdoc *registrations, const char *ending)
{
	for (size_t k = 0; k < jdoc_count(registrations); k++) {
		struct jdoc *hooks = jdoc_get_mut(jdoc_at_mut(registrations, k), "webhooks");

		for (size_t i = jdoc_count(hooks); i-- > 0;) {
			const char *url = jdoc_path_str(jdoc_at(hooks, i), "clientConfig.url");

			if (url != NULL && str_has_suffix(str_of(url), ending)) {
				jdoc_remove_at(hooks, i);
			}
		}
	}
}

/* Resources that manifests of tests use; the rest of the API is not needed. */
static const struct {
	const char *kind, *plural;
	bool cluster;
} kinds[] = {
	{ "Node", "nodes", true },
	{ "Namespace", "namespaces", true },
	{ "Queue", "queues", true },
	{ "PriorityClass", "priorityclasses", true },
	{ "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", true },
	{ "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", true },
	{ "CustomResourceDefinition", "customresourcedefinitions", true },
	{ "Pod", "pods", false },
	{ "PodGroup", "podgroups", false },
	{ "ReplicaSet", "replicasets", false },
	{ "Job", "jobs", false },
	{ "ConfigMap", "configmaps", false },
	{ "ResourceFlavor", "resourceflavors", true },
	{ "AdmissionCheck", "admissionchecks", true },
	{ "ClusterQueue", "clusterqueues", true },
	{ "Cohort", "cohorts", true },
	{ "LocalQueue", "localqueues", false },
	{ "WorkloadPriorityClass", "workloadpriorityclasses", true },
	{ "Workload", "workloads", false },
	{ "MultiKueueConfig", "multikueueconfigs", true },
	{ "MultiKueueCluster", "multikueueclusters", true },
	{ "Secret", "secrets", false },
};

int registration_path(const struct jdoc *object, struct strbuf *out, struct err *err)
{
	const char *api_version = jdoc_path_str(object, "apiVersion"),
		   *kind = jdoc_path_str(object, "kind");
	const char *namespace_ = jdoc_str_or(jdoc_path(object, "metadata.namespace"), "default");
	CLEANUP(xmalloc_freep) char *group = NULL;
	const char *slash;

	if (api_version == NULL || kind == NULL) {
		return err_set(err, ERR_INVALID, "an object without apiVersion or kind");
	}
	slash = strchr(api_version, '/');
	group = slash == NULL ? xmalloc_dup("")
			      : xmalloc_dup_n(api_version, (size_t)(slash - api_version));
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		if (str_streq(kinds[i].kind, kind)) {
			rest_path(out, group, slash == NULL ? api_version : slash + 1,
				  kinds[i].cluster ? NULL : namespace_, kinds[i].plural, NULL,
				  NULL);
			return 0;
		}
	}
	return err_set(err, ERR_INVALID, "%s: unknown kind", kind);
}
