#include "lib/pods/ledger_verify.h"

#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/model/pod_class.h"

/* One queue against a sum made from the tasks below it: quadratic. */
static const char *verify_queue(const struct cluster *c, const struct queue *q)
{
	struct res charged, releasing;

	res_fill(&charged, 0);
	res_fill(&releasing, 0);
	for (size_t i = 0; i < c->tasks.n; i++) {
		const struct task *t = c->tasks.v[i];

		if (t == NULL || t->charge == CHARGE_NONE) {
			continue;
		}
		if (queue_is_within(c, t->charge_queue, q)) {
			res_add(&charged, pod_class_charge(t->klass));
			if (t->status == TASK_RELEASING) {
				res_add(&releasing, pod_class_charge(t->klass));
			}
		}
	}
	if (!res_eq(&charged, &q->charged)) {
		return "charged of a queue is not the sum of the charges below it";
	}
	if (!res_eq(&releasing, &q->releasing)) {
		return "releasing of a queue is not the sum of its terminating charges";
	}
	return NULL;
}

const char *ledger_verify(const struct cluster *c)
{
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
	for (size_t i = 0; i < c->queues.n; i++) {
		const char *wrong = NULL;

		if (c->queues.v[i] != NULL) {
			wrong = verify_queue(c, c->queues.v[i]);
		}
		if (wrong != NULL) {
			return wrong;
		}
	}
	return NULL;
}
