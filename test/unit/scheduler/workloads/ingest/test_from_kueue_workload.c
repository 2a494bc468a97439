#include "scheduler/workloads/ingest/from_kueue.h"

#include <stdio.h>
#include <string.h>

#include "api/kueue/kueue_workload.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "lib/decode_fixture.h"
#include "lib/unit.h"
#include "scheduler/workloads/status/workload_status.h"

struct fixture {
	struct quota_model *q;
	struct from_kueue_rules *rules;
	struct from_kueue_workload r;
	struct err err;
};

static void begin(struct fixture *f)
{
	*f = (struct fixture){ .q = quota_create(), .rules = from_kueue_rules_create(NULL) };
}

static void end(struct fixture *f)
{
	from_kueue_workload_finish(&f->r);
	quota_destroy(f->q);
	from_kueue_rules_destroy(f->rules);
}

static int read_text(struct fixture *f, const char *text)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(workload_status_finish) struct workload_status status = { .arena = arena };
	struct api_workload aw;

	from_kueue_workload_finish(&f->r);
	decode_fixture(&kueue_workload_fields, text, &aw);
	from_kueue_status(f->q, &aw, &status);
	return from_kueue_workload_read(f->q, f->rules, &aw, &status, &f->r, &f->err);
}

static void read_ok(struct fixture *f, const char *text)
{
	if (read_text(f, text) < 0) {
		fail_msg("%s", f->err.text);
	}
}

#define PODS(more)                                                                                 \
	"{" more "'template':{'spec':{'containers':[{'resources':{'requests':{'cpu':'1'}}}]}}}"
#define META "'metadata':{'name':'w','namespace':'ns'}"

static void test_defaults(void **state)
{
	struct fixture f;
	const struct podset *p;

	(void)state;
	begin(&f);
	read_ok(&f, "{" META ",'spec':{'podSets':[" PODS("") "]}}");
	assert_true(f.r.w.object.active);
	assert_null(f.r.queue);
	assert_null(f.r.w.object.local_queue);
	assert_int_equal(f.r.w.object.priority, 0);
	assert_int_equal(f.r.w.object.created, MODEL_TIME_NONE);
	assert_int_equal(f.r.w.flags.requeue_at, MODEL_TIME_NONE);
	assert_string_equal(f.r.w.object.uid, "");
	assert_string_equal(f.r.w.object.namespace_, "ns");
	assert_null(f.r.w.object.unsupported);
	assert_int_equal(f.r.w.object.npodsets, 1);
	p = &f.r.w.object.podsets[0];
	assert_string_equal(p->name, "main");
	assert_int_equal(p->count, 1);
	assert_int_equal(p->spec_count, 1);
	assert_int_equal(p->min_count, 0);
	assert_int_equal(p->request.v[0].value, 1000);
	assert_true(p->shape == podset_shape(p));
	end(&f);
}

/* Ours is known by a flag; those of others are kept in their order, to be written back. */
static void test_finalizers(void **state)
{
	static const struct {
		const char *json;
		bool ours;
		const char *others[2];
	} rows[] = {
		{ "", false, { NULL } },
		{ "'kueue.x-k8s.io/resource-in-use'", true, { NULL } },
		{ "'a/x','kueue.x-k8s.io/resource-in-use','b/y'", true, { "a/x", "b/y" } },
		{ "'b/y'", false, { "b/y" } },
	};
	struct fixture f;

	(void)state;
	begin(&f);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

		unit_row(rows[i].json);
		strbuf_printf(&text,
			      "{'metadata':{'name':'w','namespace':'ns','finalizers':[%s]},'spec':"
			      "{'podSets':[" PODS("") "]}}",
			      rows[i].json);
		read_ok(&f, text.p);
		assert_int_equal(f.r.w.object.has_finalizer, rows[i].ours);
		assert_int_equal(f.r.w.object.finalizers != NULL, rows[i].others[0] != NULL);
		for (size_t k = 0; k < 2 && rows[i].others[0] != NULL; k++) {
			const char *is = f.r.w.object.finalizers[k], *want = rows[i].others[k];

			assert_int_equal(is == NULL, want == NULL);
			assert_true(want == NULL || str_streq(is, want));
		}
	}
	end(&f);
}

