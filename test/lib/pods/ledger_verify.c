#include "lib/pods/ledger_verify.h"

#include "base/attrs.h"
#include "base/xmalloc.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/values/pod_class.h"

struct sums {
	struct res charged, releasing;
};

/* The sums that the queues should have: the charges of the tasks below them. */
static struct sums *sum_up(const struct cluster *c)
{
	struct sums *sums = xmalloc_zero(c->queues.n + 1, sizeof(*sums));
	const struct queue *q;

	for (size_t i = 0; i < c->tasks.n; i++) {
		const struct task *t = c->tasks.v[i];

		if (t == NULL || t->charge == CHARGE_NONE) {
			continue;
		}
		QUEUE_FOR_EACH_UP (q, c, t->charge_queue) {
			res_add(&sums[q->id].charged, pod_class_charge(t->klass));
			if (t->status == TASK_RELEASING) {
				res_add(&sums[q->id].releasing, pod_class_charge(t->klass));
			}
		}
	}
	return sums;
}

static const char *verify_queue(const struct queue *q, const struct sums *sums)
{
	if (!res_eq(&sums->charged, &q->charged)) {
		return "charged of a queue is not the sum of the charges below it";
	}
	if (!res_eq(&sums->releasing, &q->releasing)) {
		return "releasing of a queue is not the sum of its terminating charges";
	}
	return NULL;
}

const char *ledger_verify(const struct cluster *c)
{
	CLEANUP(xmalloc_freep) struct sums *sums = NULL;
	const char *wrong = NULL;

	for (size_t i = 0; i < c->tasks.n; i++) {
		const struct task *t = c->tasks.v[i];

		if (t == NULL) {
			continue;
		}
		if ((t->charge == CHARGE_NONE) != (t->charge_queue == MODEL_NONE)) {
			return "a task has a charge without queue or a queue without charge";
		}
		if (t->charge != CHARGE_NONE &&
		    (t->charge_queue >= c->queues.n || c->queues.v[t->charge_queue] == NULL)) {
			return "a charge is booked on a queue that is gone";
		}
	}
	sums = sum_up(c);
	for (size_t i = 0; i < c->queues.n && wrong == NULL; i++) {
		if (c->queues.v[i] != NULL) {
			wrong = verify_queue(c->queues.v[i], &sums[i]);
		}
	}
	return wrong;
}
