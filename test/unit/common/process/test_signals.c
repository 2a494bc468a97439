#include "process/signals.h"

#include "lib/unit.h"

#include <signal.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/err.h"

static void test_signals_become_events(void **state)
{
	static const int cases[] = { SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2 };
	struct err err = ERR_INIT;
	int fd = signals_block(&err);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(signals_next(fd, 0), 0);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		unit_row_number(i);
		assert_int_equal(kill(getpid(), cases[i]), 0);
		assert_int_equal(signals_next(fd, -1), cases[i]);
		assert_int_equal(signals_next(fd, 0), 0);
	}
	close(fd);
}

static void test_broken_pipe_is_no_death(void **state)
{
	int fds[2];
	int fd = signals_block(NULL);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(pipe(fds), 0);
	close(fds[0]);
	assert_int_equal(write(fds[1], "x", 1), -1);
	close(fds[1]);
	close(fd);
}

static void test_closed_fd(void **state)
{
	int fd = signals_block(NULL);

	(void)state;
	close(fd);
	assert_int_equal(signals_next(fd, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_signals_become_events),
		cmocka_unit_test(test_broken_pipe_is_no_death),
		cmocka_unit_test(test_closed_fd),
	};

	return cmocka_run_group_tests_name("signals", tests, NULL, NULL);
}
