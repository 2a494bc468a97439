/* webhook/main/webhook_app.h: the webhook's life: start, serve until SIGTERM, drain, stop.
 * Owner: main thread. */
#ifndef WEBHOOK_MAIN_WEBHOOK_APP_H
#define WEBHOOK_MAIN_WEBHOOK_APP_H

struct webhook_options;

/* The exit code: 0 after a clean end, 2 when options or files are wrong, 1 for all else. signal_fd
 * comes from signals_block. */
int webhook_app_run(const struct webhook_options *o, int signal_fd);

#endif
