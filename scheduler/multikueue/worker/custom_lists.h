/* scheduler/multikueue/worker/custom_lists.h: the state of the kinds of the configuration at one
 * API server, from the messages of custom_watch.h. Owner: the fleet thread. */
#ifndef SCHEDULER_MULTIKUEUE_WORKER_CUSTOM_LISTS_H
#define SCHEDULER_MULTIKUEUE_WORKER_CUSTOM_LISTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/kueue/custom_kinds.h"
#include "base/str.h"

#define CUSTOM_LISTS_MAX_TEXT 200 /* kept of the answer of a server, with the NUL */

struct custom_list;
struct sched_msg;
struct strbuf;

struct custom_lists {
	struct custom_kinds kinds; /* borrowed */
	struct custom_list *v;     /* of each */
};

void custom_lists_init(struct custom_lists *l, struct custom_kinds kinds);
void custom_lists_finish(struct custom_lists *l);
/* Nothing is known: of a new connection. */
void custom_lists_reset(struct custom_lists *l);
/* RESOURCE, WATCH, SYNCED and REFRESHED of SCHED_CUSTOM; others change nothing. now: wall ns. */
void custom_lists_handle(struct custom_lists *l, const struct sched_msg *m, int64_t now);
/* Of each kind it is known whether its objects can be read. */
bool custom_lists_are_settled(const struct custom_lists *l);

/* An object of the kind that was not read does not exist there: its list is complete, or the kind
 * is not served. False: since *ret_since (wall ns; the present where it was never complete). */
bool custom_lists_is_complete(const struct custom_lists *l, const struct custom_kind *k,
			      int64_t now, int64_t *ret_since);
/* REFRESHED has come. */
bool custom_lists_is_fresh(const struct custom_lists *l, const struct custom_kind *k);
/* Why objects of the kind cannot be used there, appended: "Foo.v1.example.com is not served".
 * False: they can. */
bool custom_lists_problem(const struct custom_lists *l, const struct custom_kind *k,
			  struct strbuf *out);
/* The same of all kinds, separated by "; ". */
void custom_lists_add_problems(const struct custom_lists *l, struct strbuf *out);
/* Appends the path of the object with this key, or of the collection in its namespace. False: it is
 * not known. */
bool custom_lists_key_path(const struct custom_lists *l, struct str key, const char *sub,
			   struct strbuf *out);
bool custom_lists_collection(const struct custom_lists *l, struct str key, struct strbuf *out);

#endif