static void test_spec_and_metadata(void **state)
{
	struct fixture f;
	const struct podset *p;

	(void)state;
	begin(&f);
	read_ok(&f, "{'metadata':{'name':'w','namespace':'ns','uid':'u','generation':3,'"
		    "creationTimestamp':'2026-01-15T10:00:00Z','labels':{'kueue.x-k8s.io/"
		    "job-uid':'j'},'"
		    "annotations':{'kueue.x-k8s.io/admission-gated-by':'g','kueue.x-k8s.io/"
		    "priority-boost':'-5'}},'spec':{'queueName':'lq','priority':7,'active':false,'"
		    "preemptionGates':[{'name':'x'}],'podSets':[" PODS(
			    "'name':'a','count':4,'minCount':"
			    "2,") ",{'name':'b','template':"
				  "{'spec':{'nodeSelector':{'k':'v'},'tolerations':[{'key':'t','"
				  "operator':'Exists'}],"
				  "'affinity':{'nodeAffinity':{'"
				  "requiredDuringSchedulingIgnoredDuringExecution':{'"
				  "nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name','"
				  "operator':'In','values'"
				  ":['n']}]},{'matchExpressions':[{'key':'k','operator':'Exists'}]}"
				  "]}}}}}}]}}");
	assert_string_equal(f.r.w.object.uid, "u");
	assert_string_equal(f.r.w.object.job_uid, "j");
	assert_int_equal(f.r.w.object.generation, 3);
	assert_int_equal(f.r.w.object.created, INT64_C(1768471200000000000));
	assert_true(f.r.w.object.admission_gated && f.r.w.flags.preemption_gated);
	assert_string_equal(f.r.w.object.gated_by, "g");
	assert_string_equal(f.r.w.object.gates[0], "x");
	assert_null(f.r.w.object.gates[1]);
	assert_int_equal(f.r.w.object.boost, -5);
	assert_string_equal(f.r.w.object.local_queue, "lq");
	assert_int_equal(f.r.w.object.priority, 7);
	assert_false(f.r.w.object.active);
	assert_int_equal(f.r.w.object.podsets[0].min_count, 2);
	p = &f.r.w.object.podsets[1];
	assert_ptr_equal(p->selector[0].key, quota_name(f.q, STR_LIT("k")));
	assert_int_equal(p->ntolerations, 1);
	assert_true(p->has_required);
	assert_int_equal(p->nrequired, 2);
	assert_int_equal(p->required[0].nexprs, 0);
	assert_int_equal(p->required[1].nexprs, 1);
	end(&f);
}

static void test_a_boost_that_cannot_be_read_is_none(void **state)
{
	static const char *const texts[] = { "", "x", "1.5", "99999999999" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct fixture f;
		char text[200];

		unit_row(texts[i]);
		begin(&f);
		(void)snprintf(
			text, sizeof(text),
			"{'metadata':{'name':'w','annotations':{'kueue.x-k8s.io/priority-boost':"
			"'%s'}}}",
			texts[i]);
		read_ok(&f, text);
		assert_int_equal(f.r.w.object.boost, 0);
		end(&f);
	}
}

/* Each member alone asks for topology, except the name of a group. */
static void test_each_request_for_topology(void **state)
{
	static const struct {
		const char *json;
		bool wanted;
	} rows[] = {
		{ "", false },
		{ "'podSetGroupName':'g'", false },
		{ "'unconstrained':false", false },
		{ "'unconstrained':true", true },
		{ "'required':'rack'", true },
		{ "'preferred':'rack'", true },
		{ "'podSetSliceRequiredTopology':'rack'", true },
		{ "'podSetSliceSize':2", true },
		{ "'podsetSliceRequiredTopologyConstraints':[{'topology':'rack','size':2}]", true },
	};
	struct fixture f;

	(void)state;
	begin(&f);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

		unit_row(rows[i].json);
		strbuf_printf(&text, "{" META ",'spec':{'podSets':[{'topologyRequest':{%s}}]}}",
			      rows[i].json);
		read_ok(&f, text.p);
		assert_int_equal(f.r.w.object.podsets[0].wants_topology, rows[i].wanted);
	}
	end(&f);
}

