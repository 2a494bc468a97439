#include "api/core/pod_request.h"

#include "lib/unit.h"

#include "api/core/pod.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "enc/decode.h"

#define C(requests) "{\"name\":\"c\",\"resources\":{\"requests\":{" requests "}}}"
#define CPU(n) C("\"cpu\":\"" n "\"")
#define BOTH(cpu, mem) C("\"cpu\":\"" cpu "\",\"memory\":\"" mem "\"")
#define SIDECAR(cpu)                                                                               \
	"{\"name\":\"s\",\"restartPolicy\":\"Always\",\"resources\":{\"requests\":{\"cpu\":\"" cpu \
	"\"}}}"
#define MAIN(list) "\"containers\":[" list "]"
#define INIT(list) "\"initContainers\":[" list "],"
#define POD(members) "{\"spec\":{" members "}}"

static void assert_request(const char *pod_json, const char *want)
{
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	struct strbuf out CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct field_resources sum;
	struct err err = ERR_INIT;
	struct api_pod pod;

	if (decode_text(&pod_fields, str_of(pod_json), &pod, arena, &err) != 0) {
		fail_msg("%s: %s", pod_json, err.text);
	}
	pod_request_sum(&pod, arena, &sum);
	assert_non_null(sum.v);
	for (size_t i = 0; i < sum.n; i++) {
		char text[QUANTITY_TEXT_MAX];

		quantity_format(sum.v[i].amount, text);
		strbuf_printf(&out, "%s%s=%s", i == 0 ? "" : " ", sum.v[i].name, text);
	}
	if (strcmp(out.p, want) != 0) {
		fail_msg("%s\ngot  %s\nwant %s", pod_json, out.p, want);
	}
}

static void test_containers(void **state)
{
	static const char *const rows[][2] = {
		{ "{}", "" },
		{ POD(MAIN("{\"name\":\"c\"}")), "" },
		{ POD(MAIN(BOTH("1", "1Gi") "," C("\"cpu\":\"500m\",\"a/gpu\":\"1\""))),
		  "a/gpu=1 cpu=1500m memory=1Gi" },
		/* An init container counts only as far as it exceeds the sum. */
		{ POD(INIT(BOTH("3", "1") "," CPU("2")) MAIN(BOTH("1", "2") "," CPU("1"))),
		  "cpu=3 memory=2" },
		/* A missing request defaults to the limit, a given one does not. */
		{ POD(MAIN("{\"resources\":{\"limits\":{\"cpu\":\"2\",\"memory\":\"1Gi\"},"
			   "\"requests\":{\"cpu\":\"0\"}}}")),
		  "cpu=0 memory=1Gi" },
		{ POD("\"overhead\":{\"cpu\":\"250m\",\"x\":\"1\"}," MAIN(CPU("1"))),
		  "cpu=1250m x=1" },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i][0]);
		assert_request(rows[i][0], rows[i][1]);
	}
}

/* Restartable init containers run on beside all that starts after them. */
static void test_sidecars(void **state)
{
	static const char *const rows[][2] = {
		{ POD(INIT(SIDECAR("1")) MAIN(CPU("2"))), "cpu=3" },
		{ POD(INIT(SIDECAR("1") "," CPU("5") "," SIDECAR("2")) MAIN(CPU("2"))), "cpu=6" },
		{ POD(INIT(CPU("5") "," SIDECAR("1") "," SIDECAR("2")) MAIN(CPU("3"))), "cpu=6" },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i][0]);
		assert_request(rows[i][0], rows[i][1]);
	}
}

