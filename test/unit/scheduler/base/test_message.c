#include "scheduler/base/message.h"

#include "base/arena.h"
#include "lib/unit.h"

static void test_a_message_owns_its_arena(void **state)
{
	struct sched_msg *m = message_new(SCHED_MSG_DELETE);

	(void)state;
	assert_int_equal(m->kind, SCHED_MSG_DELETE);
	assert_null(m->object);
	m->text = arena_dup(m->arena, "text");
	message_free(m);
	message_free(NULL);
}

static void test_the_last_reference_frees(void **state)
{
	struct sched_msg *m = message_new(SCHED_MSG_UPSERT), *kept;

	(void)state;
	m->text = arena_dup(m->arena, "text");
	kept = message_ref(m);
	assert_ptr_equal(kept, m);
	message_free(m);
	assert_string_equal(kept->text, "text");
	message_free(kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_a_message_owns_its_arena),
					    cmocka_unit_test(test_the_last_reference_frees) };

	return cmocka_run_group_tests_name("base/message", tests, NULL, NULL);
}
