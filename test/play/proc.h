/* test/play/proc.h: child processes of tests and the demo: started with their output in a log file,
 * ended by PID, never left behind (they die with their parent). Owner: one thread. */
#ifndef TEST_PLAY_PROC_H
#define TEST_PLAY_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct err;

struct proc {
	pid_t pid; /* 0: not running */
	int code;  /* of the last end: exit code, or 128 + signal */
};

/* argv[0] is a path; ends with NULL. log_path: standard output and error are appended. */
int proc_start(struct proc *p, const char *const *argv, const char *log_path, struct err *err);
/* Sends the signal and waits up to timeout_ms, then SIGKILL. Returns the exit code, 128 + signal,
 * or -1 if it was not running. */
int proc_stop(struct proc *p, int signal, int timeout_ms);
bool proc_is_running(struct proc *p); /* reaps it when it has ended */
/* A port of 127.0.0.1 that was free a moment ago, another one each time. 0: none. */
uint16_t proc_free_port(void);
/* Polls until something accepts connections on 127.0.0.1:port. */
bool proc_wait_port(uint16_t port, int timeout_ms);
bool proc_wait_file(const char *path, int timeout_ms);

#endif
