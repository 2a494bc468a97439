package proportion

import (
	"maps"

	"volcano.sh/volcano/pkg/scheduler/api"
)

// withoutGates leaves out pods that wait for a gate: they ask for no share.
func withoutGates(tasks api.TasksMap) api.TasksMap {
	out := maps.Clone(tasks)
	maps.DeleteFunc(out, func(_ api.TaskID, t *api.TaskInfo) bool { return t.SchGated })
	return out
}
