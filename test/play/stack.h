/* test/play/stack.h: the whole system as processes on loopback: headgate-apiserver,
 * headgate-webhook on HTTPS, registered at it, and headgate-scheduler, with a work folder of their
 * own. For the demo and the integration tests; or without headgate-apiserver, on another API server
 * (external.h). Owner: one thread. Programs are taken from $HEADGATE_BIN, else from the build
 * folder of the running program. */
#ifndef TEST_PLAY_STACK_H
#define TEST_PLAY_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct err;
struct jdoc;
struct stack;
struct strbuf;
struct transport;

/* The standby is a second scheduler that only tests start. The manager is one that is the manager
 * of MultiKueue, beside the first one; it is started after stack_set_manager, by the caller. */
enum stack_program {
	STACK_APISERVER,
	STACK_WEBHOOK,
	STACK_SCHEDULER,
	STACK_STANDBY,
	STACK_MANAGER,
	STACK_PROGRAM_COUNT_
};

struct stack_options {
	bool no_webhook, no_scheduler;     /* started by the test itself later, or never */
	const char *scheduler_conf;        /* text of the configuration file; NULL: built in */
	const char *const *scheduler_args; /* more arguments, NULL-terminated; may be NULL */
	const char *const *webhook_args;
	bool webhook_managed; /* the webhook makes its certificates itself, in the Secret
				 default/headgate-webhook-tls */
	const char *const *apiserver_args;
	const char *quota_conf; /* text of Kueue's Configuration; NULL: the built-in one */
	bool multikueue;        /* the scheduler is the manager of MultiKueue, and nothing else */
	bool orchestrator; /* the scheduler orchestrates preemption over clusters, and does nothing
			      else */
	bool quota; /* the kinds of Kueue are served and registered, and the Workload engine is on
		     */
};

/* True: the API server is not ours (external.h). It takes no faults and is not restarted. */
bool stack_is_external(void);
int stack_start(const struct stack_options *opt, struct stack **ret, struct err *err);
/* Ends what runs and removes the work folder; keep_logs leaves it and prints where. */
void stack_stop(struct stack *s, bool keep_logs);

/* For the next start of a scheduler: its configuration file (NULL: built in; what it holds may be
 * replaced while it runs) and more arguments. */
int stack_set_scheduler(struct stack *s, const char *conf, const char *const *args,
			struct err *err);
/* Of the Secrets with kubeconfigs that STACK_MANAGER reads: that of the chart's release. */
#define STACK_MANAGER_NAMESPACE "headgate-system"

/* Kueue's Configuration of the next start of STACK_MANAGER. */
int stack_set_manager(struct stack *s, const char *conf, struct err *err);
int stack_start_program(struct stack *s, enum stack_program p, struct err *err);
/* Returns the exit code, 128 + signal, or -1 when it did not run. */
int stack_stop_program(struct stack *s, enum stack_program p, int signal);
bool stack_signal(struct stack *s, enum stack_program p, int signal); /* false: not running */
/* Runs a program of ours to its end, at most two minutes: its exit code (128 + signal, -1: not
 * started). args end with NULL. out (may be NULL) is replaced by what it printed, to both of its
 * outputs. */
int stack_run(struct stack *s, const char *program, const char *const *args, struct strbuf *out);
bool stack_is_running(struct stack *s, enum stack_program p);
/* Of its last end, as stack_stop_program; 0: it never ran, -1: it runs. */
int stack_exit_code(struct stack *s, enum stack_program p);

int stack_pid(const struct stack *s, enum stack_program p); /* 0: not running */
const char *stack_dir(const struct stack *s);
const char *stack_kubeconfig(const struct stack *s);
uint16_t stack_webhook_port(const struct stack *s); /* HTTPS, the CA is ca.crt in the work folder */
uint16_t stack_metrics_port(const struct stack *s, enum stack_program p);
/* A client connection of the caller's own. */
int stack_transport(struct stack *s, struct transport **ret, struct err *err);
/* Blocking requests over the stack's own connection. Creates every object of a manifest (several
 * YAML documents). */
int stack_apply_file(struct stack *s, const char *path, struct err *err);
int stack_apply(struct stack *s, struct str yaml, struct err *err);
/* method, path, JSON body (absent: none) -> answer (ret may be NULL; caller owns). */
int stack_call(struct stack *s, const char *method, const char *path, struct str body,
	       struct jdoc **ret, struct err *err);
/* Whether a write was refused because a webhook did not answer, which may take long on a busy
 * machine. Then waits a little; true: the write may be sent again. */
bool stack_may_try_again(const struct err *err, int64_t deadline);
/* The folder of the source tree, for manifests and charts: $HEADGATE_SRC, else the present folder.
 */
const char *stack_source(void);

#endif
