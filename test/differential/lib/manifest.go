package lib

import (
	"encoding/json"
	"strings"

	"sigs.k8s.io/yaml"
)

// Manifest is the object as YAML, without fields that were not written and without empty status. An
// empty selector stays: it means everything.
func Manifest(object any) string {
	var m map[string]any
	if err := json.Unmarshal(Must(json.Marshal(object)), &m); err != nil {
		panic(err)
	}
	prune(m)
	return string(Must(yaml.Marshal(m)))
}

// prune takes off the empty members that Go writes.
func prune(m map[string]any) {
	for k, v := range m {
		inner, ok := v.(map[string]any)
		if ok {
			prune(inner)
		}
		if list, ok := v.([]any); ok {
			for _, e := range list {
				if inner, ok := e.(map[string]any); ok {
					prune(inner)
				}
			}
		}
		empty := v == nil || (ok && len(inner) == 0 && k != "namespaceSelector")
		zero := k == "pendingWorkloads" || k == "reservingWorkloads" || k == "admittedWorkloads" || k == "weightedShare"
		if empty || zero {
			delete(m, k)
		}
	}
}

// Comment makes each line of the text a comment of YAML.
func Comment(text string) string {
	out := ""
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		out += "# " + line + "\n"
	}
	return out
}
