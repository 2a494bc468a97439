/* scheduler/pods/writes/pod_write.h: the common part of all writes to one pod, or to a claim of
 * one, or to a volume for such a claim: identity by UID, reading the pod back where the answer
 * leaves open what happened, and the mapping of answers to outcomes. Kinds (gate removal, bind,
 * evict, status) supply the request and the judgement of a pod that was read back. Thread: created
 * by the sched thread, then owned by the pool. */
#ifndef SCHEDULER_PODS_WRITES_POD_WRITE_H
#define SCHEDULER_PODS_WRITES_POD_WRITE_H

#include <stdbool.h>

#include "base/str.h"
#include "kube/pool.h"
#include "scheduler/base/message.h"

struct cluster;
struct err;
struct jdoc;
struct json_out;
struct pod_write;
struct strbuf;
struct task;

/* The meaning of a pod that was read back for the write. */
enum pod_write_judgement {
	POD_WRITE_IS_DONE,
	POD_WRITE_IS_STALE,
	POD_WRITE_NOT_YET,
	POD_WRITE_REFUSED
};

struct pod_write_kind {
	enum sched_request request;
	enum sched_resource resource; /* SCHED_PODS, SCHED_CLAIMS or SCHED_VOLUMES */
	/* Fills method, url, content type and body of call from scratch memory. */
	void (*fill)(const struct pod_write *w, struct http_call *call, struct strbuf *scratch);
	/* NOT_YET: send again. REFUSED: the first answer was final. `pod` has the right UID. */
	enum pod_write_judgement (*judge)(const struct pod_write *w, const struct jdoc *pod);
	/* A request that goes before; its answer does not matter. Fills the call and returns true;
	 * false, or NULL: there is none. */
	bool (*fill_first)(const struct pod_write *w, struct http_call *call,
			   struct strbuf *scratch);
	/* An answer that is otherwise transient is a refusal: appends why. NULL: none is. */
	bool (*refuses)(const struct http_result *result, struct err *err);
	/* For a request that may have reached the server without an answer: true reads
	 * the pod first, false sends again (repeating is harmless). */
	bool read_after_unknown;
	const char *sub;   /* sub-resource or NULL */
	bool gone_is_done; /* 404 means that the write has had its effect */
};

struct pod_write {
	const struct pod_write_kind *kind;
	char *namespace_; /* NULL: a volume has none */
	char *name, *uid;
	char *texts[4];  /* meaning by kind; the first one is reported as sched_msg.written */
	int64_t wall_ns; /* by kind */
	bool first_done; /* of fill_first */
	bool reading;    /* a GET is out */
	bool unanswered; /* an attempt may have had its effect: a refusal of the next one is only
			    believed once the pod has been read */
	int refused_status;
	char *refused_text;
};

/* Context of the pools of such writes. */
struct pod_write_target {
	void (*post)(void *ctx, struct sched_msg *msg);
	bool (*may_send)(void *ctx);
	void *ctx;
};

struct pod_write *pod_write_new(const struct pod_write_kind *kind, const struct task *t);
/* The same for another object; all are copied. namespace_ is absent where the kind has none. */
struct pod_write *pod_write_new_for(const struct pod_write_kind *kind, struct str namespace_,
				    struct str name, const char *uid);
/* Puts the metadata of a merge patch for this version of the object alone, with one annotation. */
void pod_write_put_metadata(const struct pod_write *w, const char *version, const char *annotation,
			    const char *value, struct json_out *o);
/* The judgement of an object that is written in one version alone: a conflict is final, since the
 * object is not what was decided about, unless the answer to a write that had its effect was lost.
 */
enum pod_write_judgement pod_write_judge_version(const struct jdoc *object, bool is_done,
						 const char *version);
/* Operations for pool_options; ctx there is a struct pod_write_target. */
extern const struct pool_ops pod_write_pool_ops;
bool pod_write_may_send(void *ctx);

#endif
