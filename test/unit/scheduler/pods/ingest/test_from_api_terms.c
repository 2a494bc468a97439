#include <stdio.h>
#include <string.h>

#include "api/core/pod.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "lib/compares.h"
#include "lib/unit.h"
#include "scheduler/pods/ingest/from_api.h"
#include "scheduler/pods/values/signature.h"
#include "unit/scheduler/pods/ingest/api_fixture.h"

/* JSON with ' for ". The pod has labels app=x and v=1, and lies in namespace ns. */
static int read_spec(struct api_fixture *f, const char *spec, bool places, struct pod_class *k,
		     struct err *err)
{
	char json[8192];

	snprintf(json, sizeof(json),
		 "{'metadata':{'name':'p','namespace':'ns','labels':{'app':'x','v':'1'}},"
		 "'spec':{%s}}",
		 spec);
	for (char *p = json; *p != '\0'; p++) {
		*p = *p == '\'' ? '"' : *p;
	}
	*k = (struct pod_class){ .refs = 0 };
	return from_api_terms_read(f->c, api_fixture_decode(f->arena, &pod_fields, json), places,
				   f->arena, k, err);
}

#define PREFERRED "'preferredDuringSchedulingIgnoredDuringExecution'"
#define REQUIRED "'requiredDuringSchedulingIgnoredDuringExecution'"

static const char *const all =
	"'affinity':{'podAntiAffinity':{" REQUIRED ":[{'topologyKey':'host','namespaces':['b','a'],"
	"'namespaceSelector':{'matchLabels':{'team':'red'}}}]," PREFERRED
	":[{'weight':100,'podAffinityTerm':{'topologyKey':'rack','labelSelector':{'matchLabels':{"
	"'app':'y'}}}}]},"
	"'podAffinity':{" REQUIRED ":[{'topologyKey':'zone','labelSelector':{}}],"
	"'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':1,'podAffinityTerm':{"
	"'topologyKey':'zone'}}]}},"
	"'topologySpreadConstraints':[{'maxSkew':2,'topologyKey':'zone','whenUnsatisfiable':"
	"'ScheduleAnyway'},{'maxSkew':3,'minDomains':4,'topologyKey':'zone','nodeAffinityPolicy':"
	"'Ignore','nodeTaintsPolicy':'Honor','labelSelector':{'matchLabels':{'app':'x'}}},"
	"{'maxSkew':1,'topologyKey':'rack','whenUnsatisfiable':'DoNotSchedule','labelSelector':{}}"
	"]";

static void test_terms(void **state)
{
	const struct pod_term *t;
	struct pod_class k;

	assert_int_equal(read_spec(*state, all, true, &k, NULL), 0);
	assert_int_equal(k.nterms, 7);
	t = &k.terms[0];
	assert_int_equal(t->kind, POD_TERM_AFFINITY);
	assert_true(t->selects);
	assert_int_equal(t->pods.nexprs, 0);
	assert_int_equal(t->nnamespaces, 1);
	assert_string_equal(t->namespaces[0], "ns");
	t = &k.terms[1];
	assert_int_equal(t->kind, POD_TERM_ANTI_AFFINITY);
	assert_false(t->selects);
	assert_string_equal(t->topology_key, "host");
	assert_int_equal(t->nnamespaces, 2);
	assert_true(t->selects_namespaces);
	assert_string_equal(t->namespaces_by.exprs[0].key, "team");
	t = &k.terms[2];
	assert_int_equal(t->kind, POD_TERM_SPREAD);
	assert_int_equal(t->max_skew, 3);
	assert_int_equal(t->min_domains, 4);
	assert_true(t->ignores_affinity && t->honors_taints && t->selects);
	t = &k.terms[3];
	assert_int_equal(t->min_domains, 1);
	assert_false(t->ignores_affinity || t->honors_taints);
	/* kube-scheduler counts no pod for an empty selector of a spread. */
	assert_false(t->selects);
	assert_int_equal(k.terms[4].kind, POD_TERM_PREFERRED);
	assert_int_equal(k.terms[4].weight, 1);
	assert_string_equal(k.terms[4].topology_key, "zone");
	assert_int_equal(k.terms[5].kind, POD_TERM_PREFERRED);
	assert_int_equal(k.terms[5].weight, -100);
	assert_string_equal(k.terms[5].pods.exprs[0].values[0], "y");
	assert_int_equal(k.terms[6].kind, POD_TERM_SPREAD_ANYWAY);
	assert_int_equal(k.terms[6].max_skew, 2);
}

