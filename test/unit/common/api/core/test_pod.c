#include "api/core/pod.h"

#include "lib/unit.h"

#include "api/volcano/gate.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "bench/pod_5k.h"
#include "enc/decode.h"

static void test_realistic_pod(void **state)
{
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	struct strbuf text CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct err err = ERR_INIT;
	struct api_pod p;
	(void)state;

	pod_5k_add(&text, 7);
	if (decode_text(&pod_fields, strbuf_str(&text), &p, arena, &err) != 0) {
		fail_msg("%s", err.text);
	}
	assert_string_equal(p.meta.name, "trainer-worker-7");
	assert_int_equal(p.meta.labels.n, 6);
	assert_string_equal(field_map_get(&p.meta.annotations, "description"),
			    "one of the \"workers\" of the nightly training\nrun");
	assert_string_equal(p.spec.scheduler_name, "volcano");
	assert_int_equal(p.spec.priority, 1000);
	assert_string_equal(p.spec.preemption_policy, "PreemptLowerPriority");
	assert_int_equal(p.spec.containers.n, 1);
	assert_int_equal(p.spec.init_containers.n, 1);
	assert_int_equal(p.spec.containers.v[0].ports.v[0].container_port, 9090);
	assert_int_equal(p.spec.containers.v[0].ports.v[0].host_port, 0);
	assert_true(quantity_value(*field_resources_get(&p.spec.containers.v[0].resources.requests,
							"nvidia.com/gpu")) == 1);
	assert_int_equal(p.spec.tolerations.n, 3);
	assert_true(p.spec.tolerations.v[0].seconds == FIELD_NO_I64);
	assert_true(p.spec.tolerations.v[1].seconds == 300);
	assert_int_equal(p.spec.affinity->node->required->terms.n, 1);
	assert_string_equal(
		p.spec.affinity->node->required->terms.v[0].expressions.v[0].values.v[1], "eu-1b");
	assert_int_equal(p.spec.volumes.n, 2);
	assert_null(p.spec.volumes.v[0].claim);
	assert_string_equal(p.status.conditions.v[0].reason, "SchedulingGated");
	assert_true(pod_has_gate(&p, gate_at(0)->gate));
	assert_false(pod_has_gate(&p, "other"));
	assert_non_null(gate_opt_in(&p.meta.annotations));
	assert_false(pod_is_finished(&p));
}

static void test_refused_and_counted_terms(void **state)
{
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	const char *text =
		"{\"spec\":{\"affinity\":{\"podAffinity\":{"
		"\"requiredDuringSchedulingIgnoredDuringExecution\":[{\"topologyKey\":\"z\","
		"\"namespaceSelector\":{},\"matchLabelKeys\":[\"k\"]},{}]},"
		"\"podAntiAffinity\":{}},\"volumes\":[{\"name\":\"a\",\"persistentVolumeClaim\":{"
		"\"claimName\":\"c\"}},{\"ephemeral\":{\"volumeClaimTemplate\":{}}},{\"csi\":{"
		"\"driver\":\"d\"}}],\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":"
		"\"z\",\"whenUnsatisfiable\":\"DoNotSchedule\"}],\"resourceClaims\":[{\"name\":"
		"\"gpu\",\"resourceClaimTemplateName\":\"t\"}]},\"status\":{\"phase\":\"Failed\"}}";
	struct api_pod p;
	(void)state;

	assert_int_equal(decode_text(&pod_fields, str_of(text), &p, arena, NULL), 0);
	assert_int_equal(p.spec.affinity->pod->required.n, 2);
	assert_string_equal(p.spec.affinity->pod->required.v[0].topology_key, "z");
	assert_non_null(p.spec.affinity->pod->required.v[0].namespace_selector);
	assert_null(p.spec.affinity->pod->required.v[0].selector);
	assert_int_equal(p.spec.affinity->pod->required.v[0].match_label_keys.n, 1);
	assert_int_equal(p.spec.affinity->pod_anti->required.n, 0);
	assert_null(p.spec.affinity->node);
	assert_string_equal(p.spec.volumes.v[0].claim->claim_name, "c");
	assert_true(p.spec.volumes.v[1].ephemeral);
	assert_true(p.spec.volumes.v[2].csi);
	assert_string_equal(p.spec.spread.v[0].when_unsatisfiable, "DoNotSchedule");
	assert_string_equal(p.spec.claims.v[0].template_name, "t");
	assert_true(pod_is_finished(&p));
	assert_int_equal(p.spec.priority, FIELD_NO_I32);
}

static void test_error_path(void **state)
{
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	struct err err = ERR_INIT;
	struct api_pod p;
	(void)state;

	assert_int_equal(decode_text(&pod_fields,
				     STR_LIT("{\"spec\":{\"containers\":[{},{},{\"resources\":{"
					     "\"requests\":{\"cpu\":\"1x\"}}}]}}"),
				     &p, arena, &err),
			 -ERR_INVALID);
	assert_string_equal(err.text,
			    "spec.containers[2].resources.requests.cpu: invalid quantity \"1x\"");
}

static void test_admission_view(void **state)
{
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	struct strbuf text CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct api_pod p;
	(void)state;

	pod_5k_add(&text, 1);
	assert_int_equal(decode_text(&pod_admission_fields, strbuf_str(&text), &p, arena, NULL), 0);
	assert_string_equal(p.meta.name, "trainer-worker-1");
	assert_string_equal(p.spec.scheduler_name, "volcano");
	assert_int_equal(p.spec.gates.n, 1);
	assert_int_equal(p.spec.containers.n, 0);
	assert_null(p.spec.node_name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_realistic_pod),
		cmocka_unit_test(test_refused_and_counted_terms),
		cmocka_unit_test(test_error_path),
		cmocka_unit_test(test_admission_view),
	};

	return cmocka_run_group_tests_name("pod", tests, NULL, NULL);
}
