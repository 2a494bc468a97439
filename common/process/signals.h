/* common/process/signals.h: signals as readable events in the main thread.
 * Call signals_block before any thread starts. Owner: main thread. */
#ifndef COMMON_PROCESS_SIGNALS_H
#define COMMON_PROCESS_SIGNALS_H

struct err;

/* Blocks SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2 and ignores SIGPIPE; returns a signalfd or
 * -ERR_X. */
int signals_block(struct err *err);
/* Next signal number from fd, waiting up to timeout_ms (-1: without limit); 0: none. */
int signals_next(int fd, int timeout_ms);

#endif