/* Required terms of affinity and spread say only where they go themselves. */
static void test_pods_of_other_schedulers_have_terms_about_others(void **state)
{
	struct pod_class k;

	assert_int_equal(read_spec(*state, all, false, &k, NULL), 0);
	assert_int_equal(k.nterms, 3);
	assert_int_equal(k.terms[0].kind, POD_TERM_ANTI_AFFINITY);
	assert_int_equal(k.terms[1].kind, POD_TERM_PREFERRED);
	assert_int_equal(k.terms[2].kind, POD_TERM_PREFERRED);
	assert_int_equal(read_spec(*state, "'nodeName':'n'", false, &k, NULL), 0);
	assert_int_equal(k.nterms, 0);
}

/* An empty namespaceSelector without namespaces is all namespaces, and not the pod's own. */
static void test_all_namespaces(void **state)
{
	struct pod_class k;

	assert_int_equal(read_spec(*state,
				   "'affinity':{'podAffinity':{" REQUIRED
				   ":[{'topologyKey':'zone','namespaceSelector':{}}]}}",
				   true, &k, NULL),
			 0);
	assert_int_equal(k.terms[0].nnamespaces, 0);
	assert_true(k.terms[0].selects_namespaces);
	assert_int_equal(k.terms[0].namespaces_by.nexprs, 0);
}

