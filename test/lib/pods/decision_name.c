#include "lib/pods/decision_name.h"

static const char *const names[DECISION_KIND_COUNT_] = {
	[DECISION_UNGATE] = "Ungate",
	[DECISION_RESERVE] = "Reserve",
	[DECISION_REVOKE] = "Revoke",
	[DECISION_MOVE] = "Move",
	[DECISION_STAY] = "Stay",
	[DECISION_PUBLISH] = "Publish",
	[DECISION_WITHDRAW] = "Withdraw",
	[DECISION_CONDITION] = "Condition",
	[DECISION_TAKE_VOLUME] = "TakeVolume",
	[DECISION_BIND] = "Bind",
	[DECISION_FINISH_BIND] = "FinishBind",
	[DECISION_GIVE_BACK] = "GiveBack",
	[DECISION_EVICT] = "Evict",
	[DECISION_AWAIT] = "Await",
	[DECISION_OVERDUE] = "Overdue",
	[DECISION_STUCK] = "Stuck",
	[DECISION_AWAIT_QUOTA] = "AwaitQuota",
	[DECISION_PODGROUP_PHASE] = "JobPhase",
	[DECISION_PODGROUP_CONDITION] = "JobCondition",
	[DECISION_EVENT] = "Event",
	[DECISION_QUEUE_SCANNED] = "QueueScanned",
};

const char *decision_name(enum decision_kind kind)
{
	return names[kind];
}
