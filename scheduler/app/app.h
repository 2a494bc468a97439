/* scheduler/app/app.h: headgate-scheduler as a process: threads, connections, signals. */
#ifndef SCHEDULER_APP_APP_H
#define SCHEDULER_APP_APP_H

struct sched_options;

/* Runs until SIGTERM or SIGINT (0), or until the lease is lost or start-up fails (1), or the
 * configuration is wrong (2). Main thread, before any other thread exists. */
int app_run(const struct sched_options *o);

#endif