static void test_label_keys(void **state)
{
	static const struct {
		const char *term, *pods;
	} rows[] = {
		{ "'labelSelector':{},'matchLabelKeys':['v','none'],'mismatchLabelKeys':['app']",
		  "P0l01:v,1:1l13:app,1:x" },
		/* The API server has merged it. */
		{ "'labelSelector':{'matchExpressions':[{'key':'v','operator':'In','values':['0']}]"
		  "},"
		  "'matchLabelKeys':['v']",
		  "P0l01:v,1:0" },
		{ "'matchLabelKeys':['v']", "P0" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
		struct pod_class k;
		char spec[1024];

		unit_row_number(i);
		snprintf(spec, sizeof(spec),
			 "'affinity':{'podAffinity':{" REQUIRED ":[{'topologyKey':'zone',%s}]}}",
			 rows[i].term);
		assert_int_equal(read_spec(*state, spec, true, &k, NULL), 0);
		signature_put_term(&text, 'P', &k.terms[0].pods);
		assert_string_equal(text.p, rows[i].pods);
	}
}

enum { KEYS = 2000 };

/* The API server has merged them all: each key is looked for among all expressions. */
static void test_many_label_keys(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf json = STRBUF_INIT;
	struct api_fixture *f = *state;
	struct pod_class k = { .refs = 0 };
	const struct api_pod *pod;

	strbuf_add_c(&json, "{\"metadata\":{\"name\":\"p\",\"labels\":{\"a\":\"\"");
	for (int i = 0; i < KEYS; i++) {
		strbuf_printf(&json, ",\"k%d\":\"v\"", i);
	}
	strbuf_add_c(&json, "}},\"spec\":{\"topologySpreadConstraints\":[{\"topologyKey\":\"z\","
			    "\"matchLabelKeys\":[\"a\"");
	for (int i = 0; i < KEYS; i++) {
		strbuf_printf(&json, ",\"k%d\"", i);
	}
	strbuf_add_c(&json, "],\"labelSelector\":{\"matchExpressions\":[");
	for (int i = 0; i < KEYS; i++) {
		strbuf_printf(&json, "%s{\"key\":\"k%d\",\"operator\":\"Exists\"}",
			      i == 0 ? "" : ",", i);
	}
	strbuf_add_c(&json, "]}}]}}");
	pod = api_fixture_decode(f->arena, &pod_fields, json.p);
	compares_made = 0;
	assert_int_equal(from_api_terms_read(f->c, pod, true, f->arena, &k, NULL), 0);
	assert_int_equal(k.terms[0].pods.nexprs, KEYS + 1);
	/* Halving takes 11 for each; one by one it would be two million. */
	assert_in_range(compares_made, KEYS, 60 * KEYS);
}

/* Anti-affinities, a spread constraint, and a preference. */
static void make_many(char *spec, size_t size, int n)
{
	size_t at = (size_t)snprintf(spec, size, "'affinity':{'podAntiAffinity':{" REQUIRED ":[");

	for (int i = 0; i < n - 2; i++) {
		at += (size_t)snprintf(spec + at, size - at, "%s{'topologyKey':'z'}",
				       i == 0 ? "" : ",");
	}
	snprintf(spec + at, size - at,
		 "]},'podAffinity':{" PREFERRED ":[{'weight':1,'podAffinityTerm':{}}]}},"
		 "'topologySpreadConstraints':[{'topologyKey':'z','whenUnsatisfiable':'"
		 "ScheduleAnyway'"
		 "}]");
}

static void test_limit(void **state)
{
	struct pod_class k;
	char spec[4096];

	make_many(spec, sizeof(spec), POD_CLASS_TERMS_MAX);
	assert_int_equal(read_spec(*state, spec, true, &k, NULL), 0);
	assert_int_equal(k.nterms, POD_CLASS_TERMS_MAX);
	assert_null(k.unsupported);
	make_many(spec, sizeof(spec), POD_CLASS_TERMS_MAX + 1);
	assert_int_equal(read_spec(*state, spec, true, &k, NULL), 0);
	assert_int_equal(k.nterms, POD_CLASS_TERMS_MAX);
	assert_string_equal(k.unsupported, POD_CLASS_MANY_TERMS);
	make_many(spec, sizeof(spec), POD_CLASS_TERMS_MAX + 3);
	assert_int_equal(read_spec(*state, spec, false, &k, NULL), 0);
	assert_int_equal(k.nterms, POD_CLASS_TERMS_MAX);
}

static void test_bad_terms_name_their_place(void **state)
{
	static const struct {
		const char *spec, *text;
	} rows[] = {
		{ "'affinity':{'podAffinity':{" REQUIRED ":[{},{'labelSelector':{"
		  "'matchExpressions':[{'key':'a','operator':'Near'}]}}]}}",
		  "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[1]: "
		  "labelSelector: matchExpressions[0]: " },
		{ "'affinity':{'podAntiAffinity':{" REQUIRED ":[{'namespaceSelector':{"
		  "'matchExpressions':[{'key':'a','operator':'Gt','values':['1']}]}}]}}",
		  "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]"
		  ": namespaceSelector: matchExpressions[0]: " },
		{ "'affinity':{'podAffinity':{" PREFERRED ":[{'weight':100},{'weight':101}]}}",
		  "spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[1]: "
		  "weight: 101 is not 1 to 100" },
		{ "'affinity':{'podAntiAffinity':{" PREFERRED ":[{'weight':0}]}}",
		  "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution["
		  "0]: weight: 0 is not 1 to 100" },
		{ "'affinity':{'podAntiAffinity':{" PREFERRED ":[{'weight':1,'podAffinityTerm':{"
		  "'labelSelector':{'matchExpressions':[{}]}}}]}}",
		  "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution["
		  "0]: podAffinityTerm: labelSelector: matchExpressions[0]: " },
		{ "'topologySpreadConstraints':[{'labelSelector':{'matchExpressions':[{}]}}]",
		  "spec.topologySpreadConstraints[0]: labelSelector: matchExpressions[0]: " },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err err = ERR_INIT;
		struct pod_class k;

		unit_row_number(i);
		assert_int_equal(read_spec(*state, rows[i].spec, true, &k, &err), -ERR_INVALID);
		print_message("%s\n", err.text);
		assert_int_equal(strncmp(err.text, rows[i].text, strlen(rows[i].text)), 0);
	}
}

#define T(name) cmocka_unit_test_setup_teardown(name, api_fixture_setup, api_fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_terms),
		T(test_pods_of_other_schedulers_have_terms_about_others),
		T(test_all_namespaces),
		T(test_label_keys),
		T(test_many_label_keys),
		T(test_limit),
		T(test_bad_terms_name_their_place),
	};

	return cmocka_run_group_tests_name("pods/ingest/from_api_terms", tests, NULL, NULL);
}
