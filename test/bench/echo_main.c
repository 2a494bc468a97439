/* A bare libmicrohttpd server with the webhook's threads and TLS that reads a body and answers with
 * a fixed text: the speed of the library itself on this machine. For bench_webhook.sh.
 *   echo_main CERT KEY THREADS ANSWER_BYTES    prints the port, ends at the end of its input */
#include <arpa/inet.h>
#include <microhttpd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "process/file.h"

static struct MHD_Response *answer;

static enum MHD_Result on_request(void *cls, struct MHD_Connection *c, const char *url,
				  const char *method, const char *version, const char *upload,
				  size_t *upload_len, void **state)
{
	static int seen;

	(void)cls;
	(void)url;
	(void)method;
	(void)version;
	(void)upload;
	if (*state == NULL) {
		*state = &seen;
		return MHD_YES;
	}
	if (*upload_len > 0) {
		*upload_len = 0;
		return MHD_YES;
	}
	return MHD_queue_response(c, 200, answer);
}

int main(int argc, char **argv)
{
	struct strbuf cert = STRBUF_INIT, key = STRBUF_INIT;
	const union MHD_DaemonInfo *info;
	struct MHD_Daemon *d;
	uint64_t threads, bytes;
	char *text;

	if (argc != 5 || file_read_all(argv[1], 1 << 20, &cert, NULL) < 0 ||
	    file_read_all(argv[2], 1 << 20, &key, NULL) < 0 ||
	    !str_to_u64(str_of(argv[3]), &threads) || !str_to_u64(str_of(argv[4]), &bytes)) {
		fprintf(stderr, "usage: echo_main CERT KEY THREADS ANSWER_BYTES\n");
		return 2;
	}
	text = xmalloc(bytes);
	memset(text, 'x', bytes);
	answer = MHD_create_response_from_buffer(bytes, text, MHD_RESPMEM_MUST_FREE);
	MHD_add_response_header(answer, "Content-Type", "application/json");
	d = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_TLS, 0, NULL, NULL, on_request,
			     NULL, MHD_OPTION_THREAD_POOL_SIZE, (unsigned)threads,
			     MHD_OPTION_HTTPS_MEM_CERT, cert.p, MHD_OPTION_HTTPS_MEM_KEY, key.p,
			     MHD_OPTION_END);
	info = d != NULL ? MHD_get_daemon_info(d, MHD_DAEMON_INFO_BIND_PORT) : NULL;
	if (info == NULL) {
		fprintf(stderr, "echo_main: cannot start\n");
		return 1;
	}
	printf("%u\n", info->port);
	fflush(stdout);
	while (getchar() != EOF) {
	}
	MHD_stop_daemon(d);
	MHD_destroy_response(answer);
	strbuf_finish(&cert);
	strbuf_finish(&key);
	return 0;
}
