#include "unit/scheduler/workloads/owners/job_fixture.h"

#include "lib/unit.h"

#include "api/kueue/kueue.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "lib/decode_fixture.h"

static const char * or (const char *text, const char *otherwise)
{
	return text == NULL ? otherwise : text;
}

/* ",members" when there are some. */
static void more(struct strbuf *b, const char *members)
{
	if (members != NULL && members[0] != '\0') {
		strbuf_printf(b, ",%s", members);
	}
}

static void add_template(struct strbuf *b, const char *meta, const char *spec)
{
	strbuf_printf(b,
		      "'template':{'metadata':{%s},'spec':{'containers':[{'name':'c',"
		      "'image':'busybox','resources':{'requests':{'cpu':'1'}}}],"
		      "'restartPolicy':'Never'",
		      or (meta, ""));
	more(b, spec);
	strbuf_add_c(b, "}}");
}

void job_fixture_job(const struct job_fixture *f, struct api_job *ret)
{
	CLEANUP(strbuf_finish) struct strbuf b = STRBUF_INIT;

	strbuf_add_c(&b, "{'apiVersion':'batch/v1','kind':'Job','metadata':{'namespace':'ns',"
			 "'name':'j','uid':'j-1','resourceVersion':'5'");
	strbuf_printf(&b, ",'labels':{%s}", or (f->labels, "'kueue.x-k8s.io/queue-name':'lq'"));
	strbuf_printf(&b, ",'annotations':{%s}", or (f->annotations, ""));
	more(&b, f->meta);
	strbuf_printf(&b, "},'spec':{'parallelism':3,'completions':3,'suspend':%s,",
		      f->runs ? "false" : "true");
	add_template(&b, f->template_meta, f->template_spec);
	more(&b, f->spec);
	strbuf_printf(&b, "},'status':{%s}}", or (f->status, ""));
	decode_fixture(&batch_job_fields, b.p, ret);
}

void job_fixture_workload(const struct job_fixture_workload *f, struct api_workload *ret)
{
	CLEANUP(strbuf_finish) struct strbuf b = STRBUF_INIT;
	const char *owner = or (f->owner, "j-1");

	strbuf_printf(&b,
		      "{'metadata':{'namespace':'ns','name':'w','uid':'%s',"
		      "'resourceVersion':'7','generation':2",
		      or (f->uid, "w-1"));
	if (owner[0] != '\0') {
		strbuf_printf(&b,
			      ",'ownerReferences':[{'apiVersion':'batch/v1','kind':'Job',"
			      "'name':'j','uid':'%s','controller':true}]",
			      owner);
	}
	strbuf_printf(&b, ",'finalizers':[%s]",
		      f->no_finalizer ? "" : "'kueue.x-k8s.io/resource-in-use'");
	more(&b, f->meta);
	strbuf_printf(&b,
		      "},'spec':{'queueName':'lq','priority':0,'podSets':[{'name':'main',"
		      "'count':%d,",
		      f->count == 0 ? 3 : f->count);
	add_template(&b, NULL, f->template_spec);
	more(&b, f->podset);
	strbuf_add_c(&b, "}]");
	more(&b, f->spec);
	strbuf_printf(&b, "},'status':{%s}}", or (f->status, ""));
	decode_fixture(&kueue_workload_fields, b.p, ret);
}

static bool queue_class(void *ctx, const char *name, int32_t *ret)
{
	(void)ctx;
	if (!str_streq(name, "high")) {
		return false;
	}
	*ret = 10;
	return true;
}

static bool pod_class(void *ctx, const char *name, const char **ret_name, int32_t *ret)
{
	(void)ctx;
	if (!str_streq(name, "pods")) {
		return false;
	}
	*ret_name = "pods";
	*ret = 5;
	return true;
}

static const struct api_resource_flavor *find(void *ctx, const char *name)
{
	static struct api_resource_flavor rf;

	(void)ctx;
	decode_fixture(&kueue_resource_flavor_fields,
		       "{'metadata':{'name':'spot'},'spec':{'nodeLabels':{'type':'spot'},"
		       "'tolerations':[{'key':'spot','operator':'Exists',"
		       "'effect':'NoSchedule'}]}}",
		       &rf);
	return str_streq(name, "spot") ? &rf : NULL;
}

void job_fixture_env(struct owner_plan_env *ret)
{
	*ret = (struct owner_plan_env){ .classes = { NULL, queue_class, pod_class },
					.flavors = { NULL, find },
					.now = JOB_FIXTURE_NOW };
}

void job_fixture_expect_json(struct str have, const char *want)
{
	CLEANUP(jdoc_destroyp) struct jdoc *a = NULL;
	CLEANUP(jdoc_destroyp) struct jdoc *b = NULL;
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	assert_int_equal(jdoc_parse(have, &a, NULL), 0);
	strbuf_add_c(&text, want);
	for (size_t i = 0; i < text.len; i++) {
		text.p[i] = text.p[i] == '\'' ? '"' : text.p[i];
	}
	assert_int_equal(jdoc_parse(strbuf_str(&text), &b, NULL), 0);
	if (!jdoc_equal(a, b)) {
		print_message("have " STR_FMT "\nwant %s\n", STR_ARG(have), text.p);
	}
	assert_true(jdoc_equal(a, b));
}
