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

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_a_message_owns_its_arena) };

	return cmocka_run_group_tests_name("base/message", tests, NULL, NULL);
}
