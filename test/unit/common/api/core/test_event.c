#include "api/core/event.h"

#include "lib/unit.h"

#include "base/arena.h"
#include "base/strbuf.h"
#include "enc/decode.h"
#include "enc/encode.h"

static void test_round_trip(void **state)
{
	const char *text =
		"{\"apiVersion\":\"v1\",\"kind\":\"Event\",\"metadata\":{\"name\":\"e\","
		"\"namespace\":\"ns\"},\"count\":2,\"firstTimestamp\":\"2026-01-02T03:04:05Z\","
		"\"involvedObject\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"p\","
		"\"namespace\":\"ns\",\"uid\":\"u\"},\"lastTimestamp\":\"2026-01-02T03:05:05Z\","
		"\"message\":\"m\",\"reason\":\"r\",\"source\":{\"component\":\"headgate\"},"
		"\"type\":\"Normal\"}";
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	struct strbuf out CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct api_event e;
	(void)state;

	assert_int_equal(decode_text(&event_fields, str_of(text), &e, arena, NULL), 0);
	assert_string_equal(e.about.name, "p");
	assert_string_equal(e.source.component, "headgate");
	assert_int_equal(e.count, 2);
	assert_true(e.event_time == FIELD_NO_TIME);
	encode_text(&event_fields, &e, &out);
	assert_string_equal(out.p, text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
	};

	return cmocka_run_group_tests_name("event", tests, NULL, NULL);
}
