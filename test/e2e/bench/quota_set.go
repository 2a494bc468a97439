package main

import (
	"fmt"
	"math"
	"os"

	"sigs.k8s.io/yaml"
)

// A set of the runner's generator, as far as this program looks at it.
type quotaSet struct {
	Cohorts []struct {
		ClassName  string `json:"className"`
		Count      int    `json:"count"`
		QueuesSets []struct {
			ClassName           string `json:"className"`
			Count               int    `json:"count"`
			NominalQuota        any    `json:"nominalQuota"`
			BorrowingLimit      any    `json:"borrowingLimit"`
			ReclaimWithinCohort string `json:"reclaimWithinCohort"`
			WithinClusterQueue  string `json:"withinClusterQueue"`
			WorkloadsSets       []struct {
				Count              int              `json:"count"`
				CreationIntervalMs int              `json:"creationIntervalMs"`
				Workloads          []map[string]any `json:"workloads"`
			} `json:"workloadsSets"`
		} `json:"queuesSets"`
	} `json:"cohorts"`
}

// readSet reads a set and leaves a share of each queue's Workloads in it, one at least.
func readSet(file string, share float64) (*quotaSet, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	s := &quotaSet{}
	if err := yaml.UnmarshalStrict(text, s); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, c := range s.Cohorts {
		for _, q := range c.QueuesSets {
			for i := range q.WorkloadsSets {
				w := &q.WorkloadsSets[i]
				w.Count = max(1, int(math.Round(float64(w.Count)*share)))
			}
		}
	}
	return s, nil
}

// workloads that the set makes.
func (s *quotaSet) workloads() int {
	n := 0
	for _, c := range s.Cohorts {
		for _, q := range c.QueuesSets {
			for _, w := range q.WorkloadsSets {
				n += c.Count * q.Count * w.Count * len(w.Workloads)
			}
		}
	}
	return n
}

func (s *quotaSet) write(file string) error {
	text, err := yaml.Marshal(s)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}