static void test_pod_level(void **state)
{
	static const char *const rows[][2] = {
		{ POD("\"resources\":{\"requests\":{\"cpu\":\"5\",\"a/gpu\":\"9\"}},"
		      "\"overhead\":{\"cpu\":\"1\"}," MAIN(
			      C("\"cpu\":\"1\",\"memory\":\"1\",\"a/gpu\":\"1\""))),
		  "a/gpu=1 cpu=6 memory=1" },
		/* Only cpu, memory and huge pages can be given for the whole pod. */
		{ POD("\"resources\":{\"limits\":{\"a/gpu\":\"2\"},\"requests\":{\"a/"
		      "fpga\":\"1\"}}," MAIN(CPU("1"))),
		  "cpu=1" },
		{ POD("\"resources\":{\"limits\":{\"cpu\":\"5\",\"memory\":\"7\"}}," MAIN(
			  CPU("1"))),
		  "cpu=1 memory=7" },
		{ POD("\"resources\":{\"requests\":{\"hugepages-2Mi\":\"4Mi\"}}"),
		  "hugepages-2Mi=4Mi" },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i][0]);
		assert_request(rows[i][0], rows[i][1]);
	}
}

#define RESIZED(spec, allocated, actual, reason)                                                   \
	"{\"spec\":{" MAIN(                                                                        \
		CPU(spec)) "},\"status\":{\"conditions\":[{\"type\":\"PodResizePending\","         \
			   "\"status\":\"True\",\"reason\":\"" reason                              \
			   "\"}],\"containerStatuses\":[{\"name\":\"c\","                          \
			   "\"allocatedResources\":{\"cpu\":\"" allocated                          \
			   "\"},\"resources\":{\"requests\":{\"cpu\":\"" actual "\"}}}]}}"
#define WITH_STATUS(status)                                                                        \
	"{\"spec\":{" MAIN(CPU("1")) "},\"status\":{\"containerStatuses\":[" status "]}}"

static void test_in_place_resize(void **state)
{
	static const char *const rows[][2] = {
		{ RESIZED("1", "1", "1", "Deferred"), "cpu=1" },
		{ RESIZED("4", "1", "1", "Deferred"), "cpu=4" },
		{ RESIZED("1", "4", "2", "Deferred"), "cpu=4" },
		{ RESIZED("1", "2", "4", "Deferred"), "cpu=4" },
		{ RESIZED("4", "1", "2", "Infeasible"), "cpu=2" },
		/* Without actual resources the status says nothing yet. */
		{ WITH_STATUS("{\"name\":\"c\",\"allocatedResources\":{\"cpu\":\"9\"}}"), "cpu=1" },
		{ WITH_STATUS("{\"name\":\"other\",\"resources\":{\"requests\":{\"cpu\":\"9\"}}}"),
		  "cpu=1" },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i][0]);
		assert_request(rows[i][0], rows[i][1]);
	}
}

static void test_many_resources(void **state)
{
	struct strbuf text CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct strbuf want CLEANUP(strbuf_finish) = STRBUF_INIT;
	(void)state;

	strbuf_add_c(&text, "{\"spec\":{\"containers\":[{\"resources\":{\"requests\":{");
	for (int i = 0; i < 40; i++) {
		strbuf_printf(&text, "%s\"r%02d\":\"%d\"", i == 0 ? "" : ",", 39 - i, 40 - i);
		strbuf_printf(&want, "%sr%02d=%d", i == 0 ? "" : " ", i, i + 1);
	}
	strbuf_add_c(&text, "}}}]}}");
	assert_request(text.p, want.p);
}

enum { FEWER = 2500, MANY = 4 * FEWER };

/* Pods of the largest size: many names in one container and its limits, and many
 * containers of one name each, in the spec and, in another order, in the status. */
static void add_large_pod(struct strbuf *text, int names)
{
	strbuf_add_c(text, "{\"spec\":{\"initContainers\":[{\"restartPolicy\":\"Always\"");
	for (int list = 0; list < 2; list++) {
		strbuf_add_c(text, list == 0 ? ",\"resources\":{\"requests\":{" : "},\"limits\":{");
		for (int i = 0; i < names; i++) {
			strbuf_printf(text, "%s\"r%d\":\"%d\"", i == 0 ? "" : ",", 99999 - i,
				      1 + list);
		}
	}
	strbuf_add_c(text, "}}}],\"containers\":[");
	for (int i = 0; i < names; i++) {
		strbuf_printf(text,
			      "%s{\"name\":\"c%d\",\"resources\":{\"requests\":{\"r%d\":\"2\"}}}",
			      i == 0 ? "" : ",", i, 99999 - i);
	}
	strbuf_add_c(text, "]},\"status\":{\"containerStatuses\":[");
	for (int i = names; i-- > 0;) {
		strbuf_printf(text,
			      "{\"name\":\"c%d\",\"resources\":{\"requests\":{\"r%d\":\"4\"}}}%s",
			      i, 99999 - i, i == 0 ? "" : ",");
	}
	strbuf_add_c(text, "]}}");
}

