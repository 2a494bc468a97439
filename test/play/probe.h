/* test/play/probe.h: bare TCP and plain HTTP/1.1 towards 127.0.0.1, for what an HTTP library would
 * not send. Any thread. */
#ifndef TEST_PLAY_PROBE_H
#define TEST_PLAY_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct strbuf;

/* GET without TLS: the status code, 0 when there was no answer. The body replaces out (may be
 * NULL). */
int probe_get(uint16_t port, const char *path, struct strbuf *out, int timeout_ms);
/* A connected socket, or -1. */
int probe_connect(uint16_t port);
/* Sends all bytes; false: the other side is gone. */
bool probe_send(int fd, const void *bytes, size_t len);
/* Next bytes: their count, 0: closed by the other side, -1: silent for timeout_ms. */
ssize_t probe_receive(int fd, void *out, size_t size, int timeout_ms);

#endif
