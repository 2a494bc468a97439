/* test/unit/scheduler/ctl/capture.h: the output of a function, as text. Owner: the test's
 * thread; not nested. */
#ifndef TEST_UNIT_SCHEDULER_CTL_CAPTURE_H
#define TEST_UNIT_SCHEDULER_CTL_CAPTURE_H

struct strbuf;

/* Splits line at blanks into argv and calls run with standard output redirected; appends what it
 * printed to out. Returns its code. */
int capture_run(int (*run)(int argc, char **argv), const char *line, struct strbuf *out);
/* headgatectl with this line; standard error comes first. Replaces out. */
int capture_ctl(const char *line, struct strbuf *out);

#endif