static void test_unsupported_fields_are_marked(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	read_ok(&f, "{" META ",'spec':{'podSets':[{'topologyRequest':{'podSetGroupName':'g','"
		    "unconstrained':false}},{'topologyRequest':{'preferred':'rack'}},{'"
		    "topologyRequest':{'podSetSliceSize':2}}]}}");
	assert_false(f.r.w.object.podsets[0].wants_topology);
	assert_string_equal(f.r.w.object.podsets[0].group, "g");
	assert_true(f.r.w.object.podsets[1].wants_topology);
	assert_null(f.r.w.object.podsets[1].group);
	assert_true(f.r.w.object.podsets[2].wants_topology);
	assert_null(f.r.w.object.unsupported);
	read_ok(&f,
		"{" META ",'spec':{'podSets':[{'template':{'spec':{'resourceClaims':[{'name':'c'}"
		"]}}}]}}");
	assert_non_null(strstr(f.r.w.object.unsupported, "resource claims"));
	read_ok(&f, "{'metadata':{'name':'w','annotations':{'kueue.x-k8s.io/"
		    "workload-slice-replacement-for':'v'}}}");
	assert_non_null(strstr(f.r.w.object.unsupported, "elastic"));
	end(&f);
}

static void test_gates_of_the_configuration(void **state)
{
	static const char text[] =
		"{'metadata':{'name':'w','annotations':{'kueue.x-k8s.io/admission-gated-by':'g','"
		"kueue.x-k8s.io/workload-allowed-resource-flavors':'f, "
		"g'},'ownerReferences':[{'kind':"
		"'Workload','name':'p','controller':true}]},'spec':{'podSets':[{'count':4,'"
		"topologyRequest':{'preferred':'rack'}}]},'status':{'reclaimablePods':[{'name':'"
		"main',"
		"'count':3}]}}";
	struct fixture f;

	(void)state;
	begin(&f);
	read_ok(&f, text);
	assert_true(f.r.w.object.admission_gated && f.r.w.object.podsets[0].wants_topology);
	assert_int_equal(f.r.w.object.podsets[0].count, 1);
	assert_null(f.r.w.object.allowed);
	assert_null(f.r.w.object.unsupported);
	f.q->options.admission_gates = f.q->options.topology = f.q->options.reclaimable_pods =
		false;
	f.q->options.concurrent_admission = true;
	read_ok(&f, text);
	assert_false(f.r.w.object.admission_gated || f.r.w.object.podsets[0].wants_topology);
	assert_int_equal(f.r.w.object.podsets[0].count, 4);
	assert_int_equal(f.r.w.object.nallowed, 2);
	assert_int_equal(f.r.w.object.allowed[1], quota_flavor_find(f.q, STR_LIT("g"))->id);
	assert_non_null(strstr(f.r.w.object.unsupported, "variants"));
	end(&f);
}

