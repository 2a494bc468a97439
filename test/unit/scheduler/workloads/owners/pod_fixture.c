#include "unit/scheduler/workloads/owners/pod_fixture.h"

#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "lib/decode_fixture.h"

#define CONTAINERS                                                                                 \
	"'containers':[{'name':'c','image':'busybox','resources':{'requests':{'cpu':'1'}}}]"

static bool has(struct str letters, char c)
{
	return memchr(letters.p, c, letters.len) != NULL;
}

static void add_meta(struct strbuf *b, const struct pod_fixture *f, struct str name,
		     struct str letters, size_t i)
{
	strbuf_printf(b,
		      "{'metadata':{'namespace':'ns','name':'" STR_FMT "','uid':'u-" STR_FMT
		      "','resourceVersion':'%zu','creationTimestamp':'2026-01-01T00:00:%02zuZ'",
		      STR_ARG(name), STR_ARG(name), 10 + i, i);
	if (!has(letters, 'x')) {
		strbuf_add_c(b, ",'finalizers':['other','kueue.x-k8s.io/managed']");
	}
	if (has(letters, 'd')) {
		strbuf_add_c(b, ",'deletionTimestamp':'2026-01-01T01:00:00Z'");
	}
	strbuf_printf(b, ",'labels':{'kueue.x-k8s.io/managed':'true'%s",
		      f->labels == NULL ? ",'kueue.x-k8s.io/queue-name':'lq'" : f->labels);
	if (f->total != NULL) {
		strbuf_add_c(b, ",'kueue.x-k8s.io/pod-group-name':'g'");
	}
	strbuf_printf(b, "},'annotations':{'kueue.x-k8s.io/role-hash':'r%d'",
		      has(letters, '2') ? 2 : 1);
	if (f->total != NULL) {
		strbuf_printf(b, ",'kueue.x-k8s.io/pod-group-total-count':'%s'",
			      has(letters, 'o') ? "9" : f->total);
	}
	strbuf_printf(b, "%s}}", f->annotations == NULL ? "" : f->annotations);
}

static void add_status(struct strbuf *b, struct str letters)
{
	const char *phase = has(letters, 'R')   ? "Running"
			    : has(letters, 'S') ? "Succeeded"
			    : has(letters, 'F') ? "Failed"
						: "Pending";

	strbuf_printf(b, ",'status':{'phase':'%s','message':'m','conditions':[", phase);
	if (has(letters, 'R')) {
		strbuf_add_c(b, "{'type':'Ready','status':'True'}");
	}
	if (has(letters, 't')) {
		strbuf_printf(b, "%s{'type':'TerminationTarget','status':'True'}",
			      has(letters, 'R') ? "," : "");
	}
	strbuf_add_c(b, "]}}");
}

size_t pod_fixture_pods(const struct pod_fixture *f, const char *text, struct api_pod *ret)
{
	struct str rest = str_of(text);
	size_t n = 0;

	while (rest.len > 0) {
		CLEANUP(strbuf_finish) struct strbuf b = STRBUF_INIT;
		struct str letters = str_next(&rest, ' '), name = str_next(&letters, ':');

		assert_true(n < POD_FIXTURE_MAX);
		add_meta(&b, f, name, letters, n);
		strbuf_add_c(&b, ",'spec':{" CONTAINERS);
		if (has(letters, 'G')) {
			strbuf_add_c(&b, ",'schedulingGates':[{'name':'other'},"
					 "{'name':'kueue.x-k8s.io/admission'}]");
		} else if (!has(letters, 'P')) {
			strbuf_add_c(&b, ",'nodeName':'n'");
		}
		strbuf_printf(&b, "%s}", f->spec == NULL ? "" : f->spec);
		add_status(&b, letters);
		decode_fixture(&pod_fields, b.p, &ret[n++]);
	}
	return n;
}

static void add_owners(struct strbuf *b, const char *names)
{
	struct str rest = str_of(names);
	const char *separator = "";

	if (names == NULL) {
		strbuf_add_c(b, "{'apiVersion':'v1','kind':'Pod','name':'a','uid':'u-a',"
				"'controller':true}");
		return;
	}
	while (rest.len > 0) {
		struct str name = str_next(&rest, ' ');

		strbuf_printf(b,
			      "%s{'apiVersion':'v1','kind':'Pod','name':'" STR_FMT
			      "','uid':'u-" STR_FMT "'}",
			      separator, STR_ARG(name), STR_ARG(name));
		separator = ",";
	}
}

void pod_fixture_workload(const struct pod_fixture_workload *f, struct api_workload *ret)
{
	CLEANUP(strbuf_finish) struct strbuf b = STRBUF_INIT;
	struct str rest = str_of(f->podsets == NULL ? "main:1" : f->podsets);
	const char *separator = "";

	strbuf_add_c(&b, "{'metadata':{'namespace':'ns','name':'g','uid':'w-1','resourceVersion':"
			 "'7','generation':2,'ownerReferences':[");
	add_owners(&b, f->owners);
	strbuf_printf(
		&b, "],'finalizers':['kueue.x-k8s.io/resource-in-use'],'annotations':{%s}%s}",
		f->podsets == NULL || f->foreign ? "" : "'kueue.x-k8s.io/is-group-workload':'true'",
		f->meta == NULL ? "" : f->meta);
	strbuf_add_c(&b, ",'spec':{'queueName':'lq','priority':0,'podSets':[");
	while (rest.len > 0) {
		struct str count = str_next(&rest, ' '), name = str_next(&count, ':');

		strbuf_printf(&b,
			      "%s{'name':'" STR_FMT "','count':" STR_FMT
			      ",'template':{'spec':{" CONTAINERS "}}}",
			      separator, STR_ARG(name), STR_ARG(count));
		separator = ",";
	}
	strbuf_printf(&b, "]},'status':{%s}}", f->status == NULL ? "" : f->status);
	decode_fixture(&kueue_workload_fields, b.p, ret);
}
