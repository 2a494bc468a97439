#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/err.h"
#include "lib/unit.h"
#include "net/http_server_priv.h"

/* At "", with port 0: at a free one. */
static int listen_at(const char *address, uint16_t port, int *ret_fd, char text[200])
{
	struct err err = ERR_INIT;
	int r = http_server_listen(address, port, ret_fd, &err);

	snprintf(text, 200, "%s", err.text);
	return r;
}

static void test_a_free_port(void **state)
{
	static const char *const addresses[] = { NULL, "", "127.0.0.1" };
	char text[200];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(addresses); i++) {
		int fd = -1, listens = 0;
		socklen_t len = sizeof(listens);

		unit_row_number(i);
		assert_int_equal(listen_at(addresses[i], 0, &fd, text), 0);
		assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len), 0);
		assert_int_equal(listens, 1);
		assert_int_not_equal(http_server_listen_port(fd), 0);
		close(fd);
	}
}

static void test_no_address(void **state)
{
	static const char *const addresses[] = { "localhost", "1.2.3.4.5", "::g" };
	char text[200];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(addresses); i++) {
		int fd = -1;

		unit_row(addresses[i]);
		assert_int_equal(listen_at(addresses[i], 0, &fd, text), -ERR_INVALID);
		assert_non_null(strstr(text, addresses[i]));
		assert_int_equal(fd, -1);
	}
}

/* The text says why, by the error of the system. */
static void test_a_port_in_use(void **state)
{
	int first = -1, second = -1;
	char text[200];

	(void)state;
	assert_int_equal(listen_at("127.0.0.1", 0, &first, text), 0);
	assert_int_equal(listen_at("127.0.0.1", http_server_listen_port(first), &second, text),
			 -ERR_IO);
	assert_non_null(strstr(text, strerror(EADDRINUSE)));
	assert_int_equal(second, -1);
	close(first);
}

static void test_no_descriptor_left(void **state)
{
	struct rlimit before, none;
	int fd = -1, r;
	char text[200];

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	r = listen_at("127.0.0.1", 0, &fd, text);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(r, -ERR_IO);
	assert_non_null(strstr(text, strerror(EMFILE)));
	assert_int_equal(fd, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_free_port),
		cmocka_unit_test(test_no_address),
		cmocka_unit_test(test_a_port_in_use),
		cmocka_unit_test(test_no_descriptor_left),
	};

	return cmocka_run_group_tests_name("net/http_server_listen", tests, NULL, NULL);
}