static void test_errors_name_object_and_field(void **state)
{
	static const struct {
		const char *text, *error;
	} rows[] = {
		{ "{'metadata':{'namespace':'ns'}}", "Workload ns/: metadata.name: missing" },
		{ "{" META ",'spec':{'podSets':[{},{'count':-1}]}}",
		  "Workload ns/w: spec.podSets[1].count: negative" },
		{ "{" META ",'spec':{'podSets':[{'minCount':-1}]}}",
		  "Workload ns/w: spec.podSets[0].minCount: negative" },
		{ "{" META ",'spec':{'podSets':[{'template':{'spec':{'affinity':{'nodeAffinity':{'"
		  "requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':[{'"
		  "matchExpressions':[{'key':'k','operator':'Near'}]}]}}}}}}]}}",
		  "Workload ns/w: spec.podSets[0].template.spec.affinity.nodeAffinity."
		  "requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]: operator: "
		  "unknown \"Near\"" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f;

		unit_row(rows[i].text);
		begin(&f);
		assert_int_equal(read_text(&f, rows[i].text), -ERR_INVALID);
		assert_string_equal(f.err.text, rows[i].error);
		f.r = (struct from_kueue_workload){ .queue = NULL };
		end(&f);
	}
}

#define RESERVED "'conditions':[{'type':'QuotaReserved','status':'True'}]"
#define ADMISSION(more)                                                                            \
	"'admission':{'clusterQueue':'cq','podSetAssignments':[{'name':'a','flavors':{'cpu':'f','" \
	"memory':'f'},'resourceUsage':{'cpu':'4','memory':'7','gpu':'1'}" more "}]}"

static void test_admission(void **state)
{
	static const struct {
		const char *status, *spec;
		int64_t cpu, memory; /* cpu -1: holds nothing */
	} rows[] = {
		{ RESERVED "," ADMISSION(""), "", 4000, 7 },
		{ RESERVED, "", -1, 0 },
		{ ADMISSION(""), "", -1, 0 },
		{ RESERVED "," ADMISSION(""), "'active':false,", -1, 0 },
		{ "'conditions':[{'type':'QuotaReserved','status':'True'},{'type':'Finished','"
		  "status':"
		  "'True'}]," ADMISSION(""),
		  "", -1, 0 },
		{ "'conditions':[{'type':'QuotaReserved','status':'True'},{'type':'Evicted','"
		  "status':"
		  "'True'}]," ADMISSION(""),
		  "", 4000, 7 },
		/* One of four pods is done: what the other three use. */
		{ RESERVED ",'reclaimablePods':[{'name':'a','count':1}]," ADMISSION(""), "", 3000,
		  3 },
		/* Admitted with two of four pods: the one that is done is one of the others. */
		{ RESERVED ",'reclaimablePods':[{'name':'a','count':1}]," ADMISSION(",'count':2"),
		  "", 4000, 7 },
		{ RESERVED ",'reclaimablePods':[{'name':'a','count':9}]," ADMISSION(""), "", 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f;
		char text[900];

		unit_row(rows[i].status);
		begin(&f);
		(void)snprintf(text, sizeof(text), "{%s,'spec':{%s'podSets':[%s]},'status':{%s}}",
			       META, rows[i].spec, PODS("'name':'a','count':4,"), rows[i].status);
		read_ok(&f, text);
		if (rows[i].cpu < 0) {
			assert_null(f.r.queue);
			assert_int_equal(f.r.w.holding.usage.n, 0);
			end(&f);
			continue;
		}
		assert_string_equal(f.r.queue, "cq");
		assert_int_equal(f.r.w.holding.usage.n, 2);
		assert_int_equal(f.r.w.holding.usage.v[0].value, rows[i].cpu);
		assert_int_equal(f.r.w.holding.usage.v[1].value, rows[i].memory);
		assert_int_equal(f.r.w.holding.assigned.n, 2);
		assert_int_equal(f.r.w.holding.assigned.v[0].podset, 0);
		assert_int_equal(f.r.w.holding.assigned.v[0].amount, rows[i].cpu);
		end(&f);
	}
}

static void test_usage_of_a_pod_set_that_is_gone_counts(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	read_ok(&f, "{" META ",'spec':{'podSets':[]},'status':{" RESERVED "," ADMISSION("") "}}");
	assert_int_equal(f.r.w.holding.usage.v[0].value, 4000);
	assert_int_equal(f.r.w.holding.assigned.n, 0);
	end(&f);
}

static void test_the_status_is_read_as_well(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	read_ok(&f, "{" META ",'status':{'preemptionCost':'1500m','conditions':[{'type':'Evicted','"
		    "status':'True','reason':'AdmissionCheck'}]}}");
	assert_true(f.r.w.object.has_cost && f.r.w.object.cost == INT64_C(1500000000));
	assert_true(f.r.w.flags.evicted_by_check);
	assert_int_equal(f.r.w.object.preemptions, 0);
	read_ok(&f, "{" META ",'status':{'schedulingStats':{'evictions':[{'reason':'Preempted','"
		    "underlyingCause':'','count':2},{'reason':'PodsReadyTimeout','underlyingCause':"
		    "'','count':7}]}}}");
	assert_false(f.r.w.object.has_cost);
	assert_int_equal(f.r.w.object.preemptions, 2);
	end(&f);
}

static void test_reclaimable_pods_are_taken_off(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	read_ok(&f,
		"{" META ",'spec':{'podSets':[" PODS(
			"'count':4,") "]},'status':{'reclaimablePods'"
				      ":[{'name':'main','count':3},{'name':'other','count':1}]}}");
	assert_int_equal(f.r.w.object.podsets[0].count, 1);
	assert_int_equal(f.r.w.object.podsets[0].spec_count, 4);
	end(&f);
}

static void test_applying_keeps_the_pending_side(void **state)
{
	struct fixture f;
	struct workload *w;

	(void)state;
	begin(&f);
	w = quota_workload_add(f.q, STR_LIT("ns/w"));
	read_ok(&f, "{" META ",'spec':{'podSets':[" PODS("") "]}}");
	assert_true(from_kueue_workload_apply(&f.r, w));
	assert_string_equal(w->key, "ns/w");
	assert_int_equal(w->object.npodsets, 1);
	assert_int_equal(w->holding.node, MODEL_NONE);
	w->pending.queue = 5;
	w->pending.pos = 6;
	w->pending.hash = 7;
	w->pending.tried_hash = 8;
	w->pending.last_reason = QUOTA_WAITING_FOR_QUOTA;
	vec_push(&w->pending.tried, ((struct last_assignment){ .flavor = 2 }));
	/* The same again is no change; nor is a condition that the model does not use. */
	read_ok(&f, "{" META ",'spec':{'podSets':[" PODS("") "]},'status':{'conditions':[{'type':'"
							     "PodsReady','status':'True'}]}}");
	assert_false(from_kueue_workload_apply(&f.r, w));
	assert_int_equal(w->pending.queue, 5);
	assert_int_equal(w->pending.pos, 6);
	assert_int_equal(w->pending.hash, 7);
	assert_int_equal(w->pending.tried_hash, 8);
	assert_int_equal(w->pending.last_reason, QUOTA_WAITING_FOR_QUOTA);
	assert_int_equal(w->pending.tried.n, 1);
	assert_int_equal(quota_workload_find(f.q, STR_LIT("ns/w"))->id, w->id);
	from_kueue_workload_finish(&f.r);
	end(&f);
}

static void test_changes_that_requeue(void **state)
{
	static const char *const texts[] = {
		"{'metadata':{'name':'w','generation':2}}",
		"{'metadata':{'name':'w'},'spec':{'priority':1}}",
		"{'metadata':{'name':'w','annotations':{'kueue.x-k8s.io/priority-boost':'1'}}}",
		"{'metadata':{'name':'w'},'status':{'conditions':[{'type':'Evicted','status':'True'"
		"}]}}",
		"{'metadata':{'name':'w'},'status':{'conditions':[{'type':'Requeued','status':'"
		"False'}"
		"]}}",
		"{'metadata':{'name':'w'},'spec':{'preemptionGates':[{'name':'g'}]}}",
		"{'metadata':{'name':'w'},'spec':{'podSets':[" PODS("") "]}}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct fixture f;
		struct workload *w;

		unit_row(texts[i]);
		begin(&f);
		w = quota_workload_add(f.q, STR_LIT("/w"));
		read_ok(&f, "{'metadata':{'name':'w'}}");
		assert_false(from_kueue_workload_apply(&f.r, w));
		read_ok(&f, texts[i]);
		assert_true(from_kueue_workload_apply(&f.r, w));
		end(&f);
	}
}

static void test_holding_is_the_callers_business(void **state)
{
	static const char text[] =
		"{" META ",'spec':{'podSets':[" PODS("'name':'a',") "]},'status':{" RESERVED
								    "," ADMISSION("") "}}";
	struct fixture f;
	struct workload *w;
	struct quota_node *cq;

	(void)state;
	begin(&f);
	cq = quota_queue_get(f.q, STR_LIT("cq"));
	w = quota_workload_add(f.q, STR_LIT("ns/w"));
	assert_true(from_kueue_workload_holds(f.q, &f.r, w));
	read_ok(&f, text);
	assert_false(from_kueue_workload_holds(f.q, &f.r, w));
	(void)from_kueue_workload_apply(&f.r, w);
	assert_int_equal(w->holding.usage.n, 2);
	w->holding.node = cq->id; /* as forest_hold does */
	read_ok(&f, text);
	assert_true(from_kueue_workload_holds(f.q, &f.r, w));
	(void)from_kueue_workload_apply(&f.r, w);
	assert_int_equal(w->holding.node, cq->id);
	assert_int_equal(w->holding.usage.n, 2);
	assert_int_equal(w->holding.assigned.n, 2);
	/* The status does not have it any more, but it was not released yet. */
	read_ok(&f, "{" META "}");
	assert_false(from_kueue_workload_holds(f.q, &f.r, w));
	(void)from_kueue_workload_apply(&f.r, w);
	assert_int_equal(w->holding.usage.n, 2);
	read_ok(&f, text);
	w->holding.usage.v[0].value++;
	assert_false(from_kueue_workload_holds(f.q, &f.r, w));
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_finalizers),
		cmocka_unit_test(test_spec_and_metadata),
		cmocka_unit_test(test_a_boost_that_cannot_be_read_is_none),
		cmocka_unit_test(test_each_request_for_topology),
		cmocka_unit_test(test_unsupported_fields_are_marked),
		cmocka_unit_test(test_gates_of_the_configuration),
		cmocka_unit_test(test_errors_name_object_and_field),
		cmocka_unit_test(test_admission),
		cmocka_unit_test(test_usage_of_a_pod_set_that_is_gone_counts),
		cmocka_unit_test(test_the_status_is_read_as_well),
		cmocka_unit_test(test_reclaimable_pods_are_taken_off),
		cmocka_unit_test(test_applying_keeps_the_pending_side),
		cmocka_unit_test(test_changes_that_requeue),
		cmocka_unit_test(test_holding_is_the_callers_business),
	};

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