static void test_a_pod_as_large_as_can_be(void **state)
{
	struct strbuf text CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct strbuf want CLEANUP(strbuf_finish) = STRBUF_INIT;
	(void)state;

	add_large_pod(&text, MANY);
	for (int i = MANY; i-- > 0;) {
		strbuf_printf(&want, "%sr%d=5", want.len == 0 ? "" : " ", 99999 - i);
	}
	assert_request(text.p, want.p);
}

static uint64_t compared; /* texts, since the start */

/* In place of libc's, for all code of this program. */
int strcmp(const char *a, const char *b)
{
	compared++;
	while (*a != '\0' && *a == *b) {
		a++;
		b++;
	}
	return (unsigned char)*a - (unsigned char)*b;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *x = a, *y = b;

	compared++;
	for (size_t i = 0; i < n; i++) {
		if (x[i] != y[i]) {
			return x[i] - y[i];
		}
	}
	return 0;
}

struct cost {
	uint64_t decode, sum; /* comparisons of texts */
};

static struct cost cost_of(int names)
{
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	struct strbuf text CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct field_resources sum;
	struct api_pod pod;
	struct cost cost;
	uint64_t before;

	add_large_pod(&text, names);
	before = compared;
	assert_int_equal(decode_text(&pod_fields, strbuf_str(&text), &pod, arena, NULL), 0);
	cost.decode = compared - before;
	before = compared;
	pod_request_sum(&pod, arena, &sum);
	cost.sum = compared - before;
	assert_int_equal(sum.n, names);
	return cost;
}

/* Four times as many names: comparisons of texts, which do not depend on the machine, are four
 * times as many, or five with those of sorting. If each name were looked for among all others, they
 * would be sixteen times as many. */
static void test_the_cost_of_a_large_pod_is_linear(void **state)
{
	const struct cost fewer = cost_of(FEWER), many = cost_of(MANY);
	(void)state;

	assert_true(fewer.decode > FEWER && fewer.sum > FEWER);
	assert_true(many.decode < 8 * fewer.decode);
	assert_true(many.sum < 8 * fewer.sum);
}

static void test_limits_cpu(void **state)
{
	static const struct {
		const char *json;
		bool limits;
	} rows[] = {
		{ "{\"spec\":{\"containers\":[{\"resources\":{\"limits\":{\"memory\":\"1\"}}}]}}",
		  false },
		{ "{\"spec\":{\"containers\":[{},{\"resources\":{\"limits\":{\"cpu\":\"1\"}}}]}}",
		  true },
		{ "{\"spec\":{\"initContainers\":[{\"resources\":{\"limits\":{\"cpu\":\"1\"}}}]}}",
		  true },
		{ "{\"spec\":{\"resources\":{\"limits\":{\"cpu\":\"1\"}}}}", true },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
		struct api_pod pod;

		unit_row(rows[i].json);
		assert_int_equal(decode_text(&pod_fields, str_of(rows[i].json), &pod, arena, NULL),
				 0);
		assert_int_equal(pod_request_limits_cpu(&pod), rows[i].limits);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_containers),
		cmocka_unit_test(test_sidecars),
		cmocka_unit_test(test_pod_level),
		cmocka_unit_test(test_in_place_resize),
		cmocka_unit_test(test_many_resources),
		cmocka_unit_test(test_limits_cpu),
		cmocka_unit_test(test_a_pod_as_large_as_can_be),
		cmocka_unit_test(test_the_cost_of_a_large_pod_is_linear),
	};

	return cmocka_run_group_tests_name("pod_request", tests, NULL, NULL);
}
