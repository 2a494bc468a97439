/* Objects that were read beside the reflector. */
#include "kube/reflector/reflector.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "unit/common/kube/reflector_fixture.h"

static bool offer(struct reflector_fixture *f, const char *object)
{
	return reflector_offer(f->reflector, str_of(object));
}

static void test_a_newer_object_is_reported_once(void **state UNUSED)
{
	struct reflector_fixture f;
	uint64_t w = reflector_fixture_begin_watch(&f);

	assert_true(offer(&f, OBJ("b", "11")));
	assert_false(offer(&f, OBJ("b", "11")));
	assert_false(offer(&f, OBJ("b", "10")));
	reflector_fixture_expect_log(&f, "U n/b 11;");
	/* The stream delivers it too, and later its deletion. */
	fake_transport_chunk(f.transport, w, FRAME("ADDED", OBJ("b", "11")));
	fake_transport_chunk(f.transport, w, FRAME("DELETED", OBJ("b", "12")));
	reflector_fixture_expect_log(&f, "U n/b 11;Do n/b;");
	reflector_fixture_end(&f);
}

static void test_objects_older_than_the_stream_are_dropped(void **state UNUSED)
{
	struct reflector_fixture f;
	uint64_t w = reflector_fixture_begin_watch(&f);

	/* Read at version 11, but its deletion was faster. */
	fake_transport_chunk(f.transport, w, FRAME("ADDED", OBJ("b", "11")));
	fake_transport_chunk(f.transport, w, FRAME("DELETED", OBJ("b", "12")));
	assert_false(offer(&f, OBJ("b", "11")));
	reflector_fixture_expect_log(&f, "U n/b 11;Do n/b;");
	reflector_fixture_end(&f);
}

static void test_deleted_during_a_list_does_not_stay(void **state UNUSED)
{
	struct reflector_fixture f;
	uint64_t w = reflector_fixture_begin_watch(&f);
	uint64_t list;

	/* The stream is lost before it delivers the creation at 11 and the deletion at 12. */
	fake_transport_chunk(f.transport, w, ERROR("410"));
	fake_transport_run(f.transport);
	list = reflector_fixture_expect(&f, LIST);
	assert_true(offer(&f, OBJ("b", "11")));
	fake_transport_answer(f.transport, list, 200, PAGE("20", "", OBJ("a", "1")));
	reflector_fixture_expect_log(&f, "U n/b 11;D n/b;R;");
	/* And not after the list either. */
	assert_false(offer(&f, OBJ("b", "11")));
	reflector_fixture_expect_log(&f, "");
	reflector_fixture_end(&f);
}

static void test_newer_than_the_list_comes_back(void **state UNUSED)
{
	struct reflector_fixture f;
	uint64_t w = reflector_fixture_begin_watch(&f);
	uint64_t list;

	fake_transport_chunk(f.transport, w, ERROR("410"));
	fake_transport_run(f.transport);
	list = reflector_fixture_expect(&f, LIST);
	assert_true(offer(&f, OBJ("b", "21")));
	fake_transport_answer(f.transport, list, 200, PAGE("20", "", OBJ("a", "1")));
	w = reflector_fixture_expect(&f, WATCH("20"));
	fake_transport_chunk(f.transport, w, FRAME("ADDED", OBJ("b", "21")));
	reflector_fixture_expect_log(&f, "U n/b 21;D n/b;R;U n/b 21;");
	reflector_fixture_end(&f);
}

static void test_text_without_a_version_is_dropped(void **state UNUSED)
{
	static const char *const texts[] = {
		"",
		"[]",
		"{}",
		"{\"metadata\":{}}",
		"{\"metadata\":{\"name\":\"b\"}}",
		"{\"metadata\":{\"name\":\"b\",\"resourceVersion\":\"x\"}}",
		"{\"metadata\":{\"name\":\"b\",\"resourceVersion\":\"-5\"}}",
		"{\"metadata\":{\"name\":\"\",\"resourceVersion\":\"50\"}}",
		"{\"metadata\":{\"name\":\"b\",\"resourceVersion\":\"50\"",
	};
	struct reflector_fixture f;

	reflector_fixture_begin_watch(&f);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		unit_row_number(i);
		assert_false(offer(&f, texts[i]));
	}
	reflector_fixture_expect_log(&f, "");
	reflector_fixture_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_newer_object_is_reported_once),
		cmocka_unit_test(test_objects_older_than_the_stream_are_dropped),
		cmocka_unit_test(test_deleted_during_a_list_does_not_stay),
		cmocka_unit_test(test_newer_than_the_list_comes_back),
		cmocka_unit_test(test_text_without_a_version_is_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
